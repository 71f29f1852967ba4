import type { Knex } from 'knex';

/** What a scan remembers: of directories, of files that are no media, of files that a listing lacked, and of itself between two batches. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table scans
      add column issue_count int not null default 0,
      -- resumes since the last batch that was written: five of them fail the scan
      add column stalls int not null default 0;
    create index scans_guard on scans (library_id) where guard ->> 'decision' = 'pending';

    -- what was last seen of a directory; its path is inside the storage
    create table scan_directories (
      folder_id uuid not null references library_folders on delete cascade,
      path text not null,
      modified_ms double precision not null,
      files int not null,
      -- of names, sizes and times of the sidecars
      signature text not null,
      primary key (folder_id, path)
    );

    -- files called like media that are none: not probed again until they change
    create table scan_faults (
      folder_id uuid not null references library_folders on delete cascade,
      path text not null,
      size_bytes bigint not null, modified_ms double precision not null, inode text not null,
      fault text not null, detail text not null, probe_version int not null,
      primary key (folder_id, path)
    );

    alter table media_files
      add column directory text not null generated always as (regexp_replace(path, '(^|/)[^/]*$', '')) stored,
      -- the scan whose listing lacked it; it is missing once that listing is trusted
      add column absent_scan uuid,
      -- an owner decided to keep it although it is not there
      add column absence_kept boolean not null default false;
    create index media_files_directory on media_files (folder_id, directory);
    create index media_files_absent on media_files (absent_scan) where absent_scan is not null;
  `);
}
