import type { Knex } from 'knex';

/** Whoever runs a job hears at once that it is cancelled. What only waited has ended with the same statement. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create function jobs_tell_cancelled() returns trigger language plpgsql as $$
    begin
      perform pg_notify('foyer_jobs_cancelled', new.id::text);
      return null;
    end $$;
    create trigger jobs_tell_cancelled after update of cancel_requested on jobs for each row
      when (new.cancel_requested and not old.cancel_requested and new.state = 'active')
      execute function jobs_tell_cancelled();
  `);
}
