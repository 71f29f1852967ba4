// The CPU of a refresh by a catalogue against a bare loop of fetch over the same addresses (target: at most twice).
//   BENCH_FILMS=400 BENCH_PAIRS=3 node hack/bench/refresh.ts
import { makeDue } from '#areas/editing/public.ts';
import { newId } from '#platform/ids.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { startApi } from '#support/api.ts';
import type { Requested } from '#support/catalogues/catalogue.ts';
import { localCatalogues, placeAgents } from '#support/catalogues/local.ts';
import { startTmdb, tmdbKey } from '#support/catalogues/tmdb.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { endAll } from '#support/stores.ts';
import { createRefresh } from '#workers/metadata/refresh.ts';
import { Postponed, type Work } from '#workers/work.ts';
import { alternate, HEADER, machine, row } from './measure.ts';
import { measured } from './scans.ts';

const FILMS = Number(process.env['BENCH_FILMS'] ?? 400);
const PAIRS = Number(process.env['BENCH_PAIRS'] ?? 3);
const FIRST = 50_000;

const api = await startApi({ FOYER_TMDB_API_KEY: tmdbKey });
const { db } = api.deps;
const extra = Array.from({ length: FILMS }, (_, n) => ({ id: FIRST + n, title: `Film ${n}`, date: '2001-02-03' }));
const tmdb = await startTmdb({ extra });
await placeAgents(api, { tmdb: tmdb.url });
const refresh = createRefresh((work) => localCatalogues(work));

/** Films that are known by their ids, as after a scan of named folders. */
async function shelf(): Promise<string> {
  const library = await givenLibrary(db, 'movies', { settings: JSON.stringify({ agents: ['tmdb'] }) });
  const ids = await Promise.all(
    extra.map(({ id, title }) => givenItem(db, library, { title, top: true, external_ids: { tmdb: String(id) } })),
  );
  const own = '(select external_ids from items i where i.id = item_layers.item_id)';
  await db('item_layers')
    .whereIn('item_id', ids)
    .update({ fields: db.raw(`fields || jsonb_build_object('externalIds', ${own})`) });
  await makeDue(db, ids, { by: 'scan' });
  return library.id;
}

async function refreshed(libraryId: string): Promise<void> {
  const work: Work = {
    ...{
      ...api.deps,
      jobId: newId(),
      attempt: 1,
      checkpoint: null,
      signal: new AbortController().signal,
      emit,
      enqueue,
    },
    ...{ keep: async () => undefined, report: async () => undefined },
  };
  await refresh({ libraryId }, work).catch((error: unknown) => {
    if (!(error instanceof Postponed)) throw error;
  });
}

/** What the refresh requested, once more by itself. */
async function fetched(requests: readonly Requested[]): Promise<void> {
  for (const {
    path,
    search,
    headers: { authorization = '' },
  } of requests) {
    const address = `${tmdb.url}${path}${search === '' ? '' : `?${search}`}`;
    const answer = await fetch(address, { headers: { accept: 'application/json', authorization } });
    JSON.parse(await answer.text());
  }
}

let sent: Requested[] = [];
const ours = async (): Promise<number> => {
  const libraryId = await shelf();
  await db('catalogue_answers').delete();
  tmdb.got.length = 0;
  const { cpuMs } = await measured(api, () => refreshed(libraryId));
  sent = [...tmdb.got];
  return cpuMs;
};
await ours();
console.log(`\nRefresh of ${FILMS} films, ${sent.length} requests, ${PAIRS} pairs. ${machine()}\n\n${HEADER}`);
const found = await alternate(PAIRS, ours, async () => (await measured(api, () => fetched(sent))).cpuMs);
console.log(row({ name: `refresh of ${FILMS} films / fetch, CPU`, unit: 'ms', target: '≤ 2' }, found));
await endAll();
process.exit(0);
