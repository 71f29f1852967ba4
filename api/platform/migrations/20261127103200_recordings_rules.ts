import type { Knex } from 'knex';

/** Rules find programmes by category, and recordings without a key of their episode by title. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- Categories of programmes, each once; never removed, because guides use few of them.
    create table guide_categories (
      text text primary key,
      folded text not null generated always as (foyer_fold(text)) stored
    );
    insert into guide_categories (text) select distinct unnest(categories) from guide_programs;
    create index guide_programs_categories on guide_programs using gin (categories);
    create index recordings_title on recordings (title) where episode_key is null;
  `);
}
