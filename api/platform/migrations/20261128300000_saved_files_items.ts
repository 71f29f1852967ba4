import type { Knex } from 'knex';
import { buildIndex } from '../build-index.ts';

/** The item whose values a written file holds, by which its former file is found when its media are renamed. */
export async function before(db: Knex): Promise<void> {
  await db.raw('alter table saved_files add column if not exists item_id uuid');
  await buildIndex(db, 'saved_files_item', 'saved_files (item_id) where item_id is not null');
}

export async function up(): Promise<void> {}
