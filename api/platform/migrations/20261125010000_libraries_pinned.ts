import type { Knex } from 'knex';

/** Files that persons put into items, where scans leave them. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table media_files add column pinned boolean not null default false`);
}
