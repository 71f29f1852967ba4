/**
 * SQL that scores items similar to one item (its id is the only parameter) by shared tags, shared people and a nearby
 * year. Rare tags and people count more. Requests and the job that stores neighbours use it.
 */

const KIND_WEIGHT = `(case m.kind when 'collection' then 4 when 'genre' then 2 when 'tag' then 1 when 'studio' then 1 else 0 end)`;
const BECAUSE = `(case m.kind when 'collection' then 'series' else m.kind end)`;

/** The most rows read for one tag or person. */
const COMMON = 5000;

export const resemblance = `
  with me as (select id, library_id, type, year from items where id = ?::uuid),
  marks as (
    select t.kind, t.name_folded, t.library_id,
      (select count(*) from (select 1 from item_tags o where o.library_id = t.library_id and o.kind = t.kind
        and o.name_folded = t.name_folded limit ${COMMON}) few) as often
    from item_tags t join me on me.id = t.item_id
    where t.kind in ('genre', 'tag', 'studio', 'collection')
  ),
  cast_marks as (
    select c.person_id, min(c.position) as position,
      (select count(*) from (select 1 from credits o where o.person_id = c.person_id limit ${COMMON}) few) as often
    from credits c join me on me.id = c.item_id group by c.person_id order by min(c.position) limit 20
  ),
  shared as (
    select t.item_id as neighbour_id, ${BECAUSE} as reason, ${KIND_WEIGHT} / ln(2 + m.often) as worth
    from marks m
    cross join lateral (select o.item_id from item_tags o
      where o.library_id = m.library_id and o.kind = m.kind and o.name_folded = m.name_folded limit ${COMMON}) t
    union all
    select c.item_id, 'person', (case when m.position < 5 then 3 else 1.5 end) / ln(2 + m.often)
    from cast_marks m
    cross join lateral (select distinct o.item_id from credits o where o.person_id = m.person_id limit ${COMMON}) c
  ),
  scored as (
    select neighbour_id, sum(worth) as worth, array_agg(distinct reason order by reason) as because
    from shared group by neighbour_id
  )
  select scored.neighbour_id, scored.because,
    (scored.worth * (case when abs(n.year - me.year) <= 5 then 1.15 when abs(n.year - me.year) <= 15 then 1 else 0.85 end))::real
      as score
  from scored join items n on n.id = scored.neighbour_id join me on n.type = me.type and n.id <> me.id
  where n.trashed_at is null and n.extra_of is null`;
