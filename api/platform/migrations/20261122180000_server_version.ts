import type { Knex } from 'knex';

/** The version that prepared the database last: what a backup of it is restored by, whoever makes it. */
export async function up(db: Knex): Promise<void> {
  await db.raw('alter table server_state add column version text');
}
