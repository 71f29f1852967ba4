import type { Knex } from 'knex';

/** Offers of ownership, and who owned the server when (area Server account). Names stay as they were, when accounts go. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table ownership_offers (
      id uuid primary key,
      from_id uuid not null references accounts on delete cascade,
      to_id uuid not null references accounts on delete cascade,
      keep_role text not null check (keep_role in ('admin', 'member')),
      message text,
      state text not null default 'offered' check (state in ('offered', 'accepted', 'withdrawn', 'declined', 'expired')),
      created_at timestamptz not null default now(), expires_at timestamptz not null
    );
    create unique index ownership_offers_one on ownership_offers (state) where state = 'offered';

    create table ownership_history (
      id uuid primary key,
      from_id uuid, from_name text,
      to_id uuid not null, to_name text not null,
      at timestamptz not null default now(),
      method text not null check (method in ('wizard', 'resource', 'transfer', 'recovery'))
    );
  `);
}
