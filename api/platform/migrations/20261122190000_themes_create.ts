import type { Knex } from 'knex';

/** Own themes, what profiles chose, and the server's default in one row. Ids are texts where a built-in one may stand. */
export async function up(db: Knex): Promise<void> {
  const choice = `
      mode text not null default 'system', theme_id text, light_theme_id text, dark_theme_id text,
      text_scale float8 not null default 1, reduced_motion text not null default 'system',
      high_contrast text not null default 'system', updated_at timestamptz not null default now()`;
  await db.raw(`
    create table themes (
      id uuid primary key,
      name text not null, name_folded text not null unique,
      description text, author text,
      base text not null, schemes jsonb not null, shared jsonb not null,
      managed_by jsonb, revision bigint not null default 1,
      created_at timestamptz not null default now(), updated_at timestamptz not null default now()
    );
    create table theme_selections (
      profile_id uuid primary key references profiles on delete cascade, ${choice}
    );
    create table theme_default (
      one boolean primary key default true check (one), allow_choice boolean not null default true, ${choice}
    );
    insert into theme_default (mode) values ('dark');
  `);
}
