import type { Knex } from 'knex';

/** The window of heavy work, and what people changed about scheduled tasks with the next run of each. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table maintenance (
      one boolean primary key default true check (one),
      "window" jsonb not null default '{}', hold_until timestamptz, revision bigint not null default 1
    );
    insert into maintenance default values;
    create table maintenance_tasks (
      id text primary key,
      enabled boolean not null default true, trigger text, cron text, every_ms bigint,
      next_run_at timestamptz, moved boolean not null default false, window_opened_at timestamptz,
      failures int not null default 0, average_ms float8,
      last_job_id uuid, last_state text, last_started_at timestamptz, last_finished_at timestamptz, last_error jsonb, last_summary jsonb
    );
  `);
}
