import type { Knex } from 'knex';

/** The profile a key speaks for, where it was made and what it was used for (area API keys). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table api_keys
      add column profile_id uuid references profiles on delete cascade,
      add column created_from jsonb not null default '{}',
      add column last_address text, add column last_client_name text,
      add column used_on date, add column used_count int not null default 0,
      add column managed_by jsonb;
    create index api_keys_ended on api_keys (least(revoked_at, expires_at)) where not operator;
  `);
}
