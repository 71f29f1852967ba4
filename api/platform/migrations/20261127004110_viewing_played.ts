import type { Knex } from 'knex';

/** How long a session really played, and where it began. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table playback_sessions add column played_ms bigint not null default 0, add column from_ms bigint not null default 0
  `);
}
