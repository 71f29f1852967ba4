import type { Knex } from 'knex';

/** Findings of subtitle providers, the lease of a search, the index of the subtitle folder, and uses in progress. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table subtitle_searches (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      item_id uuid not null references items on delete cascade,
      -- hash of everything that decides what is found
      question text not null,
      -- a search of somebody with limits
      counted boolean not null,
      languages text[] not null,
      -- SubtitleCandidate with the provider's file, best first; the id of a finding is that of the search and its place
      candidates jsonb not null,
      providers jsonb not null,
      -- of the requests to the providers; a search that has the findings of an earlier one has its time
      queried_at timestamptz not null,
      made_at timestamptz not null default now()
    );
    create index subtitle_searches_question on subtitle_searches (question, queried_at);
    create index subtitle_searches_account on subtitle_searches (account_id, made_at);
    create index subtitle_searches_item on subtitle_searches (item_id, made_at);

    create table subtitle_leases (
      account_id uuid primary key references accounts on delete cascade,
      token uuid not null,
      until timestamptz not null
    );

    create table subtitle_folder (
      -- inside the storage
      path text not null,
      -- name inside an archive, else empty
      entry text not null,
      size_bytes bigint not null, modified_ms double precision not null,
      release text not null,
      -- title in lower case with single spaces
      title text not null,
      year int, season int, episode int,
      imdb text, tmdb text,
      -- 16 hexadecimal digits
      movie_hash text,
      -- 'und' when neither the name nor the text says it
      language text not null,
      forced boolean not null, hearing_impaired boolean not null,
      format text not null,
      primary key (path, entry)
    );
    create index subtitle_folder_title on subtitle_folder (title);
    create index subtitle_folder_hash on subtitle_folder (movie_hash) where movie_hash is not null;
    create index subtitle_folder_imdb on subtitle_folder (imdb) where imdb is not null;
    create index subtitle_folder_tmdb on subtitle_folder (tmdb) where tmdb is not null;

    -- origin of texts that were written beside the film
    create table subtitle_origins (
      stream_id uuid primary key references media_streams on delete cascade,
      file_id uuid not null references media_files on delete cascade,
      provider text not null, provider_file text not null,
      sha256 text not null
    );
    create index subtitle_origins_file on subtitle_origins (file_id);

    -- the work of the use is not finished; after this time it counts as given back
    alter table subtitle_uses add column pending_until timestamptz;
  `);
}
