import type { Knex } from 'knex';

/** Uploads of photos, their stored chunks, and the hashes of the files that they became. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table uploads (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      library_id uuid references libraries on delete set null,
      album_id uuid,
      -- X-Client-Id and X-Client-Name of the device
      client_id text,
      device_name text,
      name text not null,
      size_bytes bigint not null check (size_bytes > 0),
      chunk_bytes int not null,
      chunk_count int not null,
      mime text,
      -- announced by the device, in hex
      announced_sha256 text,
      -- read from the stored object, in hex
      sha256 text,
      modified_at timestamptz,
      taken_at timestamptz,
      pair_key text,
      client_file_id text,
      state text not null default 'receiving' check (state in
        ('receiving','verifying','importing','finished','duplicate','failed','cancelled','expired')),
      error_reason text,
      item_id uuid references items on delete set null,
      -- id of the multipart upload of the store
      parts_id text,
      -- set before the file appears under its name: the library folder, and the path in its storage
      folder_id uuid,
      path text,
      -- since when the storage is unavailable
      gone_since timestamptz,
      notified boolean not null default false,
      -- ended, and removed from the list by its owner; its hash is still known
      forgotten boolean not null default false,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      ended_at timestamptz
    );
    create index uploads_account on uploads (account_id, created_at desc);
    create index uploads_open on uploads (updated_at) where ended_at is null;
    create index uploads_pairs on uploads (library_id, pair_key) where pair_key is not null;
    create index uploads_hashes on uploads (library_id, sha256) where sha256 is not null;
    create index uploads_untold on uploads (account_id, ended_at) where ended_at is not null and not notified;

    create table upload_chunks (
      upload_id uuid not null references uploads on delete cascade,
      index int not null check (index >= 0),
      sha256 text not null,
      etag text not null,
      primary key (upload_id, index)
    );
  `);
}
