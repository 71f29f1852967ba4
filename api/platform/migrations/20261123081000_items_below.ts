import type { Knex } from 'knex';

/** What lies in a container, trashed or not: a large show is summed up and left without reading all items. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create index items_in_parent on items (parent_id) where parent_id is not null;
    create index items_in_grandparent on items (grandparent_id) where grandparent_id is not null;
    create index scan_issues_path on scan_issues (scan_id, path);
  `);
}
