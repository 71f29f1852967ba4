import type { Knex } from 'knex';

/** Webhooks and their outbox: a delivery's row, bytes included, is written in the transaction of its event (area Webhooks). */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table webhooks (
      id uuid primary key,
      name text not null,
      -- sealed, as are header values (JSON) and secret: the address of a chat room is a credential
      url text not null, headers text, secret text not null,
      header_names text[] not null default '{}',
      format text not null check (format in ('json', 'discord', 'slack', 'matrix', 'ntfy')),
      events text[] not null, library_ids uuid[],
      enabled boolean not null default true,
      switched_off_at timestamptz, owner_lost boolean not null default false,
      failures int not null default 0,
      last_delivery jsonb,
      owner_id uuid not null, owner_name text not null,
      created_at timestamptz not null default now(), updated_at timestamptz not null default now()
    );
    create index webhooks_owner on webhooks (owner_id);

    create table webhook_deliveries (
      id uuid primary key,
      seq bigint generated always as identity,
      webhook_id uuid not null references webhooks on delete cascade,
      kind text not null default 'event' check (kind in ('event', 'test', 'redelivery')),
      event text not null, event_id uuid not null, format text not null,
      -- of a newer one of the same thread only the newest waits
      thread text,
      state text not null check (state in ('waiting', 'sending', 'delivered', 'failed', 'superseded', 'dropped')),
      attempts jsonb not null default '[]',
      next_attempt_at timestamptz,
      claimed_by uuid, claimed_until timestamptz,
      redelivery_of uuid,
      body bytea, size_bytes int not null,
      created_at timestamptz not null default clock_timestamp(), finished_at timestamptz
    );
    create index webhook_deliveries_due on webhook_deliveries (webhook_id, next_attempt_at, seq) where state = 'waiting';
    create index webhook_deliveries_sending on webhook_deliveries (webhook_id) where state = 'sending';
    create index webhook_deliveries_thread on webhook_deliveries (webhook_id, thread)
      where state = 'waiting' and thread is not null;
    create index webhook_deliveries_newest on webhook_deliveries (webhook_id, created_at desc, id);
    create index webhook_deliveries_old on webhook_deliveries (created_at);

    create function lose_webhooks() returns trigger language plpgsql as $$ begin
      if tg_op = 'UPDATE' and not new.disabled and new.deleted_at is null
        and coalesce((new.own_permissions->>'settings:manage')::boolean, new.role in ('owner', 'admin')) then
        return null;
      end if;
      update webhooks set owner_lost = true, updated_at = now() where owner_id = old.id and not owner_lost;
      update webhook_deliveries d set state = 'dropped', finished_at = now(), next_attempt_at = null
        from webhooks w where w.owner_id = old.id and d.webhook_id = w.id and d.state = 'waiting';
      return null;
    end $$;
    create trigger accounts_webhooks after delete or update of disabled, deleted_at, role, own_permissions on accounts
      for each row execute function lose_webhooks();
  `);
}
