import type { Knex } from 'knex';
import { buildIndex } from '../build-index.ts';

/** The titles of the guide as the search reads titles: by words, without punctuation, with numbers and joined neighbours. */
export async function before(db: Knex): Promise<void> {
  await db.raw(`
    create or replace function foyer_title_words(title text) returns tsvector language sql immutable parallel safe as $$
      select foyer_search_vector(t, 'A') || foyer_search_vector(foyer_search_joined(t), 'A')
      from (select foyer_search_tokens(title, true) as t) own
    $$;
    alter table guide_titles
      add column if not exists words tsvector not null generated always as (foyer_title_words(text)) stored;
  `);
  await buildIndex(db, 'guide_titles_search', 'guide_titles using gin (words)');
}

export async function up(): Promise<void> {}
