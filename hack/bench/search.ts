/**
 * The speed of search on a large library (targets: type-ahead p95 30 ms and p99 80 ms, the search page p95 120 ms at a million
 * items). `node hack/bench/search.ts [items]` prints a table; bare is the same index read by one statement.
 */
import { startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenLibrary } from '#support/given-items.ts';
import { endAll } from '#support/stores.ts';
import { inBatches, withoutIndexes } from './many.ts';
import { machine } from './measure.ts';

const ITEMS = Number(process.argv[2] ?? 200_000);
const PEOPLE = Math.ceil(ITEMS / 10);
const ROUNDS = 50;

const api = await startApi();
const { db } = api.deps;
const library = await givenLibrary(db, 'movies', { settings: JSON.stringify({ language: 'en' }) });
await db('search_indexes').insert({ library_id: library.id, language: 'en', version: 1 });

/** A word by its rank: frequent ones are few, as in a language. */
const WORD = (seed: string): string => `(
  select string_agg(syllable, '') from (select (array['ka','lo','mi','ster','ra','ne','tu','vo','shi','bel','dan','gor','wen','pax','qui','zel'])
    [1 + (word.rank * (7 + at) / (1 + at * 13)) % 16] as syllable from generate_series(0, 1 + word.rank % 3) at) s)
  from (select floor(20000 * power(hashfloat8(${seed}) / 4294967296.0 + 0.5, 3))::int as rank) word`;
const title = Array.from({ length: 3 }, (_, i) => `(select ${WORD(`n * 3.7 + ${i} * 1000003.3`)})`).join(` || ' ' || `);

const began = performance.now();
await withoutIndexes(db, 'search_documents', async () => {
  await inBatches(db, ITEMS, (tx, rows) =>
    tx.raw(
      `insert into items (id, library_id, type, top, identity_key, title, sort_title, year, rating, age_years, overview)
       select gen_random_uuid(), :library::uuid, 'movie', true, 's-' || n, title, title, 1950 + n % 75, (n % 100) / 10.0,
         (array[null, 0, 6, 12, 16, 18])[1 + n % 6], title || ' and the story of ' || md5((n % 5000)::text)
       from generate_series(:from::int, :to::int) n cross join lateral (select ${title} as title) t`,
      { library: library.id, ...rows },
    ),
  );
  await inBatches(db, PEOPLE, (tx, rows) =>
    tx.raw(
      `insert into people (id, name, name_folded) select gen_random_uuid(), name, name
       from generate_series(:from::int, :to::int) n cross join lateral (select ${title} as name) t`,
      { ...rows },
    ),
  );
});
const written = performance.now() - began;
for (const table of ['libraries', 'items', 'search_documents', 'people']) await db.raw(`vacuum analyze ${table}`);

const sample = await db.raw<{ rows: { title: string }[] }>(
  `select title from items tablesample bernoulli (5) where length(title) > 12 limit ${ROUNDS}`,
);
const titles = sample.rows.map((row) => row.title);
const viewers: Record<string, Person> = { owner: await api.given.owner(), child: await api.given.child(12) };

const at = (times: number[], share: number): string =>
  (times.sort((a, b) => a - b)[Math.ceil(times.length * share) - 1] ?? NaN).toFixed(1);

async function measure(call: (words: string) => Promise<unknown>): Promise<string[]> {
  const times: number[] = [];
  for (const words of titles) {
    await api.deps.redis.del(...Object.values(viewers).map(({ accountId }) => `limit:search:${accountId}`));
    const start = performance.now();
    await call(words);
    times.push(performance.now() - start);
  }
  return [at(times, 0.5), at(times, 0.95), at(times, 0.99)];
}

const ok = async (answer: Promise<{ status: number; body: unknown }>): Promise<void> => {
  const { status, body } = await answer;
  if (status !== 200 || (body as { partial?: boolean }).partial)
    throw new Error(`answered ${status} ${JSON.stringify(body).slice(0, 200)}`);
};
const second = (words: string): string => words.split(' ').slice(1).join(' ');
const swapped = (words: string): string => words.replace(/^(..)(.)(.)/, '$1$3$2');

const lines: Record<string, (who: Person) => (words: string) => Promise<unknown>> = {
  'bare: 5 letters of a word': () => (words) =>
    db.raw(`select id from search_documents where title_words @@ ?::tsquery order by weight desc limit 8`, [
      `'${words.slice(0, 5).trim()}':*`,
    ]),
  'type-ahead, 1 letter': (who) => (words) => ok(api.as(who).suggest({ query: { q: words.slice(0, 1) } })),
  'type-ahead, 2 letters': (who) => (words) => ok(api.as(who).suggest({ query: { q: words.slice(0, 2) } })),
  'type-ahead, 3 letters': (who) => (words) => ok(api.as(who).suggest({ query: { q: words.slice(0, 3) } })),
  'type-ahead, 5 letters': (who) => (words) => ok(api.as(who).suggest({ query: { q: words.slice(0, 5) } })),
  'type-ahead, two words': (who) => (words) =>
    ok(api.as(who).suggest({ query: { q: words.slice(0, words.indexOf(' ') + 2) } })),
  'type-ahead, nothing': (who) => (words) => ok(api.as(who).suggest({ query: { q: `${words.slice(0, 4)}xxyz` } })),
  'search page, title': (who) => (words) => ok(api.as(who).searchAll({ query: { q: words, transcripts: false } })),
  'search page, one word': (who) => (words) =>
    ok(api.as(who).searchAll({ query: { q: second(words).split(' ')[0] ?? '', transcripts: false } })),
  'search page, a mistake': (who) => (words) =>
    ok(api.as(who).searchAll({ query: { q: swapped(words), transcripts: false } })),
  'items, one word': (who) => (words) =>
    ok(api.as(who).searchItems({ query: { q: second(words).split(' ')[0] ?? '' } })),
};

console.log(machine());
console.log(`${ITEMS} items, ${PEOPLE} people, written in ${(written / 1000).toFixed(0)} s with their documents`);
const names = Object.keys(viewers).flatMap((name) => [`${name} p50`, 'p95', 'p99']);
console.log(`\n| ms | ${names.join(' | ')} |\n|---|${'--:|'.repeat(names.length)}`);
for (const [name, call] of Object.entries(lines)) {
  const cells: string[] = [];
  for (const person of Object.values(viewers))
    cells.push(...(await measure(call(person)).catch((error: Error) => [error.message.slice(0, 60), '', ''])));
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
await endAll();
process.exit(0);
