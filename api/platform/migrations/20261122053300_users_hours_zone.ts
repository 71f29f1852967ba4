import type { Knex } from 'knex';

/** The clock of an account's viewing hours is who manages it to set; `time_zone` is the person's own (area Users). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table accounts add column hours_zone text;
    update accounts set hours_zone = time_zone where time_zone is not null;
  `);
}
