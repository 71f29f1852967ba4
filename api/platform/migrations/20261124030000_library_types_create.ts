import type { Knex } from 'knex';

/** Types of libraries that the owner made, and what libraries, items and scans keep of them. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table library_types (
      key text primary key,
      name text not null, plural text not null, description text, icon_id uuid,
      base text not null,
      -- levels, files, naming, agents, fieldKeys, analyses, views
      rules jsonb not null,
      -- the levels with the item types of the base that each stands for
      item_levels jsonb not null,
      -- rises with a change of files or naming, which makes the next full scan read every name again
      rules_version int not null default 1,
      managed_by jsonb, revision bigint not null default 1,
      created_at timestamptz not null default now(), updated_at timestamptz not null default now()
    );
    -- {base, levels} of an owner-made type, fixed with the type; null for built-in ones
    alter table libraries add column own_type jsonb;
    -- the type that is shown, for levels of owner-made types; item types of the base stay in type
    alter table items add column own_type text;
    -- the rules of an owner-made type with which the scan began
    alter table scans add column type_rules jsonb;
  `);
}
