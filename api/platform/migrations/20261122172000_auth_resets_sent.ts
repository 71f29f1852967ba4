import type { Knex } from 'knex';

/** Whether the link went by mail: it must not outlive the address that it was sent to. */
export async function up(db: Knex): Promise<void> {
  await db.raw('alter table password_resets add column sent boolean not null default false');
}
