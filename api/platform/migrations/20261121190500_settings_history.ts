import type { Knex } from 'knex';

/** One revision over all saved values, and what each write changed (area Settings). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table server_state add column settings_revision bigint not null default 0;
    create table setting_changes (
      id uuid primary key, key text not null, before jsonb, after jsonb,
      source text not null, account_id uuid, key_name text, note text,
      revision bigint not null, at timestamptz not null default now()
    );
    create index setting_changes_at on setting_changes (at desc, id);
    create index setting_changes_key on setting_changes (key, at desc);
  `);
}
