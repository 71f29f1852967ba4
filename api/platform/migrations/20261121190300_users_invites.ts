import type { Knex } from 'knex';

/** Deleted accounts whose rows still go, invites, the last sign-in of each account, and what devices were used for (area Users). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table invites (
      id uuid primary key,
      hash bytea not null unique,
      role text not null check (role in ('admin', 'member', 'child', 'guest')),
      display_name text, email text, mailed boolean not null default false, message text,
      libraries jsonb, template jsonb not null default '{}',
      uses int not null default 0, max_uses int not null default 1 check (max_uses between 1 and 50),
      created_by uuid not null references accounts on delete cascade,
      created_at timestamptz not null default now(), expires_at timestamptz not null, revoked_at timestamptz,
      check (uses <= max_uses)
    );
    create index invites_created on invites (created_at desc, id);
    create table invite_uses (
      invite_id uuid not null references invites on delete cascade,
      account_id uuid not null references accounts on delete cascade,
      at timestamptz not null default now(),
      primary key (invite_id, account_id)
    );

    alter table accounts
      add column deleted_at timestamptz,
      add column invited_by uuid references accounts on delete set null,
      add column invite_id uuid,
      add column last_sign_in jsonb;
    create unique index accounts_email on accounts (lower(email)) where email is not null;
    create index accounts_display_name on accounts (lower(display_name), id);
    create index items_added_by on items (added_by) where added_by is not null;

    alter table devices
      add column named boolean not null default false,
      add column receiver boolean not null default false;
    create index devices_seen on devices (account_id, last_seen_at desc);
    create index sessions_device on sessions (device_id);
    create table device_keys (
      device_id uuid not null references devices on delete cascade,
      key_id uuid not null references api_keys on delete cascade,
      primary key (device_id, key_id)
    );

    create function note_sign_in() returns trigger language plpgsql as $$ begin
      update accounts set last_sign_in = jsonb_build_object('at', new.created_at, 'method', new.method, 'address', new.address,
        'device', (select name from devices where id = new.device_id)) where id = new.account_id;
      return null;
    end $$;
    create trigger sessions_sign_in after insert on sessions for each row execute function note_sign_in();
  `);
}
