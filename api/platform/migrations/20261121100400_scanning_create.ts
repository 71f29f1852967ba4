import type { Knex } from 'knex';

/** Scans and what they found wrong. At most one waits and one runs a library. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table scans (
      id uuid primary key,
      library_id uuid not null references libraries on delete cascade,
      state text not null default 'queued' check (state in ('queued', 'running', 'completed', 'failed', 'cancelled')),
      mode text not null check (mode in ('quick', 'full', 'deep')),
      trigger text not null,
      by_account_id uuid, job_id uuid,
      phase text,
      counts jsonb not null default '{}', folders jsonb not null default '[]', guard jsonb, targets jsonb,
      include_ignored boolean not null default false,
      cancel_requested boolean not null default false,
      -- directories done, so that another worker goes on from there
      checkpoint jsonb, lease_until timestamptz, lease_holder text, resumes int not null default 0,
      error jsonb,
      queued_at timestamptz not null default now(), started_at timestamptz, finished_at timestamptz
    );
    create unique index scans_one_queued on scans (library_id) where state = 'queued';
    create unique index scans_one_running on scans (library_id) where state = 'running';
    create index scans_library on scans (library_id, queued_at desc);

    create table scan_issues (
      id uuid primary key,
      scan_id uuid not null references scans on delete cascade,
      kind text not null, folder_id uuid not null, path text not null, detail text, item_id uuid,
      at timestamptz not null default now()
    );
    create index scan_issues_scan on scan_issues (scan_id, at, id);
  `);
}
