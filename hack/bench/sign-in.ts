// Sign-ins by password against bare argon2id of the same cost, and the delay of browsing meanwhile, in one run.
//   node hack/bench/sign-in.ts [sign-ins a run, 100 when absent]
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { insertAccount } from '#areas/accounts/public.ts';
import { hashPassword } from '#areas/auth/public.ts';
import { NODE_OPTIONS } from '#operator/server-environment.ts';
import { startApi } from '#support/api.ts';
import { startApiProcess, started } from '#support/processes.ts';
import { endAll, eventually, freePort } from '#support/stores.ts';
import { alternate, cpuSeconds, HEADER, machine, median, row } from './measure.ts';

const SIGN_INS = Number(process.argv[2] ?? 100);
const PAIRS = 3;
const AT_ONCE = 4; // as many as the API hashes at once
const ACCOUNTS = 200; // each may try ten times a minute
const BROWSES = 100;
const PASSWORD = 'a good long one';

/** Verifies `n` times on request, four at once, at the cost of the hash. */
const BARE = `import { verify } from '@node-rs/argon2';
import { createServer } from 'node:http';
const [port, hash, password] = process.argv.slice(2);
createServer(async (request, response) => {
  let left = Number(request.url.slice(1));
  const loop = async () => { while (left-- > 0) if (!(await verify(hash, password))) throw new Error('wrong'); };
  await Promise.all(Array.from({ length: ${AT_ONCE} }, loop));
  response.end();
}).listen(Number(port), '127.0.0.1', () => console.log('up'));`;

const api = await startApi();
const passwordHash = await hashPassword(PASSWORD);
for (let i = 0; i < ACCOUNTS; i += 1)
  await insertAccount(api.deps.db, { username: `person ${i}`, role: 'member', passwordHash });
const { headers } = await api.given.member();

const file = join(process.cwd(), 'hack/bench', `.bare-${process.pid}.mjs`);
writeFileSync(file, BARE);
const barePort = await freePort();
const bare = await started([file, String(barePort), passwordHash, PASSWORD], {}, 'up');
const more = { NODE_OPTIONS, FOYER_TRUSTED_PROXIES: '["127.0.0.0/8"]' };
const { pid: ours, port } = await startApiProcess(api, more);
const url = `http://127.0.0.1:${port}/api/v1`;

let made = 0;
async function signIn(): Promise<void> {
  made += 1;
  const body = JSON.stringify({ username: `person ${made % ACCOUNTS}`, password: PASSWORD });
  const from = `2001:db8:${(made >> 16).toString(16)}:${(made & 0xffff).toString(16)}::1`;
  const sent = { 'content-type': 'application/json', 'x-client-id': `bench-${1e10 + made}`, 'x-forwarded-for': from };
  const answer = await fetch(`${url}/auth/login`, { method: 'POST', headers: sent, body });
  if (answer.status !== 200) throw new Error(`${answer.status} ${await answer.text()}`);
  await answer.body?.cancel();
}

async function signIns(n: number, more: () => boolean = () => true): Promise<void> {
  let left = n;
  const loop = async (): Promise<void> => {
    while (left > 0 && more()) {
      left -= 1;
      await signIn();
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, loop));
}
const verifies = async (n: number): Promise<void> =>
  void (await (await fetch(`http://127.0.0.1:${barePort}/${n}`)).text());

const perSecond = async (work: (n: number) => Promise<void>): Promise<number> => {
  const began = performance.now();
  await work(SIGN_INS);
  return (SIGN_INS * 1000) / (performance.now() - began);
};
const perCpuSecond = async (pid: number, work: (n: number) => Promise<void>): Promise<number> => {
  const before = cpuSeconds(pid);
  await work(SIGN_INS);
  return SIGN_INS / (cpuSeconds(pid) - before);
};

/** Milliseconds that each of some requests for the libraries took, one after the other. */
async function browse(): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < BROWSES; i += 1) {
    const began = performance.now();
    const answer = await fetch(`${url}/libraries`, { headers });
    await answer.text();
    if (answer.status !== 200) throw new Error(String(answer.status));
    took.push(performance.now() - began);
  }
  return took.sort((a, b) => a - b);
}

/** Browsing while `load` runs. */
async function browseDuring(load: (more: () => boolean) => Promise<void>): Promise<number[]> {
  let done = false;
  const going = load(() => !done);
  const took = await browse();
  done = true;
  await going;
  return took;
}

console.log(`\nSign-in, ${SIGN_INS} a run, ${AT_ONCE} at once, ${PAIRS} pairs. ${machine()}\n\n${HEADER}`);
await eventually(async () => (await fetch(`${url}/server/ready`)).ok);
await Promise.all([signIns(20), verifies(20)]);
const target = 'none set';
const speed = await alternate(
  PAIRS,
  () => perSecond(signIns),
  () => perSecond(verifies),
);
console.log(row({ name: 'sign-ins, wall', unit: 'a second', target }, speed));
const cost = await alternate(
  PAIRS,
  () => perCpuSecond(ours, signIns),
  () => perCpuSecond(bare, verifies),
);
console.log(row({ name: 'sign-ins, CPU', unit: 'a CPU-second', target }, cost));

const verifying = async (more: () => boolean): Promise<void> => {
  while (more()) await verifies(8);
};
const rounds = { alone: [] as number[][], verifies: [] as number[][], signIns: [] as number[][] };
for (let i = 0; i < PAIRS; i += 1) {
  rounds.alone.push(await browse());
  rounds.verifies.push(await browseDuring(verifying));
  rounds.signIns.push(await browseDuring((more) => signIns(1000, more)));
}
const at = (part: number, runs: number[][]): string =>
  median(runs.map((took) => took[Math.floor(took.length * part)] ?? NaN)).toFixed(1);
console.log(
  '\n| GET /libraries, ms | alone | during bare argon2id in another process | during sign-ins |\n|---|---|---|---|',
);
for (const [name, part] of [
  ['p50', 0.5],
  ['p95', 0.95],
] as const)
  console.log(`| ${name} | ${at(part, rounds.alone)} | ${at(part, rounds.verifies)} | ${at(part, rounds.signIns)} |`);
rmSync(file);
await endAll();
process.exit(0);
