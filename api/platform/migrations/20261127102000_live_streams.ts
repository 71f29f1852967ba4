import type { Knex } from 'knex';

/** What a stream consists of, which sources failed, and who holds it; live sessions of playback. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table live_streams
      -- streams of the broadcast by ffprobe, from its first segment
      add facts jsonb,
      -- sources that failed since the last segment: sourceId, tunerId, reason
      add tried jsonb not null default '[]',
      -- a viewer waits for the first segment until then
      add reserved_until timestamptz,
      -- a recording takes the stream until then
      add recorded_until timestamptz;
    -- channel, stream, rendition and container of a session of live television
    alter table playback_sessions add live jsonb;
  `);
}
