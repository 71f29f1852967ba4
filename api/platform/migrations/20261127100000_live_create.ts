import type { Knex } from 'knex';

/** Tuners, the channels that they receive, and the streams that are tuned. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table live_tuners (
      id uuid primary key,
      library_id uuid not null references libraries on delete cascade,
      name text not null,
      kind text not null check (kind in ('hdhomerun','m3u')),
      managed_by jsonb,
      managed_fields text[] not null default '{}',
      -- as shown, without credentials; null for an uploaded playlist or a device found by its id
      address text,
      device_id text,
      -- sealed JSON of the full address and of the headers
      secrets text,
      header_names text[] not null default '{}',
      -- key of the uploaded playlist in foyer-live
      playlist_object text,
      enabled boolean not null default true,
      priority int not null default 50,
      slot_count int not null default 1 check (slot_count between 1 and 100),
      -- slot_count is what a person or resource said, not what the device says
      own_slots boolean not null default false,
      user_agent text,
      include jsonb,
      exclude jsonb,
      numbering text not null default 'source' check (numbering in ('source','sequential')),
      buffer_minutes int,
      recordings_folder_id uuid,
      refresh_hours int not null default 24,
      -- id, model and firmware
      device jsonb,
      -- sealed: the guide that the device or its playlist names
      own_guide text,
      state text not null default 'starting' check (state in ('starting','ready','scanning','unreachable','disabled','failed')),
      state_reason text,
      last_scan jsonb,
      next_scan_at timestamptz,
      -- a test of a channel runs on a free slot until then
      tested_until timestamptz,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
    create index live_tuners_library on live_tuners (library_id);
    create unique index live_tuners_device on live_tuners (device_id) where device_id is not null;

    create table live_channels (
      id uuid primary key references items on delete cascade,
      library_id uuid not null references libraries on delete cascade,
      number text not null,
      -- thousandths of the number: 2.10 is 2010
      number_order int not null,
      name text not null,
      call_sign text,
      kind text not null default 'tv' check (kind in ('tv','radio')),
      group_name text,
      enabled boolean not null default true,
      hd boolean not null default false,
      drm boolean not null default false,
      age_rating text,
      language text,
      guide_source_id uuid,
      guide_channel_id text,
      matched_by text check (matched_by in ('id','name','number','hand')),
      locked_fields text[] not null default '{}',
      added_at timestamptz not null default now()
    );
    create unique index live_channels_number on live_channels (library_id, number) where enabled;
    create index live_channels_guide on live_channels (guide_source_id, guide_channel_id) where guide_source_id is not null;

    create table live_sources (
      id uuid primary key,
      channel_id uuid not null references live_channels on delete cascade,
      tuner_id uuid not null references live_tuners on delete cascade,
      -- what a rescan recognises it by: the number at a device, else tvg-id and address
      remote_key text not null,
      remote_number text not null,
      remote_name text not null,
      remote_group text,
      tvg_id text,
      logo_url text,
      -- sealed: the address of the stream
      address text not null,
      quality text check (quality in ('sd','hd','uhd','audio')),
      -- order in which a session tries the sources of a channel
      position int not null default 0,
      enabled boolean not null default true,
      drm boolean not null default false,
      -- scans in a row that did not find it
      missed_scans int not null default 0,
      last_test jsonb,
      unique (tuner_id, remote_key)
    );
    create index live_sources_channel on live_sources (channel_id, position);

    create table live_favorites (
      profile_id uuid not null references profiles on delete cascade,
      channel_id uuid not null references live_channels on delete cascade,
      created_at timestamptz not null default now(),
      primary key (profile_id, channel_id)
    );
    create index live_favorites_channel on live_favorites (channel_id);

    -- A channel being received. An open row holds a slot of its tuner.
    create table live_streams (
      id uuid primary key,
      channel_id uuid not null references live_channels on delete cascade,
      source_id uuid references live_sources on delete set null,
      tuner_id uuid not null references live_tuners on delete cascade,
      slot int not null,
      -- rises when another tuner or pod goes on with the stream
      epoch int not null default 1,
      state text not null default 'tuning' check (state in ('tuning','live','ended')),
      state_reason text,
      -- the last time that a viewer or recording needed it
      wanted_at timestamptz not null default now(),
      started_at timestamptz not null default now(),
      first_segment_at timestamptz,
      ended_at timestamptz
    );
    create unique index live_streams_slot on live_streams (tuner_id, slot) where ended_at is null;
    create unique index live_streams_open on live_streams (channel_id) where ended_at is null;
    create index live_streams_channel on live_streams (channel_id, started_at);

    -- Parts of a broadcast that were not received.
    create table live_outages (
      channel_id uuid not null references live_channels on delete cascade,
      from_at timestamptz not null,
      to_at timestamptz,
      reason text not null,
      primary key (channel_id, from_at)
    );
  `);
}
