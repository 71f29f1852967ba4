import type { Knex } from 'knex';

/** Recordings of programmes and the rules that make them. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table recording_rules (
      id uuid primary key,
      -- null once the account is gone; such a rule is switched off
      account_id uuid references accounts on delete set null,
      name text not null,
      enabled boolean not null default true,
      -- filter over programmes
      match text not null,
      series_key text,
      -- empty is every channel
      channel_ids uuid[] not null default '{}',
      new_only boolean not null default true,
      skip_owned boolean not null default true,
      -- mon to sun; empty is every day
      days text[] not null default '{}',
      -- HH:MM in the time zone of the server, between which a programme begins
      from_time text,
      to_time text,
      start_pad_ms int not null check (start_pad_ms between 0 and 3600000),
      end_pad_ms int not null check (end_pad_ms between 0 and 10800000),
      priority int not null default 50 check (priority between 0 and 100),
      keep_last int check (keep_last between 1 and 100),
      keep_days int check (keep_days between 1 and 3650),
      max_upcoming int not null default 50 check (max_upcoming between 1 and 200),
      library_id uuid not null references libraries on delete cascade,
      folder_id uuid references library_folders on delete set null,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index recording_rules_account on recording_rules (account_id);

    create table recordings (
      id uuid primary key,
      -- from the first segment on
      item_id uuid references items on delete set null,
      channel_id uuid references live_channels on delete set null,
      channel_name text not null,
      program_id uuid,
      rule_id uuid references recording_rules on delete set null,
      account_id uuid references accounts on delete set null,
      title text not null,
      episode_title text,
      description text,
      categories text[] not null default '{}',
      kind text not null default 'other',
      season_number int,
      episode_number int,
      episode_key text,
      series_key text,
      year int,
      original_air_date date,
      age_rating text,
      age_years int,
      -- of the programme
      start_at timestamptz not null,
      end_at timestamptz not null check (end_at > start_at),
      start_pad_ms int not null check (start_pad_ms between 0 and 3600000),
      end_pad_ms int not null check (end_pad_ms between 0 and 10800000),
      priority int not null default 50 check (priority between 0 and 100),
      state text not null default 'scheduled'
        check (state in ('scheduled','conflict','recording','completed','partial','failed','cancelled')),
      state_reason text check (state_reason in ('tuners-busy','tuner-unreachable','no-signal','drm','disk-full','programme-gone',
        'stopped','gaps','server-down')),
      -- where the file goes
      library_id uuid not null references libraries on delete cascade,
      folder_id uuid references library_folders on delete set null,
      -- null is for ever
      keep_days int check (keep_days between 1 and 3650),
      -- a person changed it: its rule leaves it alone
      by_hand boolean not null default false,
      -- takes what the buffer of the channel holds of it in front
      from_buffer boolean not null default true,
      -- the plan: times with the padding that fits, and the slot; null while in conflict
      planned_from timestamptz,
      planned_to timestamptz,
      tuner_id uuid references live_tuners on delete set null,
      slot int,
      -- with, slotsNeeded, slotsFree, from, to, alternatives (ids of programmes)
      conflict jsonb,
      -- stops at once; what there is stays
      stop_at timestamptz,
      -- the recorder: from when on the broadcast is wanted, and what was caught
      started_at timestamptz,
      ended_at timestamptz,
      recorded_ms bigint not null default 0,
      size_bytes bigint not null default 0,
      -- from and to, ISO times, with a reason
      gaps jsonb not null default '[]',
      -- of the last stored segment
      last_sequence bigint,
      lease_holder text,
      lease_until timestamptz,
      -- the file: null until live.finish has joined it; its directory and name below the folder
      file_path text,
      file_folder_id uuid references library_folders on delete set null,
      finished_at timestamptz,
      -- the segments are removed
      cleared_at timestamptz,
      -- it left the list; the row stays, so that rules know which episodes were recorded
      removed_at timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create unique index recordings_program on recordings (program_id) where state in ('scheduled','conflict','recording');
    create index recordings_open on recordings (start_at) where state in ('scheduled','conflict','recording');
    create index recordings_item on recordings (item_id) where item_id is not null;
    create index recordings_rule on recordings (rule_id, start_at) where rule_id is not null;
    create index recordings_account on recordings (account_id, state);
    create index recordings_episode on recordings (episode_key) where episode_key is not null;
    create index recordings_start on recordings (start_at, id);
    create index recordings_airing on recordings (program_id, created_at) where program_id is not null;
    create index recordings_running on recordings (channel_id) where state = 'recording';
    create index recordings_title on recordings (title) where episode_key is null;
    create index recordings_unfinished on recordings (ended_at) where cleared_at is null and ended_at is not null;

    -- One row: when the plan was made last, and whether something changed since.
    create table recording_plan (
      single boolean primary key default true check (single),
      computed_at timestamptz,
      stale boolean not null default true
    );
    insert into recording_plan default values;

    -- A stream gives its slot to a recording at this time.
    alter table live_streams add yields_at timestamptz;
  `);
}
