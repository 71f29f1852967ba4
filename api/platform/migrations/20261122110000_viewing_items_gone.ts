import type { Knex } from 'knex';

/** A session outlives its item's row: it still has to be ended, told of and answered for a day. */
export async function up(db: Knex): Promise<void> {
  await db.raw('alter table playback_sessions drop constraint playback_sessions_item_id_fkey');
}
