import type { Knex } from 'knex';

/** What no key of the ring opens any more, as it was told last. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table server_state add column sealed_lost jsonb not null default '[]'`);
}
