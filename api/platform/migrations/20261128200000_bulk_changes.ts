import type { Knex } from 'knex';

/**
 * Triggers that compare the old and the new rows of a statement. Postgres keeps the plan of the first statement of a
 * connection, which mostly changes one row: a join of both tables became a nested loop, and 5,000 rows took minutes. EXCEPT
 * is hashed or sorted whatever the number of rows, and treats two nulls as equal.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(SEARCH);
  await db.raw(CREDITED);
}

const SEARCHED = `id, title, original_title, year, tagline, overview, rating, type, own_type, library_id, parent_id, grandparent_id,
  extra_of, trashed_at is null, details -> 'artists', details -> 'authors'`;

/** Ids of the rows of which one of these columns changed. */
const changed = (columns: string): string =>
  `select array_agg(c.id) from (select ${columns} from made except select ${columns} from gone) c`;

const SEARCH = `
  create or replace function foyer_search_items_changed() returns trigger language plpgsql set enable_seqscan = off as $$
    declare above uuid[]; labelled uuid[];
    begin
      perform foyer_search_note((${changed(SEARCHED)}), 'item');
      labelled := (${changed('id, labels')});
      if labelled is not null then
        update search_documents d set labels = i.labels from items i
          where i.id = any(labelled) and d.id = i.id and d.labels <> i.labels;
      end if;
      above := (${changed('id, title, age_years')});
      if above is not null then
        perform foyer_search_note(above || array(select id from items where parent_id = any(above)
          union select id from items where grandparent_id = any(above)), 'item');
      end if;
      return null;
    end $$;

  create or replace function foyer_search_people_changed() returns trigger language plpgsql set enable_seqscan = off as $$
    declare these uuid[] := (${changed('id, name, aliases')});
    begin
      if these is not null then
        perform foyer_search_note(these, 'person');
        perform foyer_search_note((select array_agg(distinct c.item_id) from credits c where c.person_id = any(these)), 'item');
      end if;
      return null;
    end $$;
`;

const SIGHT = 'id, trashed_at is null, age_years, labels, parent_id, grandparent_id, extra_of, type, library_id';

const CREDITED = `
  create or replace function foyer_items_changed() returns trigger language plpgsql set enable_seqscan = off as $$
    declare these uuid[]; above uuid[];
    begin
      select array_agg(distinct c.id), array_agg(distinct up) filter (where up is not null) into these, above
        from ((select ${SIGHT} from made except select ${SIGHT} from gone)
          union all (select ${SIGHT} from gone except select ${SIGHT} from made)) c,
          unnest(array[c.parent_id, c.grandparent_id]) as up;
      if these is null then
        return null;
      end if;
      perform foyer_note_sources(these || coalesce(above, '{}') || array(
        select id from items where parent_id = any(these) union select id from items where grandparent_id = any(these)));
      if above is not null then
        perform foyer_note_credited((select array_agg(distinct c.item_id) from credited_items c where c.item_id = any(above)));
      end if;
      return null;
    end $$;
`;
