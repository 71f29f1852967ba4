import type { Knex } from 'knex';

/** When the client read the position that it told last, so that a report that comes late moves nothing back. */
export async function up(db: Knex): Promise<void> {
  await db.raw('alter table playback_sessions add column read_at timestamptz');
}
