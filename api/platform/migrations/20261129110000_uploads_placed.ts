import type { Knex } from 'knex';

/** An upload knows that its file got its name, and how often a storage did not keep the bytes of its file. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table uploads add column placed boolean not null default false,
    add column changed_tries int not null default 0`);
}
