import type { Knex } from 'knex';

/** Notifications of profiles, what each profile wants, and devices that take web push (area Notifications). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table notifications (
      id uuid primary key,
      profile_id uuid not null references profiles on delete cascade,
      kind text not null, level text not null,
      target jsonb, item_id uuid, library_id uuid,
      actor_id uuid references accounts on delete set null,
      data jsonb not null default '{}', url text,
      count int not null default 1, merge_key text not null,
      created_at timestamptz not null default clock_timestamp(),
      first_at timestamptz not null default clock_timestamp(),
      -- false: the profile wants it elsewhere only; then it counts as read
      in_app boolean not null default true,
      read_at timestamptz, expires_at timestamptz
    );
    -- ids that were somebody's: removing them again is no error
    create table notifications_gone (
      id uuid primary key, profile_id uuid, account_id uuid, at timestamptz not null default now()
    );
    create function note_gone() returns trigger language plpgsql as $$ begin
      if tg_table_name = 'notifications' then
        insert into notifications_gone (id, profile_id) values (old.id, old.profile_id) on conflict do nothing;
      else
        insert into notifications_gone (id, account_id) values (old.id, old.account_id) on conflict do nothing;
      end if;
      return null;
    end $$;
    create trigger notifications_note_gone after delete on notifications for each row execute function note_gone();
    create index notifications_list on notifications (profile_id, created_at desc, id desc);
    create index notifications_unread on notifications (profile_id, merge_key) where read_at is null;
    create index notifications_old on notifications (created_at);

    create table notification_counts (
      profile_id uuid primary key references profiles on delete cascade,
      unread int not null default 0, urgent int not null default 0
    );
    create function count_notifications() returns trigger language plpgsql as $$
    declare
      one uuid := case when tg_op = 'DELETE' then old.profile_id else new.profile_id end;
      was int := case when tg_op <> 'INSERT' and old.read_at is null then 1 else 0 end;
      now_is int := case when tg_op <> 'DELETE' and new.read_at is null then 1 else 0 end;
      was_urgent int := case when was = 1 and old.level = 'urgent' then 1 else 0 end;
      is_urgent int := case when now_is = 1 and new.level = 'urgent' then 1 else 0 end;
    begin
      if was = now_is and was_urgent = is_urgent then return null; end if;
      if tg_op = 'DELETE' then
        update notification_counts set unread = unread - was, urgent = urgent - was_urgent where profile_id = one;
      else
        insert into notification_counts as c (profile_id, unread, urgent) values (one, now_is - was, is_urgent - was_urgent)
          on conflict (profile_id) do update set unread = c.unread + excluded.unread, urgent = c.urgent + excluded.urgent;
      end if;
      return null;
    end $$;
    create trigger notifications_count after insert or delete or update of read_at, level on notifications
      for each row execute function count_notifications();

    create table notification_preferences (
      profile_id uuid primary key references profiles on delete cascade,
      document jsonb not null, updated_at timestamptz not null default now()
    );

    create table push_subscriptions (
      id uuid primary key,
      account_id uuid not null references accounts on delete cascade,
      profile_id uuid not null references profiles on delete cascade,
      session_id uuid not null references sessions on delete cascade,
      client_id text not null,
      device_name text not null, platform text,
      -- sealed; the hash finds an endpoint that comes again from another account
      endpoint text not null, endpoint_sha256 text not null unique, keys text not null,
      service text not null, key_id text not null,
      state text not null default 'active' check (state in ('active', 'failing', 'expired')),
      failures int not null default 0, last_error text,
      created_at timestamptz not null default now(), last_sent_at timestamptz,
      unique (account_id, client_id)
    );
    create index push_subscriptions_profile on push_subscriptions (profile_id);
    create index push_subscriptions_session on push_subscriptions (session_id);

    create trigger push_note_gone after delete on push_subscriptions for each row execute function note_gone();

    -- what is to be sent to a device; the row goes when it was sent or withdrawn
    create table push_messages (
      subscription_id uuid not null references push_subscriptions on delete cascade,
      notification_id uuid not null references notifications on delete cascade,
      held boolean not null default false,
      attempts int not null default 0,
      created_at timestamptz not null default now(),
      primary key (subscription_id, notification_id)
    );
    create index push_messages_notification on push_messages (notification_id);

    create function end_push_of_device() returns trigger language plpgsql as $$ begin
      if tg_op = 'UPDATE' and new.state <> 'blocked' then return null; end if;
      delete from push_subscriptions where account_id = old.account_id and client_id = old.client_id;
      return null;
    end $$;
    create trigger devices_push after delete or update of state on devices
      for each row execute function end_push_of_device();
    create function end_push_of_account() returns trigger language plpgsql as $$ begin
      delete from push_subscriptions where account_id = new.id;
      return null;
    end $$;
    create trigger accounts_push after update of disabled, deleted_at on accounts
      for each row when (new.disabled or new.deleted_at is not null) execute function end_push_of_account();
    create function take_over_push() returns trigger language plpgsql as $$ begin
      if tg_op = 'INSERT' then
        delete from push_subscriptions where client_id = new.client_id and account_id <> new.account_id;
      elsif new.profile_id <> old.profile_id then
        delete from push_subscriptions where session_id = new.id and profile_id <> new.profile_id;
      end if;
      return null;
    end $$;
    create trigger sessions_push after insert or update of profile_id on sessions
      for each row execute function take_over_push();
  `);
}
