import type { Knex } from 'knex';

/** Finished recordings that left the list stay as rows, so that rules know which episodes were recorded. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table recordings add removed_at timestamptz;
    create index recordings_airing on recordings (program_id, created_at) where program_id is not null;
    create index recordings_running on recordings (channel_id) where state = 'recording';
  `);
}
