import type { Knex } from 'knex';

/** The key of the tokens by which decoders read remote files, and a count of decoders that could not open the file of a session. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table relay_keys (
      -- there is one row
      id boolean primary key default true check (id),
      key bytea not null check (length(key) = 32),
      created_at timestamptz not null default now()
    );
    alter table transcode_sessions
      -- workers in a row that could not open the file
      add column unopened int not null default 0;
  `);
}
