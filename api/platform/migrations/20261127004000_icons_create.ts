import type { Knex } from 'knex';
import { buildIndex } from '../build-index.ts';

/** Libraries and types that name an icon. */
export async function before(db: Knex): Promise<void> {
  await buildIndex(db, 'libraries_icon', 'libraries (icon) where icon is not null');
  await buildIndex(db, 'library_types_icon', 'library_types (icon_id) where icon_id is not null');
}

/**
 * Own icon sets and their icons. Built-in ones are no rows, so an id may name either; a deleted icon is taken from
 * libraries and types in the same transaction.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table icon_sets (
      id uuid primary key,
      name text not null, name_folded text not null unique,
      description text, author text, license text, style text not null default 'other',
      fallback_id uuid not null, managed_by jsonb, source_sha256 text,
      revision bigint not null default 1,
      created_at timestamptz not null default now(), updated_at timestamptz not null default now()
    );
    create table icons (
      id uuid primary key,
      set_id uuid not null references icon_sets on delete cascade,
      name text not null, label text not null, slot text, keywords text[] not null default '{}',
      tintable boolean not null, source_kind text not null, width int not null, height int not null,
      hash text, parts jsonb not null default '[]', drawing text,
      version int not null default 1,
      created_at timestamptz not null default now(), updated_at timestamptz not null default now(),
      check ((hash is null) <> (drawing is null))
    );
    create unique index icons_name on icons (set_id, name);
    create unique index icons_slot on icons (set_id, slot) where slot is not null;
    create index icons_hash on icons (hash) where hash is not null;
    create table icon_choice (
      one boolean primary key default true check (one),
      active_id uuid not null, revision bigint not null default 1
    );
    insert into icon_choice (active_id) values ('01900000-0000-7000-8000-0000001c0001');
    create function icons_unuse() returns trigger language plpgsql as $$
    begin
      update libraries l set icon = null, revision = l.revision + 1, updated_at = now() from gone where l.icon = gone.id::text;
      update library_types t set icon_id = null, revision = t.revision + 1, updated_at = now() from gone where t.icon_id = gone.id;
      return null;
    end $$;
    create trigger icons_unuse after delete on icons referencing old table as gone
      for each statement execute function icons_unuse();
  `);
}
