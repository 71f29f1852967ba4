import { runMigrations } from 'graphile-worker';
import knexFactory, { type Knex } from 'knex';
import pg from 'pg';
import type { Db } from './db.ts';
import { migrations } from './migrations/index.ts';

const LOCK = 'foyer.migrations';

/** Forward only: a build that is rolled back works on the newer schema (expand, roll, contract). */
async function neverDown(): Promise<void> {
  throw new Error('migrations only go forward');
}

/**
 * Brings the schema up to this build; several at once wait for each other and one does the work. Names of what ran.
 * Needs a session of its own: not through a pooler in transaction mode.
 */
export async function migrate(url: string): Promise<string[]> {
  const lock = new pg.Client({ connectionString: url });
  await lock.connect();
  const db = knexFactory({ client: 'pg', connection: url, pool: { min: 0, max: 1 } });
  try {
    await lock.query('select pg_advisory_lock(hashtext($1))', [LOCK]);
    await runMigrations({ connectionString: url });
    const migrationSource: Knex.MigrationSource<string> = {
      getMigrations: async () => Object.keys(migrations).sort(),
      getMigrationName: (name) => name,
      getMigration: async (name) => ({ up: async () => undefined, ...migrations[name], down: neverDown }),
    };
    const [, done] = (await db.migrate.latest({
      migrationSource,
      disableMigrationsListValidation: true, // a rolled-back build meets a newer schema, which expand-and-contract keeps usable
    })) as [number, string[]];
    return done;
  } finally {
    await db.destroy();
    await lock.end();
  }
}

/** Migrations of this build that have not run yet: a pod is ready once there are none. */
export async function migrationsPending(db: Db): Promise<string[]> {
  const [found] = await db.select<{ there: boolean }[]>(db.raw(`to_regclass('knex_migrations') is not null as there`));
  const rows = found?.there ? await db('knex_migrations').select<{ name: string }[]>('name') : [];
  const ran = new Set(rows.map((row) => row.name));
  return Object.keys(migrations).filter((name) => !ran.has(name));
}
