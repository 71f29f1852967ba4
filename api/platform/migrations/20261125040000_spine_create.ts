import type { Knex } from 'knex';

/**
 * Packs of works of open data. The works of each pack are a partition in a schema of their own, which is loaded beside
 * the others and attached when it is complete.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create schema if not exists foyer_spine;
    create table spine_packs (
      id uuid primary key,
      -- names its partition
      number int not null unique,
      name text not null unique, version text not null,
      kinds text[] not null, languages text[] not null,
      -- rows by kind
      works jsonb not null,
      -- of the file of the pack
      size_bytes bigint not null,
      key_id text not null, key_name text not null,
      built_at timestamptz not null, sources jsonb not null, sha256 text not null,
      imported_at timestamptz not null default now(), imported_by uuid
    );
    create sequence spine_pack_numbers as int;
    create table spine_state (
      one boolean primary key default true check (one),
      last_check_at timestamptz,
      -- the newest pack that the address of packs offers, when it is newer than the loaded one
      available jsonb
    );
    insert into spine_state default values;
    create table spine_works (
      pack int not null,
      -- its kind and its first id
      key text not null,
      kind text not null,
      -- scheme:value
      ids text[] not null,
      -- folded titles, the main one first
      names text[] not null,
      -- the same in one text
      words text not null,
      year int,
      -- key of the work that it is a part of, and its place there
      parent text, place int,
      doc jsonb not null
    ) partition by list (pack);
  `);
}
