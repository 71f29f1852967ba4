import type { Knex } from 'knex';

/**
 * The record of restores, in a schema of its own: it outlives the exchange of the database that it tells of, and is there
 * already where a backup is loaded beside it.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create schema if not exists foyer_restore;
    create table if not exists foyer_restore.epoch (
      one boolean primary key default true check (one),
      -- grows when the database is about to be exchanged: processes of before get no connection any more
      number int not null default 0,
      -- nobody but the restore gets one
      closed boolean not null default false,
      progress real not null default 0
    );
    insert into foyer_restore.epoch default values on conflict do nothing;
    create table if not exists foyer_restore.restores (
      id uuid primary key,
      backup_id uuid not null, job_id uuid not null, account_id uuid,
      -- of the manifest that the plan was made from; null for a database that a restore put aside
      manifest_sha256 text,
      passphrase_sealed text,
      state text not null default 'preparing' check (state in ('preparing', 'switching', 'completed', 'failed')),
      phase text not null default 'fetching', progress real not null default 0,
      -- begun so often: a process that was lost begins anew
      attempts int not null default 0,
      started_at timestamptz not null default now(), switched_at timestamptz, finished_at timestamptz,
      replaced_backup_id uuid,
      -- objects that take the place of other bytes once the database is exchanged
      objects jsonb not null default '[]',
      error jsonb
    );
    create unique index if not exists restores_one on foyer_restore.restores ((true)) where state in ('preparing', 'switching');
    create index if not exists restores_newest on foyer_restore.restores (started_at desc);
  `);
}
