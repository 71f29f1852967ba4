import type { Knex } from 'knex';

/** Quality, bitrate and methods that a client asked for, so that a change of a track alone leaves them as they are. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table playback_sessions add column wish jsonb not null default '{}'`);
}
