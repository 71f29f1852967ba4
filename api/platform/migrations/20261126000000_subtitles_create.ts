import type { Knex } from 'knex';

/** Texts that the server keeps, timing corrections, uses of the daily allowance, and the speech models that workers found. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- the text of the track is in kept_subtitles, not in the file and not beside it
    alter table media_streams add column kept boolean not null default false;

    create table kept_subtitles (
      stream_id uuid primary key references media_streams on delete cascade,
      file_id uuid not null references media_files on delete cascade,
      source text not null check (source in ('fetched', 'generated')),
      -- of the object 'kept/<sha256>' in bucket foyer-subtitles, in hexadecimal digits
      sha256 text not null,
      format text not null check (format in ('srt', 'vtt', 'ass')),
      cue_count int not null,
      -- of fetched texts: the provider, its own id of the file, and the release
      provider text, provider_file text, release text,
      -- of generated texts
      model text, task text check (task in ('transcribe', 'translate')),
      account_id uuid references accounts on delete set null,
      added_at timestamptz not null default now()
    );
    create index kept_subtitles_file on kept_subtitles (file_id);
    create index kept_subtitles_bytes on kept_subtitles (sha256);

    create table subtitle_syncs (
      file_id uuid not null references media_files on delete cascade,
      -- 'e:<stream index>' of the file, 'x:<path>' beside it, 'k:<stream id>' of kept texts
      track text not null,
      -- identity of the track's bytes that the correction fits; with other bytes it does not hold
      content text not null,
      offset_ms int not null, rate double precision not null default 1,
      -- [{fromMs, offsetMs}] in order
      pieces jsonb not null default '[]',
      source text not null check (source in ('manual', 'auto')),
      confidence double precision,
      version text not null,
      account_id uuid references accounts on delete set null,
      set_at timestamptz not null default now(),
      primary key (file_id, track)
    );

    create table subtitle_uses (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      kind text not null check (kind in ('fetch', 'sync', 'generate')),
      item_id uuid,
      spent_at timestamptz not null default now(),
      given_back_at timestamptz
    );
    create index subtitle_uses_account on subtitle_uses (account_id, spent_at);

    create table speech_models (
      name text primary key,
      -- empty when it can be used
      fault text not null default '',
      device text not null check (device in ('gpu', 'cpu')),
      compute_type text not null,
      sha256 text not null,
      -- codes of the languages that it hears
      languages text[] not null,
      -- of processing a minute of sound, measured with the built-in sample
      seconds_per_minute double precision,
      -- what a worker said of the device, such as a fallback to the CPU
      note text,
      seen_at timestamptz not null default now()
    );
  `);
}
