// Lists by country and language, as the nightly job leaves them.
import type { ListedTitle, Place } from '#platform/agents/listed-title.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { SourceStates } from '../sources.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'discover_lists.sources': SourceStates;
    'discover_entries.facts': ListedTitle;
    'discover_details.facts': ListedTitle;
  }
}

export const listNames = ['cinemas', 'discs', 'streaming'] as const;
export type ListName = (typeof listNames)[number];
export type EntryRow = Row<'discover_entries'>;

/** While no provider answers, entries of earlier refreshes are kept this long. */
const KEPT = '30 days';
const PLACE_KEPT = '30 days';

export const findList = async (db: Db, list: ListName, { country, language }: Place) =>
  db('discover_lists').where({ list, country, language }).first('sources', 'made_at');

/** Notes that a place is used, at most once a day; true for one that was not noted before. */
export async function notePlace(db: Db, { country, language }: Place): Promise<boolean> {
  const used = await db('discover_places').where({ country, language }).first('used_at');
  if (used && used.used_at.getTime() > Date.now() - 86_400_000) return false;
  await db('discover_places')
    .insert({ country, language })
    .onConflict(['country', 'language'])
    .merge({ used_at: new Date() });
  return !used;
}

/** Places of the last 30 days; others end with their lists. */
export async function placesInUse(db: Db): Promise<Place[]> {
  const old = await db('discover_places')
    .whereRaw(`used_at < now() - interval '${PLACE_KEPT}'`)
    .select('country', 'language');
  for (const place of old) {
    await db('discover_entries').where(place).delete();
    await db('discover_lists').where(place).delete();
    await db('discover_places').where(place).delete();
  }
  return db('discover_places').orderBy(['country', 'language']).select('country', 'language');
}

/** One title of a list. */
export interface Entry {
  titleId: string;
  facts: ListedTitle;
  itemId?: string | undefined;
  listedOn: string | undefined;
  closedOn?: string | undefined;
  /** 0 to 1. */
  popularity?: number | undefined;
  ageYears: number | null;
  sortTitle: string;
}

interface Written {
  list: ListName;
  place: Place;
  entries: readonly Entry[];
  sources: SourceStates;
  /** Whether a provider of the list answered, so that what it no longer has ends. */
  whole: boolean;
}

/** Replaces a list. Entries of an earlier refresh stay for a while when no provider answered. */
export async function writeList(db: Db, { list, place, entries, sources, whole }: Written): Promise<void> {
  const { country, language } = place;
  await db.transaction(async (tx) => {
    const began = new Date();
    for (const entry of new Map(entries.map((one) => [one.titleId, one])).values())
      await writeEntry(tx, { list, place, entry, began });
    const gone = tx('discover_entries').where({ list, country, language }).where('seen_at', '<', began);
    await (whole ? gone : gone.whereRaw(`(item_id is not null or seen_at < now() - interval '${KEPT}')`)).delete();
    await tx('discover_lists')
      .insert({ list, country, language, sources: JSON.stringify(sources) })
      .onConflict(['list', 'country', 'language'])
      .merge({ sources: JSON.stringify(sources), made_at: new Date() });
  });
}

async function writeEntry(
  db: Db,
  { list, place, entry, began }: { list: ListName; place: Place; entry: Entry; began: Date },
): Promise<void> {
  const day = (text: string | undefined) => db.raw('?::date', [text ?? null]);
  const { facts, titleId, ageYears, itemId, listedOn, closedOn, popularity, sortTitle } = entry;
  await db('discover_entries')
    .insert({
      ...{ list, ...place, title_id: titleId, kind: facts.kind, item_id: itemId ?? null, title: facts.title },
      ...{ sort_title: sortTitle, listed_on: day(listedOn), closed_on: day(closedOn), seen_at: began },
      ...{ popularity: popularity ?? null, rating: facts.rating?.value ?? null, age_years: ageYears },
      genres: (facts.genres ?? []).map((name) => name.toLowerCase()),
      ...{ adult: facts.adult ?? false, facts: JSON.stringify(facts) },
    })
    .onConflict(['list', 'country', 'language', 'title_id'])
    .merge();
}
