import type { Knex } from 'knex';

/** Named filters of a library, each of one profile. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table saved_filters (
      id uuid primary key,
      library_id uuid not null references libraries on delete cascade,
      profile_id uuid not null references profiles on delete cascade,
      name text not null, name_folded text not null,
      filter text not null, sort text not null,
      view text, group_by text, icon text,
      position int not null,
      pinned boolean not null default false, shared boolean not null default false,
      created_at timestamptz not null default now(), updated_at timestamptz not null default now(),
      unique (library_id, profile_id, name_folded)
    );
    create index saved_filters_shared on saved_filters (library_id) where shared;
  `);
}
