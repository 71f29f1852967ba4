import type { Knex } from 'knex';

/** The speech in soundtracks, as the analysis found it. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table voice_activity (
      file_id uuid primary key references media_files on delete cascade,
      stream_index int not null,
      version int not null,
      size_bytes bigint not null, modified_ms double precision not null,
      -- starts and ends in turn, as uint32 LE deltas of ms
      spans bytea not null
    );
    alter table analyses
      drop constraint analyses_name_check,
      add constraint analyses_name_check
        check (name in ('previewThumbnails', 'introDetection', 'creditsDetection', 'voiceActivity')) not valid;
    alter table analyses validate constraint analyses_name_check;
  `);
}
