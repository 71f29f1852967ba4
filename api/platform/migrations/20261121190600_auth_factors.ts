import type { Knex } from 'knex';

/** Ways to sign in beside the password, recovery codes, and what is open between two steps of a sign-in (area Auth). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table sign_in_methods (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      kind text not null check (kind in ('totp', 'recovery-codes', 'passkey', 'oidc')),
      name text,
      secret_sealed text, last_step bigint,
      salt bytea,
      credential_id text unique, public_key bytea, counter bigint, transports text[], aaguid uuid, synced boolean,
      issuer text, subject text,
      created_at timestamptz not null default now(), last_used_at timestamptz,
      unique (issuer, subject)
    );
    create index sign_in_methods_account on sign_in_methods (account_id);
    create unique index sign_in_methods_one on sign_in_methods (account_id, kind) where kind in ('totp', 'recovery-codes');

    create table recovery_codes (
      method_id uuid not null references sign_in_methods on delete cascade,
      hash text not null,
      used_at timestamptz,
      primary key (method_id, hash)
    );

    create table totp_setups (
      account_id uuid primary key references accounts on delete cascade,
      id uuid not null, secret_sealed text not null, tries int not null default 5, expires_at timestamptz not null
    );

    create table sign_in_challenges (
      hash bytea primary key,
      account_id uuid not null references accounts on delete cascade,
      session_id uuid references sessions on delete cascade,
      client_id text, method text not null, profile_id uuid, passkey_challenge text,
      tries int not null default 5, expires_at timestamptz not null
    );
    create index sign_in_challenges_account on sign_in_challenges (account_id);
    create index sign_in_challenges_expiry on sign_in_challenges (expires_at);

    create table passkey_challenges (
      challenge text primary key,
      account_id uuid references accounts on delete cascade,
      expires_at timestamptz not null
    );
    create index passkey_challenges_expiry on passkey_challenges (expires_at);

    alter table accounts
      add column factors text[] not null default '{}',
      add column password_changed_at timestamptz;
    create function note_factors() returns trigger language plpgsql as $$ declare who uuid := coalesce(new.account_id, old.account_id);
    begin
      update accounts set factors = array(select distinct kind from sign_in_methods where account_id = who order by kind) where id = who;
      return null;
    end $$;
    create trigger sign_in_methods_factors after insert or delete on sign_in_methods
      for each row execute function note_factors();
  `);
}
