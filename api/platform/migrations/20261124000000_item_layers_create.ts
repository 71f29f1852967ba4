import type { Knex } from 'knex';

/** What each source says of an item, what persons set, and where the shown value of each field comes from. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table item_layers (
      item_id uuid not null references items on delete cascade,
      -- nfo, embedded, file-name, or the id of an agent
      source text not null,
      fields jsonb not null,
      at timestamptz not null default now(),
      primary key (item_id, source));
    create table item_edits (
      item_id uuid not null references items on delete cascade,
      field text not null,
      value jsonb not null,
      account_id uuid references accounts on delete set null,
      at timestamptz not null default now(),
      primary key (item_id, field));
    -- source by field; a field without an entry has its default
    -- keys by which scans found items that became part of others
    create table merged_keys (
      library_id uuid not null references libraries on delete cascade,
      type text not null,
      identity_key text not null,
      into_id uuid not null references items on delete cascade,
      primary key (library_id, type, identity_key));
    create index merged_keys_into on merged_keys (into_id);
    -- a change of many items by a job, with the ids that matched at the start
    create table bulk_changes (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      change jsonb not null,
      item_ids uuid[] not null,
      created_at timestamptz not null default now());
    alter table items add column origins jsonb not null default '{}';
    -- a person labelled the edition
    alter table media_files add column edition_locked boolean not null default false;
    insert into item_layers (item_id, source, fields)
      select id, 'file-name', jsonb_strip_nulls(jsonb_build_object('title', title, 'year', year, 'releasedOn', released_on, 'overview', overview,
        'originalTitle', original_title, 'tagline', tagline, 'ageRating', age_rating, 'externalIds', external_ids))
      from items`);
}

export async function down(db: Knex): Promise<void> {
  await db.raw(
    'drop table item_layers, item_edits, bulk_changes, merged_keys; alter table items drop column origins; alter table media_files drop column edition_locked',
  );
}
