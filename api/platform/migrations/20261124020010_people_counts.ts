import type { Knex } from 'knex';
import { containersSql } from '../item-types.ts';

/**
 * Which items people and studios stand on, and how many by visibility class: kept by triggers in the transaction that
 * changes a credit, a tag or an item, whoever writes it. The triggers only note items; one function settles them when
 * the transaction commits, in one order, so that transactions never deadlock over a count.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(TABLES);
  await db.raw(WANTED);
  await db.raw(SETTLE);
  await db.raw(NOTES);
  await db.raw(`insert into credited_due (item_id) select distinct foyer_stands_on(i.type, i.id, i.parent_id, i.grandparent_id)
    from items i where exists (select from credits c where c.item_id = i.id)
      or exists (select from item_tags t where t.item_id = i.id and t.kind = 'studio') on conflict do nothing;
    insert into credited_marks default values on conflict do nothing;`);
}

const TABLES = `
  -- what decides whether an account sees an item: its library, and paths of [age, labels] conditions. An account whose
  -- sight is limited sees the item when all conditions of one path hold: of the item, of the parents, of what fills them.
  create table visibility_classes (
    id int generated always as identity primary key,
    library_id uuid not null references libraries on delete cascade,
    key text not null, paths jsonb not null,
    unique (library_id, key)
  );
  -- an item that credits a person or names a studio; a show stands for its episodes
  create table credited_items (
    owner_id uuid not null, item_id uuid not null,
    kind text not null check (kind in ('person', 'studio')),
    class_id int not null,
    -- episodes of a show that credit the person
    episodes int not null,
    since timestamptz not null default now(),
    primary key (owner_id, item_id)
  );
  create index credited_items_item on credited_items (item_id);
  -- number of items by class; class 0 is all
  create table credited_counts (
    owner_id uuid not null, class_id int not null, kind text not null, items int not null,
    primary key (owner_id, class_id)
  );
  create index credited_counts_class on credited_counts (class_id, owner_id) include (items);
  create index credited_counts_most on credited_counts (kind, items, owner_id) where class_id = 0;
  create index credited_counts_least on credited_counts (kind, items desc, owner_id) where class_id = 0;

  create function foyer_txid() returns bigint language sql stable as $$ select pg_current_xact_id()::text::bigint $$;
  -- items that this transaction changed, and that it did; empty between transactions
  create unlogged table credited_due (
    txid bigint not null default foyer_txid(), item_id uuid not null, primary key (txid, item_id)
  );
  create unlogged table credited_marks (txid bigint primary key default foyer_txid());

  create function foyer_stands_on(type text, id uuid, parent uuid, grandparent uuid) returns uuid
    language sql immutable as $$
    select case type when 'episode' then coalesce(grandparent, parent, id) when 'season' then coalesce(parent, id) else id end
  $$;
`;

const AGE = (alias: string): string => `(select max(above.age_years) from items above
  where above.id in (${alias}.id, ${alias}.parent_id, ${alias}.grandparent_id, ${alias}.extra_of))`;

const CONTAINER = (type: string): string => `${type} = any(${containersSql})`;

const WANTED = `
  -- the rows of credited_items that these items should have. Each step reads tables by index from the rows of the step
  -- before, since the planner knows nothing of the size of a step and would compare all rows of two of them
  create function foyer_credited_of(these uuid[])
    returns table (owner_id uuid, item_id uuid, kind text, library_id uuid, paths jsonb, episodes int)
    language sql stable set enable_seqscan = off as $$
    with stood as materialized (
      select s.id, s.type, s.library_id, s.labels, s.age_years as own, ${AGE('s')} as age
      from items s where s.id = any(these) and s.trashed_at is null and s.extra_of is null),
    held as materialized (
      select s.id as stood, s.library_id, s.type as top, s.labels as top_labels, s.own as top_own, s.age as top_age, h.id as via
      from stood s cross join lateral (
        select s.id
        union select e.id from items e where s.type = 'show' and e.parent_id = s.id
          and e.type in ('season', 'episode') and e.trashed_at is null and e.extra_of is null
        union select e.id from items e where s.type = 'show' and e.grandparent_id = s.id
          and e.type in ('season', 'episode') and e.trashed_at is null and e.extra_of is null) h
      where exists (select from credits c where c.item_id = h.id)
        or exists (select from item_tags t where t.item_id = h.id and t.kind = 'studio')),
    placed as materialized (
      select h.stood, h.library_id, h.via, v.type, (
        select jsonb_agg(distinct (select jsonb_agg(distinct jsonb_build_array(c.age, to_jsonb(c.labels))) from (values
            (a.age, v.labels),
            (case when ${CONTAINER('v.type')} then coalesce(l.age_years, v.age_years) else a.age end, l.labels),
            (h.top_age, h.top_labels),
            (case when ${CONTAINER('h.top')} then coalesce(l.age_years, h.top_own) else h.top_age end, l.labels)) c(age, labels)))
        from (
          select v.age_years, v.labels where not ${CONTAINER('v.type')}
          union select l.age_years, l.labels from items l where ${CONTAINER('v.type')} and l.parent_id = v.id
            and not ${CONTAINER('l.type')} and l.trashed_at is null
          union select l.age_years, l.labels from items l where ${CONTAINER('v.type')} and l.grandparent_id = v.id
            and not ${CONTAINER('l.type')} and l.trashed_at is null) l) as paths
      from held h join items v on v.id = h.via cross join lateral (select ${AGE('v')} as age) a)
    select o.owner, p.stood, o.kind, p.library_id,
      coalesce(jsonb_agg(distinct path) filter (where path is not null), '[]'),
      (count(distinct p.via) filter (where p.type = 'episode'))::int
    from placed p cross join lateral (
        select c.person_id as owner, 'person' as kind from credits c where c.item_id = p.via
        union select t.tag_id, 'studio' from item_tags t where t.item_id = p.via and t.kind = 'studio' and t.tag_id is not null) o
      left join lateral jsonb_array_elements(p.paths) as path on true
    group by o.owner, p.stood, o.kind, p.library_id
  $$;
`;

const SETTLE = `
  create function foyer_settle_credited() returns trigger language plpgsql set enable_seqscan = off as $$
    declare these uuid[]; emptied uuid[];
    begin
      loop
        with taken as (
          delete from credited_due where txid = foyer_txid() and item_id in (
            select item_id from credited_due where txid = foyer_txid() order by item_id limit 2000)
          returning item_id)
        select array_agg(item_id) into these from taken;
        exit when these is null;

        with wanted as materialized (select w.*, md5(w.paths::text) as key from foyer_credited_of(these) w),
        kinds as (select distinct library_id, key, paths from wanted),
        made as (
          insert into visibility_classes (library_id, key, paths)
          select k.library_id, k.key, k.paths from kinds k
            where not exists (select from visibility_classes c where c.library_id = k.library_id and c.key = k.key)
            order by k.library_id, k.key
          on conflict (library_id, key) do update set key = excluded.key
          returning id, library_id, key),
        classes as (
          select id, library_id, key from made
          union all select c.id, c.library_id, c.key from visibility_classes c join kinds k using (library_id, key)),
        diff as materialized (
          select owner_id, item_id, min(kind) as kind, max(class_id) filter (where wanted) as class_id,
            max(class_id) filter (where not wanted) as former, max(episodes) filter (where wanted) as episodes
          from (
            select w.owner_id, w.item_id, w.kind, c.id as class_id, w.episodes, true as wanted
              from wanted w join classes c using (library_id, key)
            union all select c.owner_id, c.item_id, c.kind, c.class_id, c.episodes, false
              from credited_items c where c.item_id = any(these)) every
          group by owner_id, item_id
          having max(class_id) filter (where wanted) is distinct from max(class_id) filter (where not wanted)
            or max(episodes) filter (where wanted) is distinct from max(episodes) filter (where not wanted)),
        gone as (
          delete from credited_items c using diff d
          where d.class_id is null and c.owner_id = d.owner_id and c.item_id = d.item_id
          returning c.owner_id, c.kind, c.class_id),
        changed as (
          update credited_items c set class_id = d.class_id, episodes = d.episodes from diff d
          where d.class_id is not null and d.former is not null and c.owner_id = d.owner_id and c.item_id = d.item_id
          returning d.owner_id, d.kind, d.former, d.class_id),
        added as (
          insert into credited_items (owner_id, item_id, kind, class_id, episodes)
          select owner_id, item_id, kind, class_id, episodes from diff where former is null
          on conflict do nothing
          returning owner_id, kind, class_id),
        deltas as (
          select owner_id, class_id, kind, sum(n)::int as n from (
            select owner_id, class_id, kind, -1 from gone union all select owner_id, 0, kind, -1 from gone
            union all select owner_id, former, kind, -1 from changed union all select owner_id, class_id, kind, 1 from changed
            union all select owner_id, class_id, kind, 1 from added union all select owner_id, 0, kind, 1 from added
          ) every(owner_id, class_id, kind, n)
          group by owner_id, class_id, kind having sum(n) <> 0),
        counted as (
          insert into credited_counts as t (owner_id, class_id, kind, items)
          select owner_id, class_id, kind, n from deltas order by owner_id, class_id
          on conflict (owner_id, class_id) do update set items = t.items + excluded.items
          returning t.owner_id, t.items)
        select array_agg(distinct owner_id) into emptied from counted where items <= 0;

        if emptied is not null then
          delete from credited_counts where owner_id = any(emptied) and items <= 0 and class_id <> 0;
        end if;
      end loop;
      delete from credited_marks where txid = foyer_txid();
      return null;
    end $$;
  create constraint trigger credited_settle after insert on credited_marks deferrable initially deferred
    for each row execute function foyer_settle_credited();
`;

const NOTES = `
  create function foyer_note_credited(ids uuid[]) returns void language plpgsql as $$ begin
    insert into credited_due (item_id) select distinct id from unnest(ids) as one(id) where id is not null on conflict do nothing;
    if found then
      insert into credited_marks default values on conflict do nothing;
    end if;
  end $$;
  create function foyer_stands_of(ids uuid[]) returns uuid[] language sql stable set enable_seqscan = off as $$
    select array_agg(distinct foyer_stands_on(i.type, i.id, i.parent_id, i.grandparent_id)) from items i where i.id = any(ids)
  $$;

  create function foyer_credits_changed() returns trigger language plpgsql as $$ begin
    perform foyer_note_credited(foyer_stands_of((select array_agg(distinct item_id) from changed)));
    return null;
  end $$;
  create trigger credits_added after insert on credits referencing new table as changed
    for each statement execute function foyer_credits_changed();
  create trigger credits_removed after delete on credits referencing old table as changed
    for each statement execute function foyer_credits_changed();
  create trigger credits_moved after update on credits referencing new table as changed
    for each statement execute function foyer_credits_changed();

  create function foyer_studio_tags_changed() returns trigger language plpgsql as $$ begin
    if exists (select from changed where kind = 'studio') then
      perform foyer_note_credited(foyer_stands_of((select array_agg(distinct item_id) from changed where kind = 'studio')));
    end if;
    return null;
  end $$;
  create trigger item_tags_added after insert on item_tags referencing new table as changed
    for each statement execute function foyer_studio_tags_changed();
  create trigger item_tags_removed after delete on item_tags referencing old table as changed
    for each statement execute function foyer_studio_tags_changed();
  create trigger item_tags_moved after update on item_tags referencing new table as changed
    for each statement execute function foyer_studio_tags_changed();

  -- the items among these that have credits or studios, as what they stand on
  create function foyer_note_sources(ids uuid[]) returns void language plpgsql set enable_seqscan = off as $$ begin
    perform foyer_note_credited(foyer_stands_of((select array_agg(one.item) from unnest(ids) as one(item)
      where exists (select from credits c where c.item_id = one.item)
        or exists (select from item_tags t where t.item_id = one.item and t.kind = 'studio'))));
  end $$;

  -- what lies below a container shares its age and fills it
  create function foyer_items_made() returns trigger language plpgsql as $$
    declare above uuid[];
    begin
      select array_agg(distinct up) into above from made, unnest(array[parent_id, grandparent_id]) as up where up is not null;
      if above is not null then
        perform foyer_note_sources(above);
      end if;
      return null;
    end $$;
  create trigger items_credited_made after insert on items referencing new table as made
    for each statement execute function foyer_items_made();

  create function foyer_items_changed() returns trigger language plpgsql set enable_seqscan = off as $$
    declare these uuid[]; above uuid[];
    begin
      select array_agg(n.id), array_agg(distinct up) filter (where up is not null) into these, above
        from made n join gone o on o.id = n.id,
          unnest(array[n.parent_id, n.grandparent_id, o.parent_id, o.grandparent_id]) as up
        where (o.trashed_at is null) <> (n.trashed_at is null) or o.age_years is distinct from n.age_years or o.labels <> n.labels
          or o.parent_id is distinct from n.parent_id or o.grandparent_id is distinct from n.grandparent_id
          or o.extra_of is distinct from n.extra_of or o.type <> n.type or o.library_id <> n.library_id;
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
  create trigger items_credited_changed after update on items referencing old table as gone new table as made
    for each statement execute function foyer_items_changed();

  create function foyer_items_gone() returns trigger language plpgsql set enable_seqscan = off as $$ begin
    perform foyer_note_credited((select array_agg(distinct c.item_id) from credited_items c where c.item_id = any(
      array(select unnest(array[id, parent_id, grandparent_id]) from gone))));
    return null;
  end $$;
  create trigger items_credited_gone after delete on items referencing old table as gone
    for each statement execute function foyer_items_gone();

  -- class 0 is there from the start, so that an order by count has everyone
  create function foyer_owners_made() returns trigger language plpgsql as $$ begin
    insert into credited_counts (owner_id, class_id, kind, items) select id, 0, tg_argv[0], 0 from made on conflict do nothing;
    return null;
  end $$;
  create trigger people_credited_made after insert on people referencing new table as made
    for each statement execute function foyer_owners_made('person');
  create trigger studios_credited_made after insert on studios referencing new table as made
    for each statement execute function foyer_owners_made('studio');
  insert into credited_counts (owner_id, class_id, kind, items)
    select id, 0, 'person', 0 from people union all select id, 0, 'studio', 0 from studios;

  create function foyer_owners_gone() returns trigger language plpgsql as $$ begin
    delete from credited_items where owner_id in (select id from gone);
    delete from credited_counts where owner_id in (select id from gone);
    return null;
  end $$;
  create trigger people_credited_gone after delete on people referencing old table as gone
    for each statement execute function foyer_owners_gone();
  create trigger studios_credited_gone after delete on studios referencing old table as gone
    for each statement execute function foyer_owners_gone();
`;
