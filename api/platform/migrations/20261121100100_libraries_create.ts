import type { Knex } from 'knex';

/** Storages, libraries, folders and who may see them. Counts and sizes are rollups written with the items. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table storages (
      id uuid primary key,
      name text not null, kind text not null default 'mount',
      root_name text, path text not null default '',
      read_only boolean not null default true, enabled boolean not null default true,
      state text not null default 'available', reason text, state_since timestamptz not null default now(),
      epoch bigint not null default 1, identity jsonb not null default '{}',
      owner_id uuid references accounts on delete cascade,
      managed_by jsonb,
      created_at timestamptz not null default now(), updated_at timestamptz not null default now()
    );

    create table libraries (
      id uuid primary key,
      name text not null, name_folded text not null,
      type text not null, icon text, position int not null default 0,
      settings jsonb not null default '{}',
      everyone boolean not null default true, access_roles text[] not null default '{}',
      age_limit int,
      poster_image_id uuid,
      managed_by jsonb, managed_fields text[] not null default '{}',
      item_counts jsonb not null default '{}',
      size_bytes bigint not null default 0, duration_ms bigint not null default 0,
      missing_count int not null default 0, trash_count int not null default 0,
      change_seq bigint not null default 0,
      first_scanned_at timestamptz,
      revision bigint not null default 1,
      deleted_at timestamptz,
      created_at timestamptz not null default now(), updated_at timestamptz not null default now()
    );
    create unique index libraries_name on libraries (name_folded) where deleted_at is null;
    create unique index libraries_managed on libraries ((managed_by ->> 'uid')) where deleted_at is null and managed_by is not null;

    create table library_folders (
      id uuid primary key,
      library_id uuid not null references libraries on delete cascade,
      storage_id uuid not null references storages,
      path text not null,
      added_by uuid, added_at timestamptz not null default now(),
      unique (library_id, storage_id, path)
    );

    create table library_access (
      library_id uuid not null references libraries on delete cascade,
      account_id uuid not null references accounts on delete cascade,
      primary key (library_id, account_id)
    );
    create index library_access_account on library_access (account_id);
  `);
}
