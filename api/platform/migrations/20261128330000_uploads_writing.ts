import type { Knex } from 'knex';

/** An upload can be cancelled while its file is written to a remote storage under another name. */
export async function up(db: Knex): Promise<void> {
  await db.raw('alter table uploads add column writing boolean not null default false');
}
