import type { Knex } from 'knex';

/** The text of subtitle tracks in stretches of about a minute, and the files whose tracks changed since they were read. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- one track of each language of a file
    create table transcript_tracks (
      stream_id uuid primary key references media_streams on delete cascade,
      file_id uuid not null references media_files on delete cascade,
      item_id uuid not null references items on delete cascade,
      library_id uuid not null,
      language text not null, generated boolean not null,
      -- identity of the text that was read
      content text not null,
      read_at timestamptz not null default now()
    );
    create index transcript_tracks_file on transcript_tracks (file_id);
    create index transcript_tracks_item on transcript_tracks (item_id);

    create table transcripts (
      id uuid not null default gen_random_uuid(),
      library_id uuid not null,
      stream_id uuid not null references transcript_tracks on delete cascade,
      number int not null,
      -- in the times of the track, without its correction
      start_ms int not null,
      -- [[start, end, text]] of each cue; the first one is the last of the stretch before
      cues jsonb not null,
      -- the words of that first one have the weight B, the others A
      words tsvector not null,
      primary key (library_id, stream_id, number)
    );
    create index transcripts_stream on transcripts (stream_id);
    create index transcripts_words on transcripts using gin (words);
    create index transcripts_id on transcripts (id);
  `);
  await db.raw(`
    -- a file that becomes part of another item takes its words along
    create function foyer_transcripts_moved() returns trigger language plpgsql as $$ begin
      update transcript_tracks k set item_id = n.item_id from moved n
        where k.file_id = n.id and n.item_id is not null and k.item_id <> n.item_id;
      return null;
    end $$;
    create trigger media_files_transcripts_moved after update on media_files referencing new table as moved
      for each statement execute function foyer_transcripts_moved();
    create table transcript_due (file_id uuid primary key, since timestamptz not null default clock_timestamp());
    create function foyer_transcripts_note(ids uuid[]) returns void language sql as $$
      insert into transcript_due (file_id) select distinct one.id from unnest(ids) as one(id) where one.id is not null order by 1
        on conflict (file_id) do update set since = clock_timestamp()
    $$;
    create function foyer_transcripts_streams() returns trigger language plpgsql as $$ begin
      perform foyer_transcripts_note((select array_agg(distinct file_id) from changed where kind = 'subtitle'));
      return null;
    end $$;
    create trigger media_streams_transcripts_made after insert on media_streams referencing new table as changed
      for each statement execute function foyer_transcripts_streams();
    create trigger media_streams_transcripts_changed after update on media_streams referencing new table as changed
      for each statement execute function foyer_transcripts_streams();
    create trigger media_streams_transcripts_gone after delete on media_streams referencing old table as changed
      for each statement execute function foyer_transcripts_streams();
    create function foyer_transcripts_kept() returns trigger language plpgsql as $$ begin
      perform foyer_transcripts_note((select array_agg(distinct file_id) from changed));
      return null;
    end $$;
    create trigger kept_subtitles_transcripts_made after insert on kept_subtitles referencing new table as changed
      for each statement execute function foyer_transcripts_kept();
    create trigger kept_subtitles_transcripts_changed after update on kept_subtitles referencing new table as changed
      for each statement execute function foyer_transcripts_kept();
  `);
}
