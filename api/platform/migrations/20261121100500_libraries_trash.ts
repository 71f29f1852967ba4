import type { Knex } from 'knex';

/** What a purge leaves behind: marks that keep a scan from adding kept files again, and tombstones that bring ids and states back. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table ignored_files (
      library_id uuid not null references libraries on delete cascade,
      storage_id uuid not null references storages on delete cascade,
      path text not null,
      at timestamptz not null default now(),
      primary key (library_id, storage_id, path)
    );
    create table item_tombstones (
      item_id uuid primary key,
      library_id uuid not null references libraries on delete cascade,
      type text not null, identity_key text not null,
      external_ids jsonb not null default '{}',
      -- sampled hashes of its files, hex
      hashes text[] not null default '{}',
      -- rows of item_states as they were
      states jsonb not null default '[]',
      expires_at timestamptz not null
    );
    create index item_tombstones_hashes on item_tombstones using gin (hashes);
    create index item_tombstones_identity on item_tombstones (library_id, type, identity_key);
  `);
}
