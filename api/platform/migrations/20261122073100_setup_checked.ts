import type { Knex } from 'knex';

/** When the checks of the wizard were passed, so that it knows what is still missing. */
export async function up(db: Knex): Promise<void> {
  await db.raw('alter table server_state add column setup_checked_at timestamptz');
}
