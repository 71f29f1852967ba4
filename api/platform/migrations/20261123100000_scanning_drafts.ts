import type { Knex } from 'knex';
import { buildIndex } from '../build-index.ts';

/** What a directory made of its files when it was last written: only what differs from it is written again. */
export async function before(db: Knex): Promise<void> {
  await db.raw(`
    alter table scan_directories
      -- 8 bytes of a hash for each item that its files make; null when all of them are to be written again
      add column if not exists drafts bytea,
      -- of the show that its pictures and its NFO file describe, where it holds no videos
      add column if not exists show_key text
  `);
  await buildIndex(db, 'scan_directories_show', 'scan_directories (show_key) where show_key is not null');
}

export async function up(): Promise<void> {}
