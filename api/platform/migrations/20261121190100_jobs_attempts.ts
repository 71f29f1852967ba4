import type { Knex } from 'knex';

/** Each attempt of a job, and how many jobs there are: kept by statement, summed when read, so that a million rows are never counted. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table job_attempts (
      job_id uuid not null references jobs on delete cascade,
      number int not null, started_at timestamptz not null, finished_at timestamptz,
      pod text not null, node text, outcome text, error jsonb,
      primary key (job_id, number)
    );
    alter table jobs add column worker_node text;
    create index jobs_changed on jobs (updated_at);
    create index jobs_finished on jobs (queue, state, finished_at) where finished_at is not null;
    create index jobs_library on jobs (library_id) where library_id is not null;
    create index jobs_account on jobs (by_account_id, created_at desc) where by_account_id is not null;

    create table job_counts (queue text not null, state text not null, n int not null);
    insert into job_counts select queue, state, count(*) from jobs group by 1, 2;
    create function job_counts_added() returns trigger language plpgsql as $$ begin
      insert into job_counts select queue, state, count(*) from added group by 1, 2;
      return null;
    end $$;
    create function job_counts_removed() returns trigger language plpgsql as $$ begin
      insert into job_counts select queue, state, -count(*) from removed group by 1, 2;
      return null;
    end $$;
    create function job_counts_changed() returns trigger language plpgsql as $$ begin
      insert into job_counts select queue, state, sum(n) from (
        select queue, state, count(*) as n from added group by 1, 2
        union all select queue, state, -count(*) from removed group by 1, 2) d
        group by 1, 2 having sum(n) <> 0;
      return null;
    end $$;
    create trigger job_counts_insert after insert on jobs referencing new table as added
      for each statement execute function job_counts_added();
    create trigger job_counts_delete after delete on jobs referencing old table as removed
      for each statement execute function job_counts_removed();
    create trigger job_counts_update after update on jobs referencing old table as removed new table as added
      for each statement execute function job_counts_changed();
  `);
}
