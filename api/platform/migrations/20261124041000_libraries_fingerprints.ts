import type { Knex } from 'knex';

/** Fingerprints of files, those that wait for one, and the pairs that are nearly alike. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table fingerprints (
      file_id uuid not null references media_files on delete cascade,
      kind text not null check (kind in ('content', 'image', 'video', 'audio')),
      state text not null default 'queued' check (state in ('queued', 'done', 'failed')),
      -- of the algorithm, and of the content that it is of
      version int not null, size_bytes bigint not null, modified_ms double precision not null,
      -- 64 bits of a picture, a film or a sound, and its four bands of 16 bits, each with the number of its band
      hash bigint, bands int[],
      -- chromaprint as uint32 LE, of sounds
      print bytea,
      -- SHA-256 of the whole file, where another one has its size and sampled hash
      content bytea,
      job_id uuid,
      tries int not null default 0,
      due_at timestamptz not null default now(),
      at timestamptz not null default now(),
      primary key (file_id, kind)
    );
    create index fingerprints_queue on fingerprints (kind, due_at) where state = 'queued';
    create index fingerprints_bands on fingerprints using gin (bands) where bands is not null;
    create index fingerprints_content on fingerprints (content) where content is not null;

    create table near_files (
      kind text not null,
      one uuid not null references media_files on delete cascade,
      other uuid not null references media_files on delete cascade,
      -- differing bits of 64
      distance int not null,
      primary key (kind, one, other)
    );
    create index near_files_other on near_files (other);
  `);
}
