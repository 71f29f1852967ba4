import type { Knex } from 'knex';

/** Requests for subtitles from speech with their checkpoints, batches of them, and the workers that serve them. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table subtitle_batches (
      -- also the id of its job, as of requests
      id uuid primary key,
      account_id uuid references accounts on delete set null,
      -- of the speech, as requested; null takes that of each soundtrack
      language text,
      task text not null check (task in ('transcribe', 'translate')),
      force boolean not null,
      created_at timestamptz not null default now()
    );

    create table subtitle_requests (
      id uuid primary key,
      item_id uuid not null references items on delete cascade,
      file_id uuid not null references media_files on delete cascade,
      audio_stream_id uuid not null,
      -- number of the soundtrack in the file
      audio_index int not null,
      task text not null check (task in ('transcribe', 'translate')),
      model text not null,
      -- of the text, as known at the request: 'auto' until the speech is heard
      language text not null,
      -- of the speech: named by a person, by the soundtrack, or heard
      spoken text,
      spoken_by text not null check (spoken_by in ('person', 'soundtrack', 'heard')),
      state text not null default 'waiting' check (state in ('waiting', 'running', 'finished', 'failed', 'cancelled')),
      duration_ms int not null,
      -- end of the last checkpoint
      heard_ms int not null default 0,
      -- grows with each claim: a worker that lost its lease writes nothing
      epoch int not null default 0,
      worker text, lease_until timestamptz,
      attempts int not null default 0,
      -- workers lost since the last checkpoint
      losses int not null default 0,
      not_before timestamptz,
      -- the language was changed once, because the speech is in another one
      respoken boolean not null default false,
      batch_id uuid references subtitle_batches on delete set null,
      -- order in the batch
      place int,
      account_id uuid references accounts on delete set null,
      use_id uuid references subtitle_uses on delete set null,
      error jsonb,
      stream_id uuid references media_streams on delete set null,
      created_at timestamptz not null default now(), started_at timestamptz, finished_at timestamptz
    );
    create unique index subtitle_requests_open on subtitle_requests (file_id, language, task)
      where state in ('waiting', 'running');
    create index subtitle_requests_line on subtitle_requests (created_at) where state in ('waiting', 'running');
    create index subtitle_requests_item on subtitle_requests (item_id, created_at);
    create index subtitle_requests_file on subtitle_requests (file_id);
    create index subtitle_requests_batch on subtitle_requests (batch_id) where batch_id is not null;
    create index subtitle_requests_stream on subtitle_requests (stream_id) where stream_id is not null;
    create index subtitle_requests_started on subtitle_requests (account_id, started_at) where started_at is not null;

    -- what was heard in each stretch of a soundtrack
    create table subtitle_stretches (
      request_id uuid not null references subtitle_requests on delete cascade,
      number int not null,
      from_ms int not null, to_ms int not null,
      -- [{startMs, endMs, text}] of each word
      words jsonb not null,
      -- the language that the model would have chosen
      heard text,
      primary key (request_id, number)
    );

    create table speech_workers (
      id text primary key,
      model text not null,
      seen_at timestamptz not null default now()
    );

    -- Seconds of work a minute of sound, of the last 50 checkpoints, newest first.
    alter table speech_models
      add column paces double precision[] not null default '{}',
      alter column device drop not null, alter column compute_type drop not null, alter column sha256 drop not null,
      alter column languages set default '{}';

    -- Since when a session is paused; null while it is not.
    alter table playback_sessions add column paused_at timestamptz;
    create function playback_sessions_paused() returns trigger language plpgsql as $$ begin
      new.paused_at := case when new.state <> 'paused' then null else coalesce(old.paused_at, now()) end;
      return new;
    end $$;
    create trigger playback_sessions_paused before update of state on playback_sessions for each row
      when (new.state <> old.state) execute function playback_sessions_paused();

    -- A job of speech that a manager of jobs cancels is cancelled at once: its worker loses the lease.
    create function subtitle_jobs_cancelled() returns trigger language plpgsql as $$ begin
      new.state := 'cancelled';
      new.finished_at := now();
      if new.kind = 'subtitles.generate' then
        update subtitle_uses u set given_back_at = now() from subtitle_requests r
          where r.id = new.id and r.use_id = u.id and r.state in ('waiting', 'running') and u.given_back_at is null;
        delete from subtitle_stretches where request_id = new.id;
        update subtitle_requests set state = 'cancelled', finished_at = now(), epoch = epoch + 1, lease_until = null
          where id = new.id and state in ('waiting', 'running');
      end if;
      return new;
    end $$;
    create trigger subtitle_jobs_cancelled before update of cancel_requested on jobs for each row
      when (new.kind in ('subtitles.generate', 'subtitles.batch') and new.cancel_requested and not old.cancel_requested
        and old.state in ('waiting', 'delayed', 'active'))
      execute function subtitle_jobs_cancelled();

    -- A request under way that goes with its item or file ends its job, and its use is given back.
    create function subtitle_requests_gone() returns trigger language plpgsql as $$ begin
      update subtitle_uses set given_back_at = now() where id = old.use_id and given_back_at is null;
      update jobs set state = 'cancelled', finished_at = now(), updated_at = now()
        where id = old.id and state in ('waiting', 'delayed', 'active');
      return old;
    end $$;
    create trigger subtitle_requests_gone before delete on subtitle_requests for each row
      when (old.state in ('waiting', 'running')) execute function subtitle_requests_gone();
  `);
}
