// The CPU of a refresh by a catalogue against a bare loop of fetch over the same addresses (target: at most twice), and against that loop
// with the same statements by the driver alone, on other films: the share of it that Postgres and the network take.
//   BENCH_FILMS=400 BENCH_PAIRS=3 node hack/bench/refresh.ts

import { makeDue } from '#areas/editing/public.ts';
import { withConnection } from '#platform/db.ts';
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

interface Shelf {
  libraryId: string;
  /** Items, in the order of the catalogue. */
  ids: string[];
}

/** Films that are known by their ids, as after a scan of named folders. */
async function shelf(): Promise<Shelf> {
  const library = await givenLibrary(db, 'movies', { settings: JSON.stringify({ agents: ['tmdb'] }) });
  const ids = await Promise.all(
    extra.map(({ id, title }) => givenItem(db, library, { title, top: true, external_ids: { tmdb: String(id) } })),
  );
  const own = '(select external_ids from items i where i.id = item_layers.item_id)';
  await db('item_layers')
    .whereIn('item_id', ids)
    .update({ fields: db.raw(`fields || jsonb_build_object('externalIds', ${own})`) });
  await makeDue(db, ids, { by: 'scan' });
  return { libraryId: library.id, ids };
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

interface Statement {
  sql: string;
  bindings?: unknown[];
}

/** A refresh as it was: its requests and its statements. */
let sent: Requested[] = [];
let statements: Statement[] = [];
let former: Shelf | undefined;

/** An empty cache, and no row of the films before. */
async function cleared(): Promise<Shelf> {
  if (former) await db('libraries').where({ id: former.libraryId }).delete();
  for (const table of ['catalogue_answers', 'outbox', 'jobs']) await db(table).delete();
  return shelf();
}

const ours = async (): Promise<number> => {
  former = await cleared();
  const { libraryId } = former;
  tmdb.got.length = 0;
  statements = [];
  const note = ({ sql, bindings }: Statement): void => {
    statements.push({ sql, ...(bindings && { bindings }) });
  };
  db.on('query', note);
  const { cpuMs } = await measured(api, () => refreshed(libraryId));
  db.removeListener('query', note);
  sent = [...tmdb.got];
  return cpuMs;
};

/** The statements of a refresh for the films of another shelf. */
function renamed(shelves: { from: Shelf; to: Shelf }): Statement[] {
  const { from, to } = shelves;
  const names = new Map([[from.libraryId, to.libraryId], ...from.ids.map((id, at) => [id, to.ids[at] ?? ''] as const)]);
  const moved = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(moved);
    return typeof value === 'string'
      ? value.replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, (id) => names.get(id) ?? id)
      : value;
  };
  return statements.map(({ sql, bindings }) => ({ sql, bindings: (bindings ?? []).map(moved) }));
}

/** The same requests and statements by themselves, one after another. */
const bare = async (): Promise<number> => {
  if (!former) throw new Error('nothing to repeat');
  const to = await cleared();
  const repeated = renamed({ from: former, to });
  former = to;
  statements = repeated;
  const work = async (): Promise<void> => {
    await fetched(sent);
    await withConnection(db, async (client) => {
      for (const { sql, bindings } of repeated) await client.query(sql, bindings);
    });
  };
  return (await measured(api, work)).cpuMs;
};
await ours();
console.log(`\nRefresh of ${FILMS} films, ${sent.length} requests, ${PAIRS} pairs. ${machine()}\n\n${HEADER}`);
const found = await alternate(PAIRS, ours, async () => (await measured(api, () => fetched(sent))).cpuMs);
console.log(row({ name: `refresh of ${FILMS} films / fetch, CPU`, unit: 'ms', target: '≤ 2' }, found));
const floor = await alternate(PAIRS, ours, bare);
console.log(
  row({ name: `refresh of ${FILMS} films / fetch and bare statements, CPU`, unit: 'ms', target: 'none' }, floor),
);
await endAll();
process.exit(0);
