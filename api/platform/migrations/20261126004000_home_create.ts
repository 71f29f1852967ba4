import type { Knex } from 'knex';
import { buildIndex } from '../build-index.ts';

/** Plays of the last weeks, by whom ever. */
export async function before(db: Knex): Promise<void> {
  await buildIndex(db, 'item_states_played', 'item_states (last_played_at) where last_played_at is not null');
}

/** Layouts of Home, and the cards that profiles hid. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table home_layouts (
      id uuid primary key,
      -- null for the layout of the server
      profile_id uuid references profiles on delete cascade,
      -- rows, hiddenLibraryIds and hero, as setHomeLayout takes them
      document jsonb not null,
      revision int not null default 1,
      managed_by jsonb,
      updated_at timestamptz not null default now(),
      unique nulls not distinct (profile_id)
    );

    create table home_hidden (
      profile_id uuid not null references profiles on delete cascade,
      -- a film, a show, a book: what a card stands for
      item_id uuid not null references items on delete cascade,
      -- the row, 'continue' for the rows to continue with, empty for every row
      row_id text not null,
      until text not null check (until in ('played-again', 'forever', 'time')),
      until_at timestamptz,
      hidden_at timestamptz not null default now(),
      primary key (profile_id, item_id, row_id)
    );
    create index home_hidden_oldest on home_hidden (profile_id, hidden_at);
  `);
}
