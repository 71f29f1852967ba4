import type { Knex } from 'knex';

/** How many things wait for a task, when they were counted, and how long one takes. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table maintenance_tasks add column pending int, add column pending_at timestamptz, add column each_ms float8;
  `);
}
