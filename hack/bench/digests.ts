/**
 * How long the weekly digests of many accounts take with one worker and a real SMTP server of this machine (target: 10,000
 * within an hour). `node hack/bench/digests.ts [accounts]` prints a table.
 */
import { newId } from '#platform/ids.ts';
import { enqueue } from '#platform/queue.ts';
import { startApi } from '#support/api.ts';
import { DeliveryWorkers } from '#support/deliveries.ts';
import { givenLibrary, givenMany } from '#support/given-items.ts';
import { PostOffice } from '#support/post.ts';
import { endAll, eventually } from '#support/stores.ts';
import { machine } from './measure.ts';

const ACCOUNTS = Number(process.argv[2] ?? 10_000);
const ITEMS = 2000;
const MOST_MS = 3_600_000;
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const office = await PostOffice.start();
const now = new Date();
const api = await startApi({
  FOYER_SETTINGS: JSON.stringify({
    'server.publicUrl': 'https://foyer.example',
    'server.timeZone': 'UTC',
    'email.enabled': true,
    'email.smtp.host': 'smtp.test',
    'email.smtp.port': office.port,
    'email.smtp.security': 'none',
    'email.from': 'foyer@example.org',
    'email.perHour': 100_000,
    'email.digest.day': DAYS[now.getUTCDay()],
    'email.digest.hour': now.getUTCHours(),
  }),
});
const { db } = api.deps;
const films = await givenLibrary(db, 'movies', { everyone: true });
await givenMany(db, films, ITEMS);
await db('items').update({ added_at: now });

const people = Array.from({ length: ACCOUNTS }, (_, i) => ({ accountId: newId(), profileId: newId(), name: `r${i}` }));
await db.batchInsert(
  'accounts',
  people.map(({ accountId: id, name }) => ({
    ...{ id, username: name, username_folded: name, display_name: name, role: 'member' },
    ...{ email: `${name}@example.org`, email_verified: true },
  })),
);
await db.batchInsert(
  'profiles',
  people.map(({ accountId, profileId: id, name }) => ({ id, account_id: accountId, name, main: true })),
);
const preferences = JSON.stringify({ kinds: { 'export-ready': { inApp: true, push: false, email: 'digest' } } });
await db.batchInsert(
  'notification_preferences',
  people.map(({ profileId }) => ({ profile_id: profileId, document: preferences })),
);

await new DeliveryWorkers(api).start();
const began = performance.now();
const seconds = (): number => Math.round((performance.now() - began) / 1000);
const job = await db.transaction((transaction) => enqueue(transaction, 'email.digest', { payload: {} }));
await eventually(async () => (await db('jobs').where({ id: job }).first('state')).state === 'completed', MOST_MS);
const written = seconds();
await eventually(async () => {
  const [row] = await db('email_messages').where({ kind: 'digest', state: 'sent' }).count<{ count: string }[]>();
  return Number(row?.count) === ACCOUNTS;
}, MOST_MS);
const gone = seconds();
console.log(`\nDigests for ${ACCOUNTS} accounts, ${ITEMS} new films: ${machine()}\n`);
console.log('| what | s | target |\n|---|---|---|');
console.log(`| all written | ${written} | |\n| all taken by the SMTP server | ${gone} | 3600 |`);
console.log(`\n${office.got.length} mails came; ${Math.round((ACCOUNTS * 3600) / gone)} an hour.`);
await endAll();
process.exit(0);
