import type { Knex } from 'knex';

/** Wrong PINs of a profile, and devices that ask another one to sign them in (area Auth). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    alter table profiles
      add column pin_wrong timestamptz[] not null default '{}',
      add column pin_blocked_until timestamptz;
    create unique index profiles_name on profiles (account_id, lower(name));

    create table quick_connects (
      id uuid primary key,
      code text not null unique,
      secret_hash bytea not null unique,
      client_id text not null, device_name text not null, client_name text, address text not null,
      state text not null default 'pending' check (state in ('pending', 'approved', 'denied')),
      answered_by uuid references accounts on delete cascade,
      account_id uuid references accounts on delete cascade,
      profile_id uuid references profiles on delete cascade,
      created_at timestamptz not null default now(), expires_at timestamptz not null,
      answered_at timestamptz, polled_at timestamptz
    );
    create index quick_connects_expiry on quick_connects (expires_at);
    create index quick_connects_account on quick_connects (account_id) where account_id is not null;
  `);
}
