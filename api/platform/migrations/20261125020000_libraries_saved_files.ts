import type { Knex } from 'knex';

/** Files that Foyer wrote next to media, and the items whose files are to be written. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table saved_files (
      storage_id uuid not null references storages on delete cascade,
      directory text not null, name text not null,
      -- of the written bytes, in hexadecimal digits
      sha256 text not null,
      library_id uuid not null references libraries on delete cascade,
      size_bytes bigint not null,
      -- whole milliseconds; null until the file is in its place
      modified_ms bigint,
      -- the picture and its version that the bytes were made from
      made_of text,
      at timestamptz not null default now(),
      primary key (storage_id, directory, name, sha256)
    );
    create index saved_files_moved on saved_files (library_id, modified_ms);
    create index saved_files_bytes on saved_files (library_id, sha256);

    create table pending_saves (
      item_id uuid primary key references items on delete cascade,
      library_id uuid not null,
      nfo boolean not null, artwork boolean not null,
      generation int not null default 0,
      due_at timestamptz not null
    );
    create index pending_saves_due on pending_saves (library_id, due_at);
  `);
}
