import type { Knex } from 'knex';

/** Mails that wait and the log of those that went, addresses that take none, and addresses still to be confirmed (area Email). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table email_messages (
      id uuid primary key,
      kind text not null,
      account_id uuid references accounts on delete cascade,
      profile_id uuid references profiles on delete cascade,
      -- whole until the mail ended, masked from then on
      address text not null, address_sha256 text not null,
      language text not null, subject text not null,
      state text not null default 'waiting'
        check (state in ('waiting', 'sending', 'sent', 'failed', 'suppressed', 'expired')),
      attempts int not null default 0,
      message_id text not null, error jsonb,
      -- sealed; gone once it was sent
      body text,
      -- what it tells of: its texts are made when it goes out
      notification_ids uuid[] not null default '{}',
      -- others join it until its time comes
      held boolean not null default false,
      -- to the address itself, verified or not
      direct boolean not null,
      -- by its own person: not among the 20 of an hour
      asked boolean not null,
      has_link boolean not null,
      -- of the attempt under way
      job_id uuid,
      created_at timestamptz not null default now(),
      sent_at timestamptz, next_attempt_at timestamptz, expires_at timestamptz, ended_at timestamptz
    );
    create index email_messages_due on email_messages (next_attempt_at) where state in ('waiting', 'sending');
    create index email_messages_sent on email_messages (sent_at desc) where sent_at is not null;
    create index email_messages_account on email_messages (account_id, created_at);
    create index email_messages_list on email_messages (created_at desc, id desc);
    create index email_messages_ended on email_messages (ended_at) where ended_at is not null;

    -- refusals for good in a row; suppressed from the third
    create table email_suppressions (
      address_sha256 text primary key, failures int not null, suppressed_at timestamptz
    );
    create table email_state (
      one boolean primary key default true check (one),
      faults int not null default 0, paused_until timestamptz, last_sent_at timestamptz, last_error jsonb
    );
    insert into email_state default values;
    create table email_digests (
      account_id uuid primary key references accounts on delete cascade,
      at timestamptz not null, since timestamptz not null
    );
    -- hash is null where no mail could be sent
    create table email_confirmations (
      account_id uuid primary key references accounts on delete cascade,
      address text not null, hash bytea unique, expires_at timestamptz not null
    );
  `);
}
