import type { Knex } from 'knex';

/** Open and ended playback sessions; the rows are the truth, so that losing Redis or a pod loses none. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table playback_sessions (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      profile_id uuid not null references profiles on delete cascade,
      item_id uuid not null references items on delete cascade,
      file_id uuid not null,
      library_id uuid not null,
      device_id uuid, client_name text, platform text, address text, is_remote boolean not null default false,
      state text not null default 'buffering' check (state in ('buffering', 'playing', 'paused', 'stopped')),
      method text not null,
      decision jsonb not null, profile jsonb, url text not null, transcode_session_id uuid,
      position_ms bigint not null default 0, duration_ms bigint, rate real not null default 1,
      -- opened by a file request without a session: ended after 60 idle seconds
      implicit boolean not null default false,
      encodes boolean not null default false,
      counted_play boolean not null default false,
      cast_device_id uuid, room_id uuid, queue_id uuid,
      commands jsonb not null default '[]',
      started_at timestamptz not null default now(), last_report_at timestamptz not null default now(),
      last_bytes_at timestamptz not null default now(), last_progress_event_at timestamptz,
      warned_at timestamptz,
      stopped_at timestamptz, stop_reason text
    );
    create index playback_sessions_open on playback_sessions (account_id) where state <> 'stopped';
    create index playback_sessions_live on playback_sessions (last_report_at) where state <> 'stopped';
    create index playback_sessions_account on playback_sessions (account_id, started_at desc, id);
    create index playback_sessions_started on playback_sessions (started_at desc, id);
    create index playback_sessions_library on playback_sessions (library_id) where state <> 'stopped';

    create table playback_synced (
      profile_id uuid not null references profiles on delete cascade, client_event_id uuid not null,
      at timestamptz not null default now(),
      primary key (profile_id, client_event_id)
    );
    -- tracks chosen last in a show, by profile
    create table track_choices (
      profile_id uuid not null references profiles on delete cascade,
      item_id uuid not null references items on delete cascade,
      audio_language text, subtitle_language text, subtitle_off boolean not null default false,
      updated_at timestamptz not null default now(),
      primary key (profile_id, item_id)
    );
    -- what was played, for Stats
    create table play_history (
      id uuid primary key,
      profile_id uuid not null references profiles on delete cascade, account_id uuid not null,
      item_id uuid not null references items on delete cascade,
      at timestamptz not null, played_ms bigint not null, session_id uuid
    );
    create index play_history_profile on play_history (profile_id, at desc);
  `);
}
