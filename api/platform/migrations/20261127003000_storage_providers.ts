import type { Knex } from 'knex';
import { buildIndex } from '../build-index.ts';

/** Drives of an account. */
export async function before(db: Knex): Promise<void> {
  await buildIndex(db, 'storages_owner', 'storages (owner_id) where owner_id is not null');
}

/** Settings, sealed secrets and observations of storages, which no longer are only mounts. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table storages
      -- of a mount they are root_name and path
      add column settings jsonb not null default '{}',
      -- sealed JSON of the secrets by name; null without any
      add column secrets text,
      add column managed_fields text[] not null default '{}',
      -- totalBytes, freeBytes and at
      add column capacity jsonb,
      add column latency_ms int,
      add column last_check_at timestamptz,
      add column last_available_at timestamptz,
      add column marked_at timestamptz,
      -- the latest changes of the state, to notice a storage that comes and goes
      add column changes timestamptz[] not null default '{}';
  `);
}
