import type { Knex } from 'knex';

/** Accounts, profiles, devices, sessions and keys (areas Users, Auth, API keys) and what the server is (Setup, Server account). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table accounts (
      id uuid primary key,
      username text not null,
      username_folded text not null unique,
      display_name text not null,
      role text not null check (role in ('owner', 'admin', 'member', 'child', 'guest')),
      email text, email_verified boolean not null default false,
      avatar_id uuid,
      password_hash text,
      must_change_password boolean not null default false,
      disabled boolean not null default false,
      expires_at timestamptz,
      is_system boolean not null default false,
      own_permissions jsonb not null default '{}',
      library_mode text not null default 'default' check (library_mode in ('default', 'only')),
      age_limit int, hide_unrated boolean not null default false,
      viewing_hours jsonb not null default '[]',
      time_zone text, language text, country text,
      limits jsonb not null default '{}',
      restrictions jsonb not null default '{}',
      discoverable boolean not null default true,
      listed boolean not null default false,
      note text,
      managed_by jsonb,
      access_version bigint not null default 1,
      revision bigint not null default 1,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now(),
      last_seen_at timestamptz
    );
    create unique index accounts_one_owner on accounts (role) where role = 'owner';

    create table profiles (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      name text not null,
      main boolean not null default false,
      avatar_id uuid, color text not null default 'blue', language text,
      pin_hash text, time_zone text, country text,
      private boolean not null default false, keep_history boolean not null default true,
      limits jsonb, preferences jsonb not null default '{}',
      created_at timestamptz not null default now(), last_used_at timestamptz
    );
    create unique index profiles_one_main on profiles (account_id) where main;
    create index profiles_account on profiles (account_id);

    create table devices (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      client_id text not null,
      name text not null, client_name text, platform text,
      state text not null default 'trusted' check (state in ('trusted', 'blocked')),
      last_address text, last_profile_id uuid,
      client_profile jsonb, client_profile_at timestamptz,
      first_seen_at timestamptz not null default now(), last_seen_at timestamptz not null default now(),
      unique (account_id, client_id)
    );

    create table sessions (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      profile_id uuid not null references profiles on delete cascade,
      device_id uuid references devices on delete set null,
      client_id text,
      method text not null, two_factor boolean not null default false,
      cookie boolean not null default false, remember boolean not null default true,
      address text,
      confirmed_until timestamptz,
      created_at timestamptz not null default now(), last_seen_at timestamptz not null default now(),
      expires_at timestamptz not null
    );
    create index sessions_account on sessions (account_id);

    create table refresh_tokens (
      hash bytea primary key,
      session_id uuid not null references sessions on delete cascade,
      number int not null,
      created_at timestamptz not null default now(), expires_at timestamptz not null,
      used_at timestamptz, retry_key text, successor_sealed text
    );
    create index refresh_tokens_session on refresh_tokens (session_id);

    create table api_keys (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      name text not null, hash bytea not null unique, hint text not null,
      scopes text[] not null, per_minute int not null default 600,
      operator boolean not null default false,
      expires_at timestamptz, revoked_at timestamptz, last_used_at timestamptz,
      created_at timestamptz not null default now()
    );
    create index api_keys_account on api_keys (account_id);

    create table audit_log (
      id uuid primary key, at timestamptz not null default now(), account_id uuid, action text not null,
      address text, device_id uuid, details jsonb not null default '{}'
    );

    create table server_state (
      one boolean primary key default true check (one),
      server_id uuid not null,
      setup_completed_at timestamptz,
      claim_sha256 text, claimed_at timestamptz, ticket_sha256 text, ticket_expires_at timestamptz, ticket_device text,
      setup_draft jsonb, setup_draft_revision bigint not null default 0, setup_saved_at timestamptz,
      identity_since timestamptz not null default now(),
      ownership jsonb not null default '[]'
    );

    create table settings (
      key text primary key, value jsonb not null, updated_at timestamptz not null default now(), updated_by uuid
    );
    create table idempotency_keys (
      account_id uuid not null, operation text not null, key text not null, content text not null,
      status int, answer jsonb, created_at timestamptz not null default now(),
      primary key (account_id, operation, key)
    );
  `);
}
