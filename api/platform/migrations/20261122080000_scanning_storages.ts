import type { Knex } from 'knex';

/** Storages that came back and are to be looked at once they stayed; disks that a running scan keeps busy. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table storages add column returned_at timestamptz;
    alter table scans add column spindles text[] not null default '{}';
  `);
}
