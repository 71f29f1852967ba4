import type { Knex } from 'knex';

/** Languages whose order of letters or scripts is not ICU's root order, which `foyer_title` has. */
const LANGUAGES = `af ar az be bg bn bs cs cy da el eo es et fa fi fil fr-ca gu he hi hr hu hy is ja ka kk km kn ko lt lv mk ml mr
  mt my nb pa pl ro ru si sk sl sq sr sv ta te th tr uk ur uz vi zh zh-hant`;

/** The order of titles in each language, and what became of items that were merged into others. */
export async function up(db: Knex): Promise<void> {
  for (const language of LANGUAGES.split(/\s+/)) {
    const name = `foyer_title_${language.replace('-', '_')}`;
    await db.raw(`create collation ${name} (provider = icu, locale = '${language}-u-kn-true')`);
  }
  await db.raw(`
    -- where the item of an old id is found for a year; who merges the target into a third moves these rows along
    create table item_merges (
      old_id uuid primary key,
      into_id uuid not null references items on delete cascade,
      merged_at timestamptz not null default now()
    );
    create index item_merges_into on item_merges (into_id);
  `);
}
