import type { Knex } from 'knex';

/** What the resource declared when a process last took it over, so that the next one knows what changed; of secrets a mark alone. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`alter table server_state add column declared_settings jsonb not null default '{}'`);
}
