import type { Knex } from 'knex';

/**
 * Items, their files and streams, tags, people, pictures, and the state that each profile has of them. Every list index
 * holds only what lists show (not trashed, not an extra) and ends in the id that breaks ties.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create extension if not exists pg_trgm;
    create extension if not exists unaccent;
    create function foyer_fold(text) returns text language sql immutable strict parallel safe
      as $$ select lower(public.unaccent('public.unaccent'::regdictionary, $1)) $$;

    create table items (
      id uuid primary key,
      library_id uuid not null references libraries on delete cascade,
      type text not null,
      parent_id uuid references items on delete cascade,
      grandparent_id uuid references items on delete cascade,
      -- the item this is an extra of; extras are in no list
      extra_of uuid references items on delete cascade, extra_kind text,
      -- shown when a library is listed without a type
      top boolean not null default false,
      -- what makes it the same item at the next scan: folder and folded name, or parent and number
      identity_key text not null,
      title text not null, sort_title text not null, original_title text,
      year int, released_on date,
      index_number int, index_end int, parent_index int, airs_before jsonb,
      overview text, tagline text,
      runtime_ms bigint, age_rating text, age_years int, rating real,
      external_ids jsonb not null default '{}',
      -- the rest of ItemDetail that no list sorts or filters by
      details jsonb not null default '{}',
      -- local pictures found by the scan: {poster: {path, mtimeMs}, ...}
      local_artwork jsonb not null default '{}',
      artwork jsonb not null default '{}',
      locked_fields text[] not null default '{}',
      matched boolean not null default false,
      -- rollup of the files: best resolution height, hdr, bytes, bitrate
      height int, hdr text, size_bytes bigint not null default 0, bitrate bigint, file_count int not null default 0,
      availability text check (availability in ('missing')), missing_since timestamptz,
      trashed_at timestamptz, trashed_by uuid, trash_reason text,
      taken_at timestamptz,
      shuffle_0 real not null default random(), shuffle_1 real not null default random(),
      shuffle_2 real not null default random(), shuffle_3 real not null default random(),
      added_by uuid,
      change_seq bigint not null default 0,
      revision bigint not null default 1,
      added_at timestamptz not null default now(), updated_at timestamptz not null default now(),
      unique (library_id, type, identity_key)
    );
    create index items_parent on items (parent_id, index_number, id) where trashed_at is null;
    create index items_grandparent on items (grandparent_id) where trashed_at is null;
    create index items_extra_of on items (extra_of) where extra_of is not null;
    create index items_trash on items (library_id, trashed_at, id) where trashed_at is not null;
    create index items_changes on items (library_id, change_seq);
    create index items_external on items using gin (external_ids jsonb_path_ops);
    create index items_title_words on items using gin (foyer_fold(title) gin_trgm_ops);
  `);
  const listed = 'where trashed_at is null and extra_of is null';
  for (const [name, key] of [
    ['title', 'sort_title'],
    ['added', 'added_at'],
    ['released', 'released_on'],
    ['year', 'year'],
    ['rating', 'rating'],
    ['runtime', 'runtime_ms'],
    ['number', 'index_number'],
    ['taken', 'taken_at'],
    ['size', 'size_bytes'],
    ['shuffle_0', 'shuffle_0'],
    ['shuffle_1', 'shuffle_1'],
    ['shuffle_2', 'shuffle_2'],
    ['shuffle_3', 'shuffle_3'],
  ]) {
    await db.raw(`create index items_by_${name} on items (library_id, type, ${key}, id) ${listed}`);
    if (key === 'sort_title' || key?.startsWith('shuffle')) continue;
    await db.raw(
      `create index items_by_${name}_down on items (library_id, type, ${key} desc nulls last, id) ${listed}`,
    );
  }
  await db.raw(`
    create table media_files (
      id uuid primary key,
      item_id uuid not null references items on delete cascade,
      library_id uuid not null references libraries on delete cascade,
      folder_id uuid not null references library_folders on delete cascade,
      storage_id uuid not null references storages,
      -- inside the storage, as the file system spells it
      path text not null,
      size_bytes bigint not null, modified_ms double precision not null, inode text not null default '',
      edition text, edition_rank int not null default 0, part int, parts int,
      container text, duration_ms bigint, start_ms bigint not null default 0, bitrate bigint,
      -- the ProbedFile of api/platform/media.ts; null until probed
      probe jsonb, probe_fault text, probe_version int not null default 0, probed_at timestamptz,
      -- KeyframeIndex as uint32 LE deltas of ms; null when unknown
      keyframes bytea,
      sampled_hash bytea, content_hash bytea,
      missing_since timestamptz,
      ignored boolean not null default false,
      added_at timestamptz not null default now(), updated_at timestamptz not null default now(),
      unique (storage_id, path, library_id)
    );
    create index media_files_item on media_files (item_id);
    create index media_files_folder on media_files (folder_id, path);
    create index media_files_sampled on media_files (size_bytes, sampled_hash) where sampled_hash is not null;

    create table media_streams (
      id uuid primary key,
      file_id uuid not null references media_files on delete cascade,
      stream_index int not null,
      kind text not null check (kind in ('video', 'audio', 'subtitle', 'attachment')),
      codec text not null,
      language text, title text,
      is_default boolean not null default false, forced boolean not null default false,
      hearing_impaired boolean not null default false,
      -- a file beside the film: its path inside the storage, size and time
      external_path text, external_size bigint, external_modified_ms double precision,
      -- the ProbedStream
      probe jsonb not null default '{}',
      unique nulls not distinct (file_id, stream_index, external_path)
    );
    create index media_streams_file on media_streams (file_id);

    create table chapters (
      file_id uuid not null references media_files on delete cascade,
      number int not null, title text not null, start_ms bigint not null, end_ms bigint not null,
      source text not null default 'file', image jsonb,
      primary key (file_id, number)
    );
    create table markers (
      id uuid primary key,
      item_id uuid not null references items on delete cascade, file_id uuid references media_files on delete cascade,
      kind text not null check (kind in ('intro', 'recap', 'credits', 'commercial')),
      start_ms bigint not null, end_ms bigint not null, source text not null
    );
    create index markers_item on markers (item_id);

    create table item_tags (
      item_id uuid not null references items on delete cascade,
      library_id uuid not null references libraries on delete cascade,
      kind text not null check (kind in ('genre', 'tag', 'label', 'studio', 'network', 'country', 'language', 'collection')),
      name text not null, name_folded text not null,
      tag_id uuid,
      primary key (item_id, kind, name_folded)
    );
    create index item_tags_value on item_tags (library_id, kind, name_folded, item_id);

    create table people (
      id uuid primary key, name text not null, name_folded text not null, external_ids jsonb not null default '{}',
      portrait jsonb, created_at timestamptz not null default now()
    );
    create index people_name on people (name_folded);
    create table credits (
      id uuid primary key,
      item_id uuid not null references items on delete cascade,
      person_id uuid not null references people on delete cascade,
      role text not null, character text, job text, position int not null, guest boolean not null default false
    );
    create index credits_item on credits (item_id, position, id);
    create index credits_person on credits (person_id, item_id);

    -- keyed by profile: nobody else reads them
    create table item_states (
      profile_id uuid not null references profiles on delete cascade,
      item_id uuid not null references items on delete cascade,
      library_id uuid not null,
      position_ms bigint not null default 0, file_id uuid,
      progress real not null default 0,
      watched boolean not null default false, play_count int not null default 0, last_played_at timestamptz,
      -- client time of the newest write that counted
      state_at timestamptz,
      reading jsonb,
      rating real, favorite boolean not null default false, rated_at timestamptz,
      updated_at timestamptz not null default now(),
      primary key (profile_id, item_id)
    );
    create index item_states_item on item_states (item_id);
    create index item_states_recent on item_states (profile_id, last_played_at desc) where last_played_at is not null;

    create table item_neighbours (
      item_id uuid not null references items on delete cascade,
      neighbour_id uuid not null references items on delete cascade,
      score real not null, because text[] not null default '{}',
      primary key (item_id, neighbour_id)
    );
    -- deletions, for clients that keep a copy
    create table library_removals (
      library_id uuid not null references libraries on delete cascade,
      seq bigint not null, item_id uuid not null, at timestamptz not null default now(),
      primary key (library_id, seq)
    );
  `);
}
