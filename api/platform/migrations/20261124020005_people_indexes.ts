import type { Knex } from 'knex';
import { buildIndex } from '../build-index.ts';

/** The orders of people, their credits by role, and the items of a studio. */
export async function before(db: Knex): Promise<void> {
  await buildIndex(db, 'people_order', 'people (sort_key collate "C", id)');
  await buildIndex(db, 'people_birthdays', 'people (birthday, id)');
  await buildIndex(db, 'people_birthdays_down', 'people (birthday desc nulls last, id)');
  await buildIndex(db, 'people_added', 'people (created_at, id)');
  await buildIndex(db, 'people_shuffled', 'people (shuffle, id)');
  await buildIndex(db, 'credits_role', 'credits (role, person_id, item_id)');
  await buildIndex(db, 'item_tags_studio', "item_tags (tag_id, item_id) where kind = 'studio'");
}

export async function up(): Promise<void> {}
