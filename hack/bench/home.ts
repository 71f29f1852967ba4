/**
 * Home of 24 rows without a kept row, and the sum of its own statements sent one after another (target: at most 3 of it, p95 100 ms).
 * `node hack/bench/home.ts [items]` prints a table.
 */
import { startApi } from '#support/api.ts';
import { givenLibrary, givenState } from '#support/given-items.ts';
import { endAll } from '#support/stores.ts';
import { inBatches, withoutDocuments } from './many.ts';
import { alternate, HEADER, machine, row } from './measure.ts';

const ITEMS = Number(process.argv[2] ?? 1_000_000);
const PAIRS = 40;
const LIBRARIES = 4;
const BEGUN = 200;

interface Sent {
  sql: string;
  bindings?: readonly unknown[] | undefined;
}

const api = await startApi();
const { db, redis } = api.deps;
await db.raw(`do $$ begin execute format('alter database %I set jit = off', current_database()); end $$`); // as in the product
const libraries: Awaited<ReturnType<typeof givenLibrary>>[] = [];
for (let n = 0; n < LIBRARIES; n += 1)
  libraries.push(await givenLibrary(db, 'movies', { everyone: true, name: `Films ${n}` }));
await withoutDocuments(db, async () => {
  for (const library of libraries)
    await inBatches(db, ITEMS / LIBRARIES, (tx, rows) =>
      tx.raw(
        `insert into items (id, library_id, type, top, identity_key, title, sort_title, year, rating, age_years, runtime_ms, added_at)
         select gen_random_uuid(), :library::uuid, 'movie', true, 'h-' || n, 'Film ' || n, 'film ' || lpad(n::text, 9, '0'), 1950 + n % 75,
           (n % 100) / 10.0, (array[null, 0, 6, 12, 16, 18])[1 + n % 6], 5400000, now() - n * interval '1 minute'
         from generate_series(:from::int, :to::int) n`,
        { library: library.id, ...rows },
      ),
    );
});
for (const table of ['libraries', 'items']) await db.raw(`vacuum analyze ${table}`);

const person = await api.given.member();
const begun = await db('items').orderBy('id').limit(BEGUN).select('id', 'library_id');
for (const [n, { id, library_id }] of begun.entries()) {
  const library = libraries.find((one) => one.id === library_id);
  const at = new Date(Date.now() - n * 60_000);
  const state = { profileId: person.profileId, itemId: id, position_ms: 60_000, progress: 0.2, last_played_at: at };
  if (library) await givenState(db, library, state);
}

const me = api.as(person);
const each = libraries.flatMap(({ id }) => {
  const source = { libraryIds: [id] };
  const filter = (text: string): object => ({ kind: 'filter', source: { ...source, filter: text } });
  return [
    ...[
      { kind: 'recently-added', source },
      { kind: 'newly-released', source },
    ],
    ...[filter('year:gte:2010'), filter('rating:gte:8'), filter('year:lt:1980')],
  ];
});
const rows = [
  { kind: 'continue-watching' },
  { kind: 'favorites' },
  { kind: 'top-here' },
  { kind: 'libraries' },
  ...each,
];
const saved = await me.setHomeLayout({ body: { rows } as never });
if (saved.status !== 200) throw new Error(JSON.stringify(saved.body));

let deferred = 0;

async function home(): Promise<number> {
  await redis.flushdb();
  const began = performance.now();
  const { status, body } = await me.getHome();
  if (status !== 200) throw new Error(`answered ${status}`);
  deferred += body.rows.filter((one) => one.deferred).length;
  return performance.now() - began;
}

const statements: Sent[] = [];
const keep = ({ sql, bindings }: Sent): void => void statements.push({ sql, bindings });
await home();
db.on('query', keep);
await home();
db.removeListener('query', keep);

async function bare(): Promise<number> {
  const connection = (await db.client.acquireConnection()) as {
    query: (sql: string, values: never) => Promise<unknown>;
  };
  const began = performance.now();
  for (const { sql, bindings } of statements) await connection.query(sql, (bindings ?? []) as never);
  const took = performance.now() - began;
  await db.client.releaseConnection(connection);
  return took;
}

deferred = 0;
const found = await alternate(PAIRS, home, bare);
const p95 = found.ours.toSorted((a, b) => a - b)[Math.ceil(PAIRS * 0.95) - 1] ?? Number.NaN;
console.log(
  `\nHome of ${rows.length} rows, ${ITEMS} items, ${statements.length} statements. ${machine()}\n\n${HEADER}`,
);
console.log(row({ name: 'Home, against the sum of its statements', unit: 'ms', target: '≤ 3' }, found));
console.log(`\np95 ${p95.toFixed(0)} ms (target 100); ${deferred} rows of ${PAIRS * rows.length} came late`);
await endAll();
process.exit(0);
