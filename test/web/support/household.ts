// A server that has something to show on every page of the app.
import { Catalogues } from '#platform/agents/catalogues.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { type Api, clientFor } from '#support/api.ts';
import { startWikidataListings } from '#support/catalogues/listings.ts';
import { localOutbound, placeAgents } from '#support/catalogues/local.ts';
import {
  givenCredit,
  givenFile,
  givenItem,
  givenLibrary,
  givenShow,
  givenState,
  givenTag,
} from '#support/given-items.ts';
import { LiveStage } from '#support/live-stage.ts';
import { createDiscoverRefresh } from '#workers/discover/refresh.ts';
import type { Work } from '#workers/work.ts';
import { formOf, painted } from '../../areas/artwork/support.ts';
import { GUIDE_HERE, guideOf, newGuidePlace } from '../../workers/live/support.ts';
import { OWNER, ownedServer } from './server.ts';

const HOUR = 3_600_000;
const FILMS = 40;
const COLOURS = ['#c04020', '#f0f0e0', '#2050c0', '#101010'];

export interface Household {
  api: Api;
  /** Ids by the name that the table of pages has for them. */
  ids: Readonly<Record<'film' | 'show' | 'films' | 'person' | 'studio' | 'collection' | 'title' | 'channel', string>>;
  /** Path of an invite that is open. */
  invite: string;
}

async function withFilms(api: Api, headers: Record<string, string>) {
  const { db } = api.deps;
  const films = await givenLibrary(db, 'movies', { name: 'Films', item_counts: JSON.stringify({ movie: FILMS }) });
  const all: string[] = [];
  for (let n = 0; n < FILMS; n += 1) {
    const title = `${String.fromCharCode(65 + (n % 26))} film ${n}`;
    all.push(await givenItem(db, films, { title, top: true, year: 1980 + n, runtime_ms: 2 * HOUR }));
  }
  const [film = ''] = all;
  const client = clientFor(api.url, headers);
  const put = async (id: string, kind: string, bytes: Buffer) =>
    client.uploadItemArtwork({ params: { id }, body: formOf({ kind, bytes }) });
  for (const [at, colour] of COLOURS.entries()) await put(all[at] ?? '', 'poster', await painted(500, 750, colour));
  await put(film, 'backdrop', await painted(1600, 900, '#e0e0d0'));
  const person = await givenCredit(db, film, { name: 'Ana Example', character: 'The keeper' });
  await givenCredit(db, film, { name: 'Bo Friend', role: 'director' });
  await db('people')
    .where({ id: person })
    .update({ birthday: '1960-02-03', biography: 'A life. '.repeat(120) });
  await givenTag(db, films, film, ['studio', 'Prana-Film']);
  await givenTag(db, films, film, ['genre', 'Drama']);
  await givenFile(db, films, film, { streams: [{}, { stream_index: 1, kind: 'audio', codec: 'aac' }] });
  await db('items')
    .where({ id: film })
    .update({ overview: 'A keeper watches the light. '.repeat(20) });
  const studios = await client.listStudios({ params: { id: films.id } });
  return { films, all, film, person, studio: studios.body.items[0]?.id ?? '' };
}

async function withDiscover(api: Api): Promise<void> {
  const wikidata = await startWikidataListings();
  await placeAgents(api, { wikidata: wikidata.url });
  await api.deps.db('profiles').update({ country: 'GB' });
  Object.assign(api.deps, { catalogues: new Catalogues(api.deps, localOutbound()) });
  const work = { report: async () => undefined, emit, enqueue, signal: new AbortController().signal };
  const job = createDiscoverRefresh({ catalogues: () => api.deps.catalogues });
  await job({ place: { country: 'GB', language: 'en' } }, { ...api.deps, ...work } as unknown as Work);
}

async function withTelevision(api: Api): Promise<string> {
  const stage = new LiveStage(api);
  await stage.prepare();
  const tunerId = await stage.tuner(1);
  const [channel = ''] = await Promise.all(
    ['One', 'Two'].map((name) => stage.channel(name, [{ tunerId, url: 'http://127.0.0.1:9/' }])),
  );
  const place = await newGuidePlace(api);
  const shows = [
    { at: 0, minutes: 90, title: 'Morning Show' },
    { at: 120, title: 'Evening News' },
    { channel: 'two.example', at: 0, minutes: 120, title: 'Long Talk' },
  ];
  place.served.body = guideOf(shows, ['one.example', 'two.example']);
  await place.source();
  return channel;
}

export async function household(): Promise<Household> {
  const api = await ownedServer(GUIDE_HERE);
  const { db } = api.deps;
  const device = { 'x-client-id': 'test-client-of-the-owner', 'x-client-name': 'Test' };
  const { body: session } = await api.anyone.login({ headers: device, body: OWNER });
  const headers = { authorization: `Bearer ${session.accessToken}` };
  const { films, all, film, person, studio } = await withFilms(api, headers);
  const shows = await givenLibrary(db, 'shows', { name: 'Series', item_counts: JSON.stringify({ show: 1 }) });
  const { id: show } = await givenShow(db, shows, { title: 'Waves', seasons: 2, episodes: 3 });
  await api.anyone.createProfile({ headers, body: { name: 'Kids', pin: '4321' } });
  const selection = { mode: 'system', themeId: null, lightThemeId: null, darkThemeId: null };
  await api.anyone.setThemeSelection({ headers, body: { scope: 'profile', selection } });
  const owner = { profileId: session.profile.id, last_played_at: new Date() };
  await givenState(db, films, { ...owner, itemId: film, position_ms: HOUR / 2, progress: 0.25 });
  await givenState(db, films, { ...owner, itemId: all[1] ?? '', watched: true });
  const made = await api.anyone.createCollection({ headers, body: { name: 'By the sea', itemIds: all.slice(0, 3) } });
  const invite = await api.anyone.createInvite({ headers, body: { message: 'Come in' } });
  const channel = await withTelevision(api);
  await withDiscover(api);
  const titles = await api.anyone.searchDiscoverTitles({ headers, query: { q: 'harbour' } });
  const { pathname, search, hash } = new URL(invite.body.url ?? '', api.url);
  return {
    api,
    ids: {
      film,
      show,
      films: films.id,
      person,
      studio,
      collection: made.body.id,
      title: titles.body.items[0]?.titleId ?? '',
      channel,
    },
    invite: pathname + search + hash,
  };
}
