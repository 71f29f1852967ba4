import type { Knex } from 'knex';

/** A directory whose content is the same needs no look at its files' rows. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table scan_directories
      -- of names, sizes, times and inodes of all that was listed, and the version of the probe; empty when something is to be looked at again
      add column content text not null default '';
  `);
}
