import type { Knex } from 'knex';

/** A folder may be away while its storage is there: a mount inside it that is not mounted. */
export async function up(db: Knex): Promise<void> {
  await db.raw('alter table library_folders add column away boolean not null default false');
}
