import type { Knex } from 'knex';

/** One open reset an account; the token itself is nowhere. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table password_resets (
      account_id uuid primary key references accounts on delete cascade,
      hash bytea not null unique,
      by_mail boolean not null default false,
      expires_at timestamptz not null,
      created_at timestamptz not null default now()
    );
  `);
}
