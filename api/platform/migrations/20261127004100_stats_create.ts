import type { Knex } from 'knex';

/**
 * What was played: one row a play, and sums by quarter of an hour, which fit the days of every time
 * zone. Sums keep their figures when the person of a play goes. The former table stays for older replicas.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table plays (
      id uuid not null, profile_id uuid not null references profiles on delete cascade, account_id uuid not null,
      item_id uuid not null, library_id uuid not null, title text not null, parent_title text, type text not null,
      started_at timestamptz not null, ended_at timestamptz not null,
      played_ms bigint not null, from_ms bigint not null default 0, to_ms bigint not null default 0, duration_ms bigint,
      completed boolean not null default false, method text not null, reasons text[] not null default '{}', quality text,
      client text not null default '', platform text, is_remote boolean not null default false, address text, bytes bigint,
      source text not null, device_id uuid, session_id uuid,
      primary key (id)
    );
    create index plays_profile on plays (profile_id, started_at desc, id desc);
    create index plays_started on plays (started_at desc, id desc);
    create index plays_item on plays (item_id, profile_id);
    create table play_sums (
      at timestamptz not null, profile_id uuid references profiles on delete set null,
      item_id uuid not null, library_id uuid not null, type text not null, method text not null, client text not null,
      is_remote boolean not null, plays int not null, played_ms bigint not null, completed int not null, bytes bigint not null
    );
    create unique index play_sums_key on play_sums (at, profile_id, item_id, library_id, type, method, client, is_remote);
    create index play_sums_profile on play_sums (profile_id, at);
    create table stat_content (
      one boolean primary key default true check (one), figures jsonb not null default '{}', at timestamptz
    );
    insert into stat_content default values;
    insert into plays (id, profile_id, account_id, item_id, library_id, title, type, started_at, ended_at, played_ms, method, source)
      select h.id, h.profile_id, h.account_id, h.item_id, i.library_id, i.title, coalesce(i.own_type, i.type),
             h.at - make_interval(secs => h.played_ms / 1000.0), h.at, h.played_ms, 'offline', 'offline-sync'
        from play_history h join items i on i.id = h.item_id;
    insert into play_sums
      select date_bin('15 minutes', started_at, timestamptz '2000-01-01'), profile_id, item_id, library_id, type, method, client,
             is_remote, count(*), sum(played_ms), 0, 0
        from plays group by 1, 2, 3, 4, 5, 6, 7, 8;
  `);
}
