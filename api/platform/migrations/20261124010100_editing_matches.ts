import type { Knex } from 'knex';

/** The identity of items in catalogues, and the refreshes that are due. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table item_matches (
      item_id uuid primary key references items on delete cascade,
      library_id uuid not null references libraries on delete cascade,
      state text not null default 'unmatched' check (state in ('matched', 'unmatched', 'local-only')),
      agent text, confidence real,
      matched_at timestamptz,
      matched_by text check (matched_by in ('person', 'scan', 'refresh')),
      refreshed_at timestamptz,
      -- pictures of catalogues that the artwork fetch takes, the best of each kind
      pictures jsonb not null default '[]',
      -- the next refresh; absent when none is due
      due_at timestamptz,
      -- of the refresh that is due: mode, artwork, identify, agents
      options jsonb not null default '{}',
      tries int not null default 0,
      -- rises when a refresh is requested again while one runs
      generation int not null default 1
    );
    create index item_matches_due on item_matches (library_id, due_at) where due_at is not null;
    create index item_matches_refreshed on item_matches (refreshed_at) where state = 'matched';
  `);
}
