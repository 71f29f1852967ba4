import type { Knex } from 'knex';

/** listJobs walks an index in the orders that people ask for, and finds what its filters name, however many jobs wait. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create index jobs_latest on jobs (((state = 'active')::int) desc, created_at desc, id) where parent_id is null;
    create index jobs_kind on jobs (kind text_pattern_ops, created_at desc);
    create index jobs_target on jobs ((target ->> 'id'));
    create index jobs_priority on jobs (priority, id) where parent_id is null;
    create index jobs_progress on jobs (progress, id) where parent_id is null;
    create index jobs_started on jobs (started_at desc nulls last, id) where parent_id is null;
    create index jobs_ended on jobs (finished_at desc nulls last, id) where parent_id is null;
  `);
}
