import type { Knex } from 'knex';

/** Jobs are the record of background work (graphile-worker runs it); events go out through the outbox in one order. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table jobs (
      id uuid primary key,
      kind text not null, queue text not null,
      state text not null default 'waiting'
        check (state in ('waiting', 'delayed', 'active', 'completed', 'failed', 'cancelled')),
      -- equal work is one job: unique while it waits
      key text,
      payload jsonb not null default '{}', checkpoint jsonb,
      progress real not null default 0, phase text,
      target jsonb, library_id uuid, parent_id uuid references jobs on delete cascade,
      by_account_id uuid, cause text not null default 'system',
      attempts int not null default 0, max_attempts int not null default 5, losses int not null default 0,
      priority int not null default 50,
      error jsonb, result jsonb, cancel_requested boolean not null default false,
      run_at timestamptz, created_at timestamptz not null default now(), started_at timestamptz, finished_at timestamptz,
      updated_at timestamptz not null default now(), worker text
    );
    create unique index jobs_key on jobs (key) where key is not null and state in ('waiting', 'delayed');
    create index jobs_state on jobs (state, queue, created_at);
    create index jobs_created on jobs (created_at desc, id);
    create index jobs_parent on jobs (parent_id) where parent_id is not null;

    create table outbox (
      seq bigint generated always as identity primary key,
      id uuid not null, event text not null, at timestamptz not null default now(),
      payload jsonb not null, facts jsonb not null default '{}'
    );
    create table events (
      number bigint primary key,
      id uuid not null unique, event text not null, at timestamptz not null,
      payload jsonb not null, facts jsonb not null default '{}'
    );
  `);
}
