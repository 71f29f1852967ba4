import type { Knex } from 'knex';
import { buildIndex } from '../build-index.ts';

/** What lies in a container, trashed or not: a large show is summed up and left without reading all items. */
export async function before(db: Knex): Promise<void> {
  await buildIndex(db, 'items_in_parent', 'items (parent_id) where parent_id is not null');
  await buildIndex(db, 'items_in_grandparent', 'items (grandparent_id) where grandparent_id is not null');
  await buildIndex(db, 'scan_issues_path', 'scan_issues (scan_id, path)');
}

export async function up(): Promise<void> {}
