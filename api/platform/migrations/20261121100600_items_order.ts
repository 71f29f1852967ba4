import type { Knex } from 'knex';

/** What lists of items walk: titles as people sort them (numbers by value), the caller's own state, and places on the map. */
export async function up(db: Knex): Promise<void> {
  await db.raw(`
    create collation foyer_title (provider = icu, locale = 'und-u-kn-true');
    alter table items alter column sort_title type text collate foyer_title;
    create index items_by_title_down on items (library_id, type, sort_title desc nulls last, id)
      where trashed_at is null and extra_of is null;
    create index items_by_id on items (library_id, type, id) where trashed_at is null and extra_of is null;

    create index item_states_last on item_states (profile_id, last_played_at desc nulls last, item_id);
    create index item_states_plays on item_states (profile_id, play_count desc nulls last, item_id);
    create index item_states_changes on item_states (profile_id, updated_at desc);

    alter table items
      add column latitude double precision generated always as (
        case when jsonb_typeof(details #> '{place,latitude}') = 'number'
          then (details #>> '{place,latitude}')::double precision end) stored,
      add column longitude double precision generated always as (
        case when jsonb_typeof(details #> '{place,longitude}') = 'number'
          then (details #>> '{place,longitude}')::double precision end) stored;
    create index items_by_place on items (library_id, latitude, longitude)
      where latitude is not null and trashed_at is null and extra_of is null;
  `);
}
