import type { Knex } from 'knex';

/** Collections of people and of catalogues, and the items of those that are kept by hand. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table collections (
      id uuid primary key,
      name text not null, name_folded text not null,
      sort_name text not null, sort_folded text not null,
      overview text,
      kind text not null check (kind in ('manual', 'smart')),
      source text not null default 'person' check (source in ('person', 'agent')),
      -- null for those of the server
      owner_id uuid references accounts,
      sharing text not null default 'private' check (sharing in ('private', 'accounts', 'everyone')),
      -- of smart ones, as createCollection takes them
      rules jsonb,
      -- null is the order by hand, or that of the rules
      sort text,
      poster_image_id uuid, backdrop_image_id uuid,
      pinned text[] not null default '{}',
      -- of catalogues: provider and id there, such as tmdb:10
      agent_key text unique,
      locked_fields text[] not null default '{}',
      created_at timestamptz not null default now(), updated_at timestamptz not null default now()
    );
    create unique index collections_own_name on collections (owner_id, name_folded) nulls not distinct where source = 'person';
    create index collections_by_name on collections (sort_folded, id);

    create table collection_items (
      collection_id uuid not null references collections on delete cascade,
      item_id uuid not null references items on delete cascade,
      position bigint not null,
      -- false for what a catalogue put there
      by_hand boolean not null default true,
      added_at timestamptz not null default now(),
      primary key (collection_id, item_id)
    );
    create index collection_items_order on collection_items (collection_id, position, item_id);
    create index collection_items_item on collection_items (item_id);

    create table collection_accounts (
      collection_id uuid not null references collections on delete cascade,
      account_id uuid not null references accounts on delete cascade,
      primary key (collection_id, account_id)
    );
    create index collection_accounts_account on collection_accounts (account_id);

    -- what a person removed from a collection of a catalogue
    create table collection_removals (
      collection_id uuid not null references collections on delete cascade,
      item_id uuid not null references items on delete cascade,
      primary key (collection_id, item_id)
    );
    create index collection_removals_item on collection_removals (item_id);
    -- collections of catalogues that a person deleted
    create table collection_tombstones (
      agent_key text primary key, deleted_at timestamptz not null default now()
    );

    create trigger images_of_collections after delete on collections referencing old table as gone
      for each statement execute function artwork_forget_owners('collection');
  `);
}
