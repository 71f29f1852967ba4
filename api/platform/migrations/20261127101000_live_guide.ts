import type { Knex } from 'knex';

/** Guides: their sources, channels and programmes, and reminders of programmes. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table guide_sources (
      id uuid primary key,
      name text not null,
      kind text not null check (kind in ('xmltv','tuner')),
      -- the tuner whose own guide it is
      tuner_id uuid unique references live_tuners on delete cascade,
      -- as shown, without credentials; null for an uploaded guide and that of a tuner
      address text,
      -- HMAC of the full address, by which a duplicate is found
      address_mark text unique,
      -- of the uploaded guide in foyer-live
      upload_id uuid,
      -- sealed JSON of the full address and of the headers
      secrets text,
      header_names text[] not null default '{}',
      managed_by jsonb,
      managed_fields text[] not null default '{}',
      enabled boolean not null default true,
      priority int not null default 50 check (priority between 0 and 100),
      refresh_hours int not null default 12 check (refresh_hours between 1 and 168),
      refresh_cron text,
      days int not null default 14 check (days between 1 and 21),
      shift_minutes int not null default 0 check (shift_minutes between -720 and 720),
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );

    -- What a refresh left; without a row a source was never refreshed.
    create table guide_states (
      source_id uuid primary key references guide_sources on delete cascade,
      refreshed_at timestamptz,
      -- null is due now
      next_at timestamptz,
      etag text,
      last_modified text,
      channels int not null default 0,
      programs int not null default 0,
      coverage_until timestamptz,
      skipped int not null default 0,
      error jsonb,
      -- failures in a row, and the time of the first one
      failures int not null default 0,
      failing_since timestamptz,
      failure_reported boolean not null default false
    );

    -- Rows of a source that is gone stay until its programmes are deleted in batches, so there is no foreign key.
    create table guide_channels (
      id bigint generated always as identity primary key,
      source_id uuid not null,
      -- by which pages of a list are continued
      row_id uuid not null default gen_random_uuid(),
      guide_id text not null,
      names text[] not null default '{}',
      number text,
      icon_url text,
      programs int not null default 0,
      -- in the last refresh
      listed boolean not null default true,
      suggestion_channel_id uuid,
      suggestion_score real,
      suggestion_by text check (suggestion_by in ('id','name','number')),
      unique (source_id, guide_id)
    );

    -- Titles of programmes and episodes, each once, so that the search index holds thousands of texts and not millions.
    create table guide_titles (
      id bigint generated always as identity primary key,
      text text not null unique,
      folded text not null generated always as (foyer_fold(text)) stored
    );
    create index guide_titles_words on guide_titles using gin (folded gin_trgm_ops);
    create index guide_titles_start on guide_titles (folded text_pattern_ops);

    create table guide_programs (
      id uuid primary key,
      channel bigint not null,
      start_at timestamptz not null,
      end_at timestamptz not null,
      title bigint not null,
      episode_title bigint,
      description text,
      kind text not null,
      categories text[] not null default '{}',
      season_number int,
      episode_number int,
      episode_key text,
      series_key text,
      is_new boolean not null default false,
      is_live boolean not null default false,
      is_repeat boolean not null default false,
      is_premiere boolean not null default false,
      year int,
      original_air_date date,
      age_rating text,
      age_years int,
      star_rating real,
      hd boolean,
      credits jsonb not null default '[]',
      -- of everything but the times: an equal row is not written at a refresh
      hash bytea not null,
      -- checked at the commit, because programmes exchange times within a refresh
      constraint guide_programs_place unique (channel, start_at) deferrable initially deferred
    );
    create index guide_programs_time on guide_programs (start_at, end_at);
    create index guide_programs_title on guide_programs (title, start_at);
    create index guide_programs_episode_title on guide_programs (episode_title, start_at) where episode_title is not null;
    create index guide_programs_series on guide_programs (series_key, start_at) where series_key is not null;
    create index guide_programs_episode on guide_programs (episode_key, start_at) where episode_key is not null;
    create index guide_programs_categories on guide_programs using gin (categories);

    -- Categories of programmes, each once; never removed, because guides use few of them.
    create table guide_categories (
      text text primary key,
      folded text not null generated always as (foyer_fold(text)) stored
    );

    create table program_reminders (
      id uuid primary key,
      profile_id uuid not null references profiles on delete cascade,
      program_id uuid not null,
      lead_ms int not null check (lead_ms between 0 and 3600000),
      created_at timestamptz not null default now(),
      unique (profile_id, program_id)
    );
    create index program_reminders_program on program_reminders (program_id);

    -- Mappings go with their source, also when a deleted tuner takes its guide along.
    create function guide_source_gone() returns trigger language plpgsql as $$
      begin
        update live_channels set guide_source_id = null, guide_channel_id = null, matched_by = null
          where guide_source_id = old.id;
        return null;
      end $$;
    create trigger guide_source_gone after delete on guide_sources for each row execute function guide_source_gone();
  `);
}
