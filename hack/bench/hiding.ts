// Whether response times reveal what a 404 and a 401 hide: hidden against missing records, in random order, at one API process.
//   node hack/bench/hiding.ts [requests of each kind, 2000 when absent]
import { randomInt, randomUUID } from 'node:crypto';
import { insertAccount } from '#areas/accounts/public.ts';
import { hashPassword } from '#areas/auth/public.ts';
import { startApi } from '#support/api.ts';
import { givenFile, givenLibrary, givenMany } from '#support/given-items.ts';
import { startApiProcess } from '#support/processes.ts';
import { endAll, eventually } from '#support/stores.ts';
import { machine, median } from './measure.ts';

const EACH = Number(process.argv[2] ?? 2000);
const SIGN_INS = 150; // of each kind: a hash takes its time
const PASSWORD = 'a good long one';

const api = await startApi();
const { db } = api.deps;
const member = await api.given.member();
const library = await givenLibrary(db, 'movies', { everyone: false });
await givenMany(db, library, EACH);
const hiddenItems = (await db('items').where({ library_id: library.id }).limit(EACH).pluck('id')) as string[];
const fileIds: string[] = [];
for (const itemId of hiddenItems.slice(0, 200)) fileIds.push(await givenFile(db, library, itemId));
const passwordHash = await hashPassword(PASSWORD);
for (let i = 0; i < SIGN_INS; i += 1) {
  await insertAccount(db, { username: `somebody ${i}`, role: 'member', passwordHash });
  await insertAccount(db, { username: `without ${i}`, role: 'member', passwordHash: null });
}
const { port } = await startApiProcess(api, { FOYER_TRUSTED_PROXIES: '["127.0.0.0/8"]' });
const url = `http://127.0.0.1:${port}/api/v1`;
await eventually(async () => (await fetch(`${url}/server/ready`)).ok);

let address = 0;
async function took(path: string, init: RequestInit, expected: number): Promise<number> {
  const began = performance.now();
  const answer = await fetch(url + path, init);
  await answer.text();
  const ms = performance.now() - began;
  if (answer.status !== expected) throw new Error(`${path} is ${answer.status}`);
  return ms;
}
const read = (path: string): Promise<number> => took(path, { headers: member.headers }, 404);
function signIn(username: string): Promise<number> {
  address += 1;
  const headers = {
    'content-type': 'application/json',
    'x-client-id': 'bench-hiding-00001',
    'x-forwarded-for': `2001:db8:${(address >> 16).toString(16)}:${(address & 0xffff).toString(16)}::1`,
  };
  const body = JSON.stringify({ username, password: 'not the password' });
  return took('/auth/login', { method: 'POST', headers, body }, 401);
}

/** How well one threshold separates the two: 0.5 is not at all. */
function areaUnderCurve(one: readonly number[], other: readonly number[]): number {
  const all = [...one.map((ms) => ({ ms, of: 1 })), ...other.map((ms) => ({ ms, of: 0 }))].sort((a, b) => a.ms - b.ms);
  const ranks = all.reduce((sum, { of }, i) => sum + (of === 1 ? i + 1 : 0), 0);
  const area = (ranks - (one.length * (one.length + 1)) / 2) / (one.length * other.length);
  return Math.max(area, 1 - area);
}

async function compare(
  name: string,
  n: number,
  requests: { hidden: (i: number) => Promise<number>; absent: (i: number) => Promise<number> },
): Promise<void> {
  const found = { hidden: [] as number[], absent: [] as number[] };
  for (let i = 0; i < Math.min(100, n / 5); i += 1) await (i % 2 ? requests.hidden(i) : requests.absent(i));
  while (found.hidden.length < n || found.absent.length < n) {
    const kind = randomInt(2) === 0 ? 'hidden' : 'absent';
    if (found[kind].length < n) found[kind].push(await requests[kind](found[kind].length));
  }
  const [hidden, absent] = [median(found.hidden), median(found.absent)];
  const apart = Math.abs(hidden - absent);
  const area = areaUnderCurve(found.hidden, found.absent);
  const within = (apart < 0.5 || apart / absent < 0.05) && area <= 0.55;
  const cells = [
    name,
    hidden.toFixed(3),
    absent.toFixed(3),
    `${((apart / absent) * 100).toFixed(1)} %`,
    area.toFixed(3),
  ];
  console.log(`| ${cells.join(' | ')} | ${within ? 'yes' : 'NO'} |`);
}

const at = (ids: readonly string[], i: number): string => ids[i % ids.length] ?? '';
console.log(`\nHiding, ${EACH} of each. ${machine()}\n`);
console.log('| what | hidden, median ms | not there, median ms | apart | area | within |\n|---|--:|--:|--:|--:|---|');
await compare('GET /items/{id}', EACH, {
  hidden: (i) => read(`/items/${at(hiddenItems, i)}`),
  absent: () => read(`/items/${randomUUID()}`),
});
await compare('GET /items/{id}/children', EACH, {
  hidden: (i) => read(`/items/${at(hiddenItems, i)}/children`),
  absent: () => read(`/items/${randomUUID()}/children`),
});
await compare('GET /libraries/{id}/items', EACH, {
  hidden: () => read(`/libraries/${library.id}/items`),
  absent: () => read(`/libraries/${randomUUID()}/items`),
});
await compare('GET /files/{id}/stream', EACH, {
  hidden: (i) => read(`/files/${at(fileIds, i)}/stream`),
  absent: () => read(`/files/${randomUUID()}/stream`),
});
await compare('POST /auth/login, wrong password against no such name', SIGN_INS, {
  hidden: (i) => signIn(`somebody ${i}`),
  absent: (i) => signIn(`unknown ${i}`),
});
await compare('POST /auth/login, no password against no such name', SIGN_INS, {
  hidden: (i) => signIn(`without ${i}`),
  absent: (i) => signIn(`unknown ${i}`),
});
await endAll();
process.exit(0);
