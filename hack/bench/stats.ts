/**
 * The speed of figures and of the history (targets: p95 100 ms for a year of a household, 300 ms with 10 million plays).
 * `node hack/bench/stats.ts [plays]` prints a table. The plays lie evenly over five years of 50 profiles.
 */
import { startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenLibrary } from '#support/given-items.ts';
import { endAll } from '#support/stores.ts';
import { machine } from './measure.ts';

const PLAYS = Number(process.argv[2] ?? 1_000_000);
const PEOPLE = 50;
const ITEMS = 20_000;
const DAYS = 1825;
const ROUNDS = 20;

const api = await startApi();
const { db } = api.deps;
await db.raw(`do $$ begin execute format('alter database %I set jit = off', current_database()); end $$`); // as in the product
const films = await givenLibrary(db, 'movies', { everyone: true });
const owner = await api.given.owner();
const people: Person[] = [];
for (let n = 0; n < PEOPLE; n += 1) people.push(await api.given.member());
await db.transaction(async (tx) => {
  await tx.raw('set local statement_timeout = 0');
  await tx.raw(
    `insert into items (id, library_id, type, top, identity_key, title, sort_title, runtime_ms)
     select ('0190' || lpad(to_hex(n), 4, '0') || '-0000-7000-8000-' || lpad(to_hex(n), 12, '0'))::uuid, ?, 'movie', true, 'f-' || n,
       'Film ' || n, 'film ' || n, 5400000 from generate_series(1, ?) n`,
    [films.id, ITEMS],
  );
  await tx.raw(
    `insert into plays (id, profile_id, account_id, item_id, library_id, title, type, started_at, ended_at, played_ms, method, client, source)
     select gen_random_uuid(), (cast(:profiles as uuid[]))[1 + n % :people], (cast(:accounts as uuid[]))[1 + n % :people],
       ('0190' || lpad(to_hex(item), 4, '0') || '-0000-7000-8000-' || lpad(to_hex(item), 12, '0'))::uuid, :library, 'Film ' || item, 'movie',
       at, at + interval '50 minutes', 3000000, (array['direct_play', 'direct_play', 'direct_stream', 'transcode'])[1 + n % 4],
       (array['Firefox on Linux', 'TV', 'Phone'])[1 + n % 3], 'playback'
     from generate_series(1, :plays) n, lateral (select 1 + (n::bigint * 7919 % :items)::int as item,
       now() - interval '1 hour' - n * (interval '1 day' * :days / :plays) as at) made`,
    {
      ...{ library: films.id, items: ITEMS, plays: PLAYS, days: DAYS, people: PEOPLE },
      profiles: people.map(({ profileId }) => profileId),
      accounts: people.map(({ accountId }) => accountId),
    } as never,
  );
  await tx.raw(
    `insert into play_sums select date_bin('15 minutes', started_at, timestamptz '2000-01-01'), profile_id, item_id, library_id, type,
       method, client, is_remote, count(*), sum(played_ms), 0, 0 from plays group by 1, 2, 3, 4, 5, 6, 7, 8`,
  );
  await tx.raw('analyze items');
  await tx.raw('analyze plays');
  await tx.raw('analyze play_sums');
});

/** 95th of a hundred, ms. */
const p95 = (times: number[]): number => times.sort((a, b) => a - b)[Math.ceil(times.length * 0.95) - 1] ?? NaN;

async function measure(call: () => Promise<{ status: number }>): Promise<string> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const began = performance.now();
    const { status } = await call();
    if (status !== 200) throw new Error(`answered ${status}`);
    times.push(performance.now() - began);
  }
  return p95(times).toFixed(0);
}

const from = (days: number): string => new Date(Date.now() - (days - 1) * 86_400_000).toISOString().slice(0, 10);
const [person = owner] = people;
const me = api.as(person);
const admin = api.as(owner);
const lines: Record<string, () => Promise<{ status: number }>> = {
  'own, 30 days': () => me.getStats(),
  'own, a year by month': () => me.getStats({ query: { from: from(365), groupBy: 'month' } }),
  'server, 30 days': () => admin.getStats({ query: { scope: 'server' } }),
  'server, 30 days by person and method': () =>
    admin.getStats({ query: { scope: 'server', groupBy: 'user', split: 'method' } }),
  'server, a year by month': () => admin.getStats({ query: { scope: 'server', from: from(365), groupBy: 'month' } }),
  'server, 1,100 days by month': () =>
    admin.getStats({ query: { scope: 'server', from: from(1100), groupBy: 'month' } }),
  'own history': () => me.listHistory(),
  'history of all': () => admin.listHistory({ query: { userId: 'all', limit: 200 } }),
};

console.log(machine());
console.log(`${PLAYS} plays, p95 of ${ROUNDS} in ms`);
for (const [name, call] of Object.entries(lines)) console.log(`${name.padEnd(40)} ${await measure(call)}`);
await endAll();
process.exit(0);
