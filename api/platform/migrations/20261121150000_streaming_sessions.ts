import type { Knex } from 'knex';

/** Transcode sessions: the plan, who works on it until when, and what is wanted next. Playlists come from `plan` alone. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table transcode_sessions (
      id uuid primary key,
      playback_session_id uuid not null,
      account_id uuid not null, profile_id uuid not null,
      item_id uuid not null, file_id uuid not null,
      -- StreamPlan of area Streaming
      plan jsonb not null,
      state text not null check (state in ('starting', 'running', 'idle', 'stopped', 'failed')),
      error jsonb,
      restarts int not null default 0,
      speed real,
      -- the worker that holds the lease; the row is free once the time has passed
      lease_holder text, lease_until timestamptz, worker jsonb,
      wanted_rendition text, wanted_segment int not null default 0, wanted_at timestamptz not null default now(),
      paused boolean not null default false,
      last_access_at timestamptz,
      stop_at timestamptz, stopped_at timestamptz, purged_at timestamptz,
      created_at timestamptz not null default now()
    );
    create index transcode_sessions_playback on transcode_sessions (playback_session_id);
    create index transcode_sessions_open on transcode_sessions (wanted_at) where state in ('starting', 'running', 'idle');
    create index transcode_sessions_purge on transcode_sessions (stopped_at) where stopped_at is not null and purged_at is null;

    create table preroll_clips (
      id uuid primary key,
      position int not null,
      item_id uuid not null references items on delete cascade,
      title text not null, duration_ms bigint not null,
      weight int not null default 1,
      season jsonb, library_ids uuid[] not null default '{}', age_rating text,
      state text not null default 'preparing' check (state in ('preparing', 'ready', 'failed')),
      error text,
      made_from text
    );
    create table trickplay (
      file_id uuid not null references media_files on delete cascade,
      width int not null,
      height int not null, columns int not null, rows int not null, thumbs int not null, sheets int not null,
      interval_ms int not null, duration_ms bigint not null, size_bytes bigint not null,
      made_at timestamptz not null default now(),
      primary key (file_id, width)
    );
  `);
}
