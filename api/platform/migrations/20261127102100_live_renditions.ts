import type { Knex } from 'knex';

/** Encoded renditions of channels, each made by one transcode worker for all who need it. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table live_renditions (
      id uuid primary key,
      channel_id uuid not null references live_channels on delete cascade,
      -- id of a rung of the ladder
      rendition text not null,
      -- frame, bitrates and whether the source is interlaced
      options jsonb not null,
      wanted_at timestamptz not null default now(),
      lease_holder text,
      lease_until timestamptz,
      -- faults in a row
      faults int not null default 0,
      created_at timestamptz not null default now(),
      ended_at timestamptz
    );
    create unique index live_renditions_open on live_renditions (channel_id, rendition) where ended_at is null;
    create index live_renditions_ended on live_renditions (channel_id, ended_at);
  `);
}
