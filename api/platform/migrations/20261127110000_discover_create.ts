import type { Knex } from 'knex';

/**
 * Titles outside the libraries: their ids in every catalogue, the lists by country and language, offers of streaming
 * services, and what providers answered.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create table discover_titles (
      id uuid primary key,
      kind text not null check (kind in ('movie', 'show')),
      title text not null, year int,
      -- lowest age of its known ratings; null while it has none
      age_years int,
      adult boolean not null default false,
      -- path of a picture, below the address of pictures of the provider
      poster_path text, poster_provider text,
      -- last failed download
      poster_failed_at timestamptz,
      -- last time that a list or a person had the title
      used_at timestamptz not null default now()
    );
    create index discover_titles_words on discover_titles using gin (foyer_fold(title) gin_trgm_ops);
    create index discover_titles_used on discover_titles (used_at);
    create trigger images_of_discover_titles after delete on discover_titles for each row
      execute function images_forget_owner('title');

    -- one row for each id by which a title is known
    create table discover_ids (
      kind text not null, scheme text not null, value text not null,
      title_id uuid not null references discover_titles on delete cascade,
      primary key (kind, scheme, value)
    );
    create index discover_ids_title on discover_ids (title_id);

    create table discover_offers (
      title_id uuid not null references discover_titles on delete cascade,
      country text not null,
      service_id text not null,
      kind text not null check (kind in ('subscription', 'free', 'ads', 'rent', 'buy')),
      provider text not null,
      url text, seasons int[] not null default '{}',
      certainty text not null check (certainty in ('confirmed', 'listed')),
      first_seen_on date not null default current_date,
      checked_at timestamptz not null default now(),
      primary key (title_id, country, service_id, kind)
    );
    create index discover_offers_service on discover_offers (country, service_id);

    -- countries and languages for which lists are made
    create table discover_places (
      country text not null, language text not null,
      used_at timestamptz not null default now(),
      primary key (country, language)
    );

    create table discover_lists (
      list text not null check (list in ('cinemas', 'discs', 'streaming')),
      country text not null, language text not null,
      -- state and time of each provider at the last refresh
      sources jsonb not null,
      made_at timestamptz not null default now(),
      primary key (list, country, language)
    );

    create table discover_entries (
      list text not null, country text not null, language text not null,
      title_id uuid not null references discover_titles on delete cascade,
      kind text not null,
      -- an item of this server that no provider listed; shown to those who see it
      item_id uuid references items on delete cascade,
      title text not null, sort_title text not null,
      -- the day for which it is in the list
      listed_on date,
      -- the first digital or disc release, which ends a run in cinemas
      closed_on date,
      popularity real, rating real,
      genres text[] not null default '{}',
      age_years int, adult boolean not null default false,
      facts jsonb not null,
      seen_at timestamptz not null default now(),
      primary key (list, country, language, title_id)
    );
    create index discover_entries_item on discover_entries (item_id) where item_id is not null;
    create index discover_entries_title on discover_entries (title_id);

    create table discover_details (
      title_id uuid not null references discover_titles on delete cascade,
      country text not null, language text not null,
      facts jsonb not null,
      providers text[] not null,
      details_at timestamptz not null default now(),
      offers_at timestamptz not null default now(),
      primary key (title_id, country, language)
    );

    create table discover_searches (
      -- hash of everything that decides what is found
      question text not null, provider text not null,
      found jsonb not null,
      made_at timestamptz not null default now(),
      primary key (question, provider)
    );

    -- services that providers know besides the built-in ones
    create table discover_services (
      id text not null, country text not null,
      name text not null,
      checked_at timestamptz not null default now(),
      primary key (id, country)
    );
  `);
}
