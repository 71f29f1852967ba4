import type { Knex } from 'knex';
import { containersSql } from '../item-types.ts';

/**
 * An item that contains no others has a single condition, which is not collected from rows any more. All others, and every class,
 * stay as they were.
 */
export async function up(db: Knex): Promise<void> {
  await db.raw(WANTED);
}

// as in 20261124020010_people_counts
const AGE = (alias: string): string => `(select max(above.age_years) from items above
  where above.id in (${alias}.id, ${alias}.parent_id, ${alias}.grandparent_id, ${alias}.extra_of))`;

const CONTAINER = (type: string): string => `${type} = any(${containersSql})`;

const OWNERS = (item: string): string => `
  select c.person_id as owner, 'person' as kind from credits c where c.item_id = ${item}
  union select t.tag_id, 'studio' from item_tags t where t.item_id = ${item} and t.kind = 'studio' and t.tag_id is not null`;

const WANTED = `
  create or replace function foyer_credited_of(these uuid[])
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
      where ${CONTAINER('s.type')} and (exists (select from credits c where c.item_id = h.id)
        or exists (select from item_tags t where t.item_id = h.id and t.kind = 'studio'))),
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
    from placed p cross join lateral (${OWNERS('p.via')}) o
      left join lateral jsonb_array_elements(p.paths) as path on true
    group by o.owner, p.stood, o.kind, p.library_id
    union all
    select o.owner, s.id, o.kind, s.library_id,
      jsonb_build_array(jsonb_build_array(jsonb_build_array(s.age, to_jsonb(s.labels)))), (s.type = 'episode')::int
    from stood s cross join lateral (${OWNERS('s.id')}) o where not ${CONTAINER('s.type')}
  $$;
`;
