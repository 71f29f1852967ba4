import type { Knex } from 'knex';

/** Media files in the trash folder of their storage, or on the way into it or out of it. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table trashed_files (
      -- the name of the folder below .foyer-trash
      id uuid primary key,
      -- absent once the item was purged
      file_id uuid unique references media_files on delete set null,
      library_id uuid not null references libraries on delete cascade,
      storage_id uuid not null references storages on delete cascade,
      -- where it was, inside the storage
      path text not null,
      size_bytes bigint not null,
      modified_ms double precision not null,
      wanted text not null default 'trash' check (wanted in ('trash', 'place', 'none')),
      -- when the file reached the trash; absent while a job has to move or delete it
      settled_at timestamptz,
      at timestamptz not null default now()
    );
    create index trashed_files_open on trashed_files (at) where settled_at is null;
    create index trashed_files_library on trashed_files (library_id);
  `);
}
