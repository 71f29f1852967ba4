/**
 * The home screen of 24 rows over many items beside the sum of its statements, sent one after the other by the bare driver (target: at
 * most 3 times; contract: p95 100 ms at a million items). `node hack/bench/home.ts [items] [rounds]`.
 */
import { startApi } from '#support/api.ts';
import { givenLibrary, givenMany, givenState } from '#support/given-items.ts';
import { endAll } from '#support/stores.ts';
import { machine, median } from './measure.ts';

const ITEMS = Number(process.argv[2] ?? 200_000);
const ROUNDS = Number(process.argv[3] ?? 30);
const ROWS = 24;

const api = await startApi();
const { db } = api.deps;
await db.raw(`do $$ begin execute format('alter database %I set jit = off', current_database()); end $$`); // as in the product
const library = await givenLibrary(db, 'movies', { everyone: true });
await db.raw('alter table items disable trigger items_search_made');
await givenMany(db, library, ITEMS);
const person = await api.given.member();
const me = api.as(person);
const played = await db('items').select('id').limit(200);
for (const [n, { id: itemId }] of played.entries())
  await givenState(db, library, {
    ...{ profileId: person.profileId, itemId, position_ms: 600_000, progress: 0.3 },
    last_played_at: new Date(Date.now() - n * 3_600_000),
  });
const filters = Array.from({ length: ROWS - 4 }, (_, n) => ({
  ...{ rowId: `years-${n}`, kind: 'filter', title: `Years ${n}` },
  source: { filter: `year:gte:${1950 + n * 3}`, libraryIds: [library.id] },
}));
const kinds = ['continue', 'favorites', 'top-here', 'libraries'].map((kind) => ({ rowId: kind, kind }));
const set = await me.setHomeLayout({ body: { rows: [...kinds, ...filters] } });
if (set.status !== 200) throw new Error(JSON.stringify(set.body));
for (const table of ['libraries', 'item_states']) await db.raw(`analyze ${table}`);

const sent: { sql: string; bindings: unknown[] }[] = [];
const keep = ({ sql, bindings = [] }: { sql: string; bindings?: unknown[] }): void => void sent.push({ sql, bindings });
await me.getHome();
db.on('query', keep);
const { body } = await me.getHome();
db.removeListener('query', keep);

const times: number[] = [];
const bare: number[] = [];
let deferred = 0;
for (let round = 0; round < ROUNDS; round += 1) {
  const began = performance.now();
  const home = await me.getHome();
  times.push(performance.now() - began);
  deferred += home.body.rows.filter((row) => row.deferred).length;
  const again = performance.now();
  for (const { sql, bindings } of sent) await db.raw(sql.replace(/\$\d+/g, '?'), bindings as never);
  bare.push(performance.now() - again);
}
const p95 = (all: readonly number[]): number => all.toSorted((a, b) => a - b)[Math.ceil(all.length * 0.95) - 1] ?? NaN;
const ratio = median(times.map((ms, n) => ms / (bare[n] ?? NaN)));
console.log(machine());
console.log(
  `${ITEMS} items, ${body.rows.length} rows, ${sent.length} statements, ${ROUNDS} rounds, ${deferred} rows were late`,
);
console.log('| ours p50 | ours p95 | statements p50 | p95 | ratio | target |\n|--:|--:|--:|--:|--:|---|');
const cells = [median(times), p95(times), median(bare), p95(bare)].map((ms) => ms.toFixed(0));
console.log(`| ${[...cells, ratio.toFixed(2)].join(' | ')} | ≤ 3 |`);
await endAll();
process.exit(0);
