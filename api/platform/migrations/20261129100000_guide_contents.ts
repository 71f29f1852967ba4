import type { Knex } from 'knex';

/** By these a guide is known again: nothing of it is read where it would add nothing. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table guide_states
      -- SHA-256 of the bytes that were read last, and of how they are read
      add column content bytea,
      -- start of the first programme that was left out because it is behind the days of the source
      add column next_start_at timestamptz;
  `);
}
