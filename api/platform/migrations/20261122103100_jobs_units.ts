import type { Knex } from 'knex';

/** How much of a job is done, in what it counts, and what a delayed one waits for. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table jobs add column done_units bigint, add column total_units bigint, add column unit text,
    add column waits_for text`);
}
