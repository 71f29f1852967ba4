import type { Knex } from 'knex';
import { buildIndex } from '../build-index.ts';

export async function before(db: Knex): Promise<void> {
  // thumbnails that a person deleted: the row stays until its objects are gone
  await db.raw('alter table trickplay add column if not exists removed_at timestamptz');
  await buildIndex(db, 'trickplay_removed', 'trickplay (removed_at) where removed_at is not null');
  await buildIndex(db, 'markers_file', 'markers (file_id, start_ms)');
}

/** What the analyses of files found, and the files that wait for one. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table analyses (
      file_id uuid not null references media_files on delete cascade,
      name text not null check (name in ('previewThumbnails', 'introDetection', 'creditsDetection')),
      state text not null default 'queued' check (state in ('queued', 'done', 'not-found')),
      -- of the content that the result is of, or will be of
      size_bytes bigint not null, modified_ms double precision not null,
      -- the job that works on the file until due_at
      job_id uuid,
      -- how often a worker took the file and was not heard of again
      tries int not null default 0,
      due_at timestamptz not null default now(),
      at timestamptz not null default now(),
      primary key (file_id, name)
    );
    create index analyses_queue on analyses (name, due_at) where state = 'queued';

    alter table markers
      drop constraint markers_kind_check,
      add constraint markers_kind_check
        check (kind in ('intro', 'recap', 'credits', 'commercial', 'preview', 'highlight')),
      add column confidence real;
    -- a person chose the markers of the file, perhaps none: analyses pass over it
    alter table media_files add column markers_locked boolean not null default false;

    -- the sound of the beginning of an episode, which its season is compared by
    create table intro_sounds (
      file_id uuid primary key references media_files on delete cascade,
      version int not null,
      size_bytes bigint not null, modified_ms double precision not null,
      -- chromaprint as uint32 LE, and the loudness as one byte for each 20 ms
      print bytea not null, loudness bytea not null
    );
  `);
}
