import { setTimeout as sleep } from 'node:timers/promises';
import { runMigrations } from 'graphile-worker';
import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import type { Db } from './db.ts';
import { migrations, type Phase, phaseOf } from './migrations/index.ts';

const LOCK = 'foyer.migrations';
/** How long a database may take to start. */
const PATIENCE_MS = 60_000;
const TURN_MS = 200;
/**
 * How long a migration waits for a lock on a table. Requests queue behind a waiting migration, so it gives up soon and
 * tries again: a backup or a long scan may hold its locks for minutes.
 */
const LOCK_TIMEOUT_MS = 2000;
const BETWEEN_TRIES_MS = 5000;
const LOCK_PATIENCE_MS = 600_000;
/** Postgres. */
const LOCK_NOT_AVAILABLE = '55P03';

/** Forward only: a rolled-back build works on the newer schema (expand, roll, contract). */
async function neverDown(): Promise<void> {
  throw new Error('migrations only go forward');
}

/**
 * Migrates the schema to this build; concurrent processes wait for each other and one does the work. Returns the names
 * of the migrations that ran. With a phase only its migrations run: `expand` before a roll-out, `contract` once no pod
 * of the previous build is left. Needs a session of its own: not through a pooler in transaction mode.
 */
export async function migrate(url: string, phase?: Phase): Promise<string[]> {
  const lock = await connected(url);
  const db = knexFactory({ client: 'pg', connection: url, pool: { min: 0, max: 1 } });
  try {
    await takeTurn(lock);
    await runMigrations({ connectionString: url });
    return await run(db, (name) => !phase || phaseOf(name) === phase);
  } finally {
    await db.destroy();
    await lock.end();
  }
}

/** Polls for the lock, because a waiting statement would hold a snapshot, which an index build waits for. */
async function takeTurn(lock: pg.Client): Promise<void> {
  for (;;) {
    const { rows } = await lock.query<{ ours: boolean }>('select pg_try_advisory_lock(hashtext($1)) as ours', [LOCK]);
    if (rows[0]?.ours) return;
    await sleep(TURN_MS);
  }
}

async function run(db: Knex, wanted: (name: string) => boolean): Promise<string[]> {
  const names = Object.keys(migrations).filter(wanted).sort();
  const done: string[] = [];
  for (const [at, name] of names.entries()) {
    const { before } = migrations[name] ?? {};
    if (!before) continue;
    done.push(...(await runAll(db, names.slice(0, at))));
    const [, pending] = (await db.migrate.list(configOf(names.slice(0, at + 1)))) as [unknown[], unknown[]];
    if (pending.length > 0) await repeatedWhileLocked(db, () => before(db));
  }
  return [...done, ...(await runAll(db, names))];
}

/** Runs the pending migrations in one transaction. */
async function runAll(db: Knex, names: readonly string[]): Promise<string[]> {
  const [, done] = (await repeatedWhileLocked(db, () => db.migrate.latest(configOf(names)))) as [number, string[]];
  return done;
}

/** Runs the work again while other transactions hold the locks that it needs. */
async function repeatedWhileLocked<T>(db: Knex, work: () => Promise<T>): Promise<T> {
  const end = Date.now() + LOCK_PATIENCE_MS;
  await db.raw(`set lock_timeout = ${LOCK_TIMEOUT_MS}`);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: string }).code !== LOCK_NOT_AVAILABLE || Date.now() > end) throw error;
      await sleep(BETWEEN_TRIES_MS);
    }
  }
}

const configOf = (names: readonly string[]): Knex.MigratorConfig => ({
  migrationSource: {
    getMigrations: async () => [...names],
    getMigrationName: (name) => name,
    getMigration: async (name) => ({ up: async () => undefined, ...migrations[name], down: neverDown }),
  } satisfies Knex.MigrationSource<string>,
  disableMigrationsListValidation: true, // a rolled-back build meets a newer schema, which expand-and-contract keeps usable
});

/**
 * Runs the given migrations in another schema, which must exist, as for a restore. Extensions are found in `public`;
 * everything that a migration creates goes to the schema.
 */
export async function migrateInSchema(url: string, schema: string, names: ReadonlySet<string>): Promise<string[]> {
  const db = knexFactory({
    client: 'pg',
    connection: { connectionString: url, application_name: 'foyer-restore' },
    searchPath: [schema, 'public'],
    pool: { min: 0, max: 1 },
  });
  try {
    return await run(db, (name) => names.has(name));
  } finally {
    await db.destroy();
  }
}

/** Waits for a database that is not up, or whose name does not resolve yet; a refused password is thrown. */
async function connected(url: string): Promise<pg.Client> {
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5000 });
    client.on('error', () => undefined); // reported by the query that fails
    try {
      await client.connect();
      return client;
    } catch (error) {
      await client.end().catch(() => undefined);
      if (!startsYet((error as { code?: string }).code) || Date.now() > end) throw error;
      await sleep(1000);
    }
  }
}

/** Postgres cannot connect now, or has too many connections; every error of the network. */
const startsYet = (code = 'ECONNREFUSED'): boolean => /^(57P03|53300|E[A-Z_]+)$/.test(code);

/** Migrations of this build that have not run; undefined if none ever ran. */
export async function migrationsLeft(db: Db): Promise<string[] | undefined> {
  const [found] = await db.select(db.raw(`to_regclass('knex_migrations') is not null as there`));
  if (!found?.there) return undefined;
  const ran = new Set((await db.from('knex_migrations').select('name')).map((row) => row.name));
  return Object.keys(migrations).filter((name) => !ran.has(name));
}

/** Migrations that this build needs: a pod is ready once there are none. */
export async function migrationsPending(db: Db): Promise<string[]> {
  const left = (await migrationsLeft(db)) ?? Object.keys(migrations);
  return left.filter((name) => phaseOf(name) === 'expand');
}
