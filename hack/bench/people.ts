/**
 * The speed of lists of people and studios (targets: p95 80 ms for people, 50 ms for studios), and what the counts cost a
 * writer of credits. `node hack/bench/people.ts [people] [items]` prints a table.
 */
import { startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenLibrary } from '#support/given-items.ts';
import { endAll } from '#support/stores.ts';
import { machine } from './measure.ts';

const PEOPLE = Number(process.argv[2] ?? 100_000);
const ITEMS = Number(process.argv[3] ?? 200_000);
const CREDITS = 6;
const STUDIOS = 5000;
const BATCH = 1000;
const ROUNDS = 30;

const api = await startApi();
const { db } = api.deps;
const films = await givenLibrary(db, 'movies', { everyone: true });
const others = await givenLibrary(db, 'movies', { everyone: true });
await db.transaction(async (tx) => {
  await tx.raw('set local statement_timeout = 0');
  await tx.raw(
    `insert into people (id, name, name_folded, birthday, created_at)
   select ('0190' || lpad(to_hex(n), 4, '0') || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, name, lower(name),
     date '1900-01-01' + n % 36500, now() - n * interval '1 minute'
   from (select n, (array['Anna','Bruno','Chloe','David','Elena','Felix','Greta','Hugo','Ines','Jonas'])[1 + n % 10] || ' '
     || (array['Smith','Meyer','Okafor','Tanaka','Rossi','Novak','Silva','Dubois'])[1 + n % 8] || 'son ' || md5(n::text) as name
     from generate_series(1, ?) n) made`,
    [PEOPLE],
  );
});

/** Items n to n + BATCH with their credits and studios, as a scan writes them: one transaction. */
async function writeBatch(library: GivenLibrary, from: number): Promise<number> {
  const began = performance.now();
  await db.transaction(async (tx) => {
    await tx.raw('set local statement_timeout = 0');
    await tx.raw(
      `insert into items (id, library_id, type, top, identity_key, title, sort_title, year, rating, age_years, added_at)
       select ('0191' || lpad(to_hex(n % 65536), 4, '0') || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, :library, 'movie', true,
         'f-' || n, 'Film ' || n, 'film ' || lpad(n::text, 8, '0'), 1950 + n % 70, n % 100 / 10.0,
         (array[null, null, 18, 18, 16, 16, 18, 12, null, 18])[1 + n % 10], timestamptz '2020-01-01' + n * interval '1 minute'
       from generate_series(:from::int, :to::int) n`,
      { library: library.id, from, to: from + BATCH - 1 },
    );
    await tx.raw(
      `insert into credits (id, item_id, person_id, role, position)
       select gen_random_uuid(), ('0191' || lpad(to_hex(n % 65536), 4, '0') || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid,
         ('0190' || lpad(to_hex(p), 4, '0') || '-0000-7000-8000-' || lpad(to_hex(p), 12, '0'))::uuid,
         case at when 0 then 'director' when 1 then 'writer' else 'actor' end, at
       from generate_series(:from::int, :to::int) n, generate_series(0, :most) at,
         lateral (select 1 + floor(power(random() + n * 0 + at * 0, 3) * :people)::int as p) chosen`,
      { from, to: from + BATCH - 1, most: CREDITS - 1, people: PEOPLE - 1 },
    );
    await tx.raw(
      `insert into item_tags (item_id, library_id, kind, name, name_folded)
       select ('0191' || lpad(to_hex(n % 65536), 4, '0') || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, :library, 'studio', name, lower(name)
       from generate_series(:from::int, :to::int) n, lateral (select 'Studio ' || n % :studios as name) s`,
      { library: library.id, from, to: from + BATCH - 1, studios: STUDIOS },
    );
  });
  return performance.now() - began;
}

const writing: number[] = [];
for (let from = 1; from < ITEMS; from += BATCH)
  writing.push(await writeBatch(from % (3 * BATCH) === 1 ? others : films, from));
await db.raw('vacuum analyze items');
await db.raw('vacuum analyze credits');
await db.raw('vacuum analyze people');
await db.raw('vacuum analyze credited_items');
await db.raw('vacuum analyze credited_counts');
await db.raw('vacuum analyze studios');

const viewers: Record<string, Person> = {
  owner: await api.given.owner(),
  member: await api.given.member(),
  child: await api.given.child(12),
  'strict child': await api.given.person('child', { age_limit: 12, hide_unrated: true }),
};

/** 95th of a hundred, ms. */
const p95 = (times: number[]): number => times.sort((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? NaN;

async function measure(call: () => Promise<{ status: number }>): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now();
    const { status } = await call();
    if (status !== 200) throw new Error(`answered ${status}`);
    times.push(performance.now() - began);
  }
  return p95(times).toFixed(0);
}

const busy = await db('credited_counts')
  .where({ class_id: 0, kind: 'person' })
  .orderBy('items', 'desc')
  .first<{ owner_id: string; items: number }>();
const lines: Record<string, (person: Person) => Promise<{ status: number }>> = {
  'people by name': (who) => api.as(who).listPeople(),
  'people by name, 200': (who) => api.as(who).listPeople({ query: { limit: 200 } }),
  'people by count': (who) => api.as(who).listPeople({ query: { sort: '-itemCount' } }),
  'people by birthday': (who) => api.as(who).listPeople({ query: { sort: '-birthday' } }),
  'people at random': (who) => api.as(who).listPeople({ query: { sort: 'random' } }),
  directors: (who) => api.as(who).listPeople({ query: { role: 'director' } }),
  'of a library': (who) => api.as(who).listPeople({ query: { libraryId: others.id } }),
  'by a word': (who) => api.as(who).listPeople({ query: { q: 'anna okaforson 3' } }),
  'by one letter': (who) => api.as(who).listPeople({ query: { q: 'a' } }),
  'from m': (who) => api.as(who).listPeople({ query: { startsWith: 'jo' } }),
  'the busiest person': (who) =>
    api.as(who).getPerson({ params: { id: busy.owner_id }, query: { include: 'colleagues,topItems' } as never }),
  'items of the busiest': (who) => api.as(who).listPersonItems({ params: { id: busy.owner_id } }),
  'studios by name': (who) => api.as(who).listStudios({ params: { id: films.id } }),
  'studios by count': (who) => api.as(who).listStudios({ params: { id: films.id }, query: { sort: '-itemCount' } }),
};

console.log(machine());
console.log(`${PEOPLE} people, ${ITEMS} items, ${CREDITS * ITEMS} credits, the busiest person in ${busy.items} items`);
console.log(`a batch of ${BATCH} items with credits and studios: p95 ${p95(writing).toFixed(0)} ms`);
console.log(`\n| p95, ms | ${Object.keys(viewers).join(' | ')} |\n|---|${'---|'.repeat(Object.keys(viewers).length)}`);
for (const [name, call] of Object.entries(lines)) {
  const cells: string[] = [];
  for (const person of Object.values(viewers)) cells.push(await measure(() => call(person)));
  console.log(`| ${name} | ${cells.join(' | ')} |`);
}
await endAll();
process.exit(0);
