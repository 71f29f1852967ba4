import type { Knex } from 'knex';

export async function up(db: Knex): Promise<void> {
  await db.raw(`
    -- where backups go or went: a place that was left still has its backups
    create table backup_places (
      id uuid primary key,
      kind text not null check (kind in ('builtin', 's3', 'storage')),
      -- s3: endpoint, region, bucket, prefix, pathStyle, accessKeyId; storage: storageId, path
      place jsonb not null default '{}',
      secret text,
      -- the resource names it: its address is the deployment's own word
      declared boolean not null default false,
      state text not null default 'ok' check (state in ('ok', 'unreachable', 'read-only', 'full')),
      state_reason text, free_bytes bigint,
      listed_at timestamptz,
      -- since when objects may lie there that no manifest names
      loose_since timestamptz
    );
    insert into backup_places (id, kind) values ('00000000-0000-7000-8000-000000000001', 'builtin');

    create table backup_settings (
      one boolean primary key default true check (one),
      enabled boolean not null default true,
      cron text not null default '30 3 * * *', verify_cron text not null default '0 5 * * 0',
      keep jsonb not null default '{"last": 3, "daily": 7, "weekly": 4, "monthly": 6}',
      before_upgrade boolean not null default true,
      objects text not null default 'kept' check (objects in ('kept', 'all')),
      place_id uuid not null references backup_places, copy_id uuid references backup_places,
      -- sealed; with it salt and fingerprint of its key
      passphrase text, salt text, fingerprint text,
      max_bytes_per_second bigint,
      -- members that the resource declares, and a mark of what it last declared
      managed_fields text[] not null default '{}', declared_mark text,
      -- the schedule counts from here
      scheduled_at timestamptz not null default now(), verified_at timestamptz not null default now(),
      -- failing is judged from here on, and told once
      enabled_at timestamptz not null default now(), noticed_at timestamptz,
      revision bigint not null default 0
    );
    insert into backup_settings (place_id) values ('00000000-0000-7000-8000-000000000001');

    create table backups (
      id uuid primary key,
      state text not null check (state in
        ('queued', 'running', 'completed', 'verified', 'failed', 'cancelled', 'damaged', 'missing', 'replaced')),
      trigger text not null check (trigger in ('person', 'schedule', 'before-restore', 'before-upgrade', 'found')),
      phase text, progress real not null default 0,
      place_id uuid not null references backup_places,
      copies jsonb not null default '[]',
      server_id uuid not null, server_name text not null, server_version text not null, schema_version text not null,
      tables int not null default 0, rows bigint not null default 0, database_bytes bigint not null default 0,
      snapshot_at timestamptz,
      objects_mode text not null check (objects_mode in ('kept', 'all')),
      objects_count int not null default 0, objects_bytes bigint not null default 0, new_bytes bigint not null default 0,
      size_bytes bigint not null default 0,
      encryption jsonb,
      verification jsonb,
      -- found by reading it; a newer version and another passphrase are judged at each look
      fault text check (fault in ('damaged', 'incomplete', 'other-format')),
      pinned boolean not null default false, keep_until timestamptz, note text,
      job_id uuid, by_account_id uuid, error jsonb,
      started_at timestamptz not null default now(), finished_at timestamptz
    );
    create unique index backups_one on backups ((true)) where state in ('queued', 'running');
    create index backups_started on backups (started_at desc, id);

    -- hashes of objects that were read once: a nightly backup reads only what is new
    create table backup_hashes (
      bucket text not null, key text not null, etag text not null, bytes bigint not null, sha256 text not null,
      primary key (bucket, key)
    );
  `);
}
