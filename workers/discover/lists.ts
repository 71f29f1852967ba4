// The lists of one country and language, from everything that answers.
import {
  ageOf,
  cinemaDays,
  dayAfter,
  discDays,
  type Entry,
  type ItemTitle,
  itemTitles,
  keepDetails,
  type ListName,
  learnTitles,
  type Provider,
  type Reading,
  type SourceStates,
  together,
  workTitle,
  writeList,
  writeServices,
} from '#areas/discover/public.ts';
import type { Catalogues } from '#platform/agents/catalogues.ts';
import type { Days, ListedTitle, Place } from '#platform/agents/listed-title.ts';
import { sortTitle } from '#platform/sort-title.ts';
import { filmsOfDays } from '#platform/spine/works.store.ts';
import type { Work } from '../work.ts';
import { readTmdb, readWikidata, type SourceRead } from './read.ts';

const MOST_ITEMS = 200;

/** Makes the three lists; returns the number of their titles. */
export async function makeLists(work: Work, catalogues: Catalogues, place: Place): Promise<number> {
  const now = new Date();
  const days: Days = { from: dayAfter(now, -90), to: dayAfter(now, 183) };
  const means = { work, catalogues, place, now };
  const [tmdb, wikidata] = await Promise.all([readTmdb(means), readWikidata(means, days)]);
  if (tmdb.services.length > 0) await writeServices(work.db, place.country, tmdb.services);
  const spine = (await filmsOfDays(work.db, days)).map((film) => workTitle(film, place.country));
  const readings = [
    ...tmdb.titles,
    ...wikidata.titles,
    ...spine.map((title): Reading => ({ provider: 'spine', title })),
  ];
  const titles = await keepTitles(work, place, readings);
  const items = await recentItems(work, place, titles);
  const sources = statesOf({ tmdb, wikidata }, now);
  const whole = tmdb.state === 'ok' || wikidata.state === 'ok';
  for (const list of ['cinemas', 'discs', 'streaming'] as const) {
    const entries = compared(titles.flatMap((one) => entryOf(list, one, { place, now }) ?? []));
    const all = list === 'streaming' ? [...entries, ...items] : entries;
    await writeList(work.db, { list, place, entries: all, sources, whole });
  }
  return titles.length + items.length;
}

function statesOf(read: Record<'tmdb' | 'wikidata', SourceRead>, now: Date): SourceStates {
  const states = Object.entries(read).flatMap(([source, { state }]) => {
    if (state === 'closed') return [];
    return [[source, state === 'ok' ? { state, asOf: now.toISOString() } : { state: 'unavailable' as const }] as const];
  });
  return Object.fromEntries(states);
}

interface KeptTitle {
  titleId: string;
  facts: ListedTitle;
}

/** Readings of one title become one, which is kept with its details and offers. */
async function keepTitles(work: Work, place: Place, readings: readonly Reading[]): Promise<KeptTitle[]> {
  const rows = await learnTitles(
    work.db,
    readings.map(({ title }) => ({ title, ageYears: ageOf(title, place.country) })),
  );
  const byRow = new Map<string, Reading[]>();
  readings.forEach((reading, at) => {
    const id = rows[at] ?? '';
    byRow.set(id, [...(byRow.get(id) ?? []), reading]);
  });
  const kept = new Map<string, ListedTitle>();
  for (const all of byRow.values()) {
    work.signal.throwIfAborted();
    const facts = together(all);
    if (!facts) continue;
    const providers = [...new Set(all.map(({ provider }): Provider => provider))];
    kept.set(await keepDetails(work.db, place, { facts, providers }), facts);
  }
  return [...kept].map(([titleId, facts]) => ({ titleId, facts }));
}

interface Frame {
  place: Place;
  now: Date;
}

/** Popularity as a part of that of the most popular title. */
function compared(entries: readonly Entry[]): Entry[] {
  const most = Math.max(1, ...entries.map(({ popularity = 0 }) => popularity));
  return entries.map((one) => (one.popularity === undefined ? one : { ...one, popularity: one.popularity / most }));
}

/** The entry of a title in a list; undefined for one that is not in it. */
function entryOf(list: ListName, { titleId, facts }: KeptTitle, { place, now }: Frame): Entry | undefined {
  const { releases = [], offers = [], popularity } = facts;
  const dayOf = (kinds: readonly string[], window: Days): string | undefined => {
    const days = releases.filter(({ kind, day }) => kinds.includes(kind) && day >= window.from && day <= window.to);
    const today = dayAfter(now, 0);
    const past = days.filter(({ day }) => day <= today).map(({ day }) => day);
    return past.sort().at(-1) ?? days.map(({ day }) => day).sort()[0];
  };
  const closedOn = releases
    .filter(({ kind }) => kind === 'digital' || kind === 'disc')
    .map(({ day }) => day)
    .sort()[0];
  const windows: Record<ListName, string | undefined> = {
    cinemas: dayOf(['cinema'], { from: cinemaDays(now).now.from, to: cinemaDays(now).upcoming.to }),
    discs: dayOf(['disc'], { from: discDays(now).new.from, to: discDays(now).upcoming.to }),
    streaming: offers.length > 0 ? facts.releasedOn : undefined,
  };
  const isListed = list === 'streaming' ? offers.length > 0 : windows[list] !== undefined;
  if (!isListed) return undefined;
  return {
    ...{ titleId, facts: listed(facts), listedOn: windows[list], closedOn },
    ...{ popularity, ageYears: ageOf(facts, place.country), sortTitle: sortTitle(facts.title, place.language) },
  };
}

/** The members that lists show. */
function listed(facts: ListedTitle): ListedTitle {
  const { tagline: _t, people: _p, trailers: _v, seasons: _s, homepage: _h, offers: _o, ...rest } = facts;
  return rest;
}

/** The newest films and shows of the libraries that no provider listed, each shown to those who see it. */
async function recentItems({ db }: Work, place: Place, titles: readonly KeptTitle[]): Promise<Entry[]> {
  const newest = db.from('items as i').whereNull('i.trashed_at').orderBy('i.added_at', 'desc').limit(MOST_ITEMS);
  const found: ItemTitle[] = await itemTitles(db, newest);
  const days = new Map(
    (
      await db('items')
        .whereIn(
          'id',
          found.map(({ itemId }) => itemId),
        )
        .select('id', 'added_at')
    ).map((row) => [row.id, row.added_at.toISOString().slice(0, 10)]),
  );
  const rows = await learnTitles(
    db,
    found.map(({ title }) => ({ title, ageYears: null })),
  );
  const known = new Set(titles.map(({ titleId }) => titleId));
  return found.flatMap(({ itemId, title }, at) => {
    const titleId = rows[at];
    if (titleId === undefined || known.has(titleId)) return [];
    const { title: name } = title;
    return [
      {
        titleId,
        itemId,
        facts: title,
        listedOn: days.get(itemId),
        ageYears: null,
        sortTitle: sortTitle(name, place.language),
      },
    ];
  });
}
