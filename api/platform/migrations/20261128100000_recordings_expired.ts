import type { Knex } from 'knex';

/** When the clean-up took a recording from the list. Its item went to the trash in the same transaction, so at the same time. */
export async function up(db: Knex): Promise<void> {
  await db.raw('alter table recordings add column expired_at timestamptz');
}
