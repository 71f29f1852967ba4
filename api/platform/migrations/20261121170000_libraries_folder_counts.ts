import type { Knex } from 'knex';

/** Items of each folder, counted once a scan instead of at each read. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table library_folders add column item_count int not null default 0;
    create index library_folders_library on library_folders (library_id);
  `);
}
