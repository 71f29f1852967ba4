// Which picture of each kind an item shows, and the ImageRefs that its lists carry.
import { noteSaves } from '#areas/libraries/public.ts';
import { ageSql } from '#identity/visibility.ts';
import { imageRefSql } from '#kernel/images.ts';
import type { Db } from '#platform/db.ts';
import type { EventFacts, Payload } from '#platform/events.ts';
import { kindsOf, MOST_BACKDROPS, SLOTS } from './kinds.ts';

/** Sources in the order of the automatic choice. Pictures that a person added follow those of files and agents. */
const ORDER = ['local', 'embedded', 'agent', 'upload', 'url', 'frame', 'mosaic', 'face', 'generated'];

/** Images of `owner` and `kind` (SQL) that may be shown. */
const keptSql = (owner: string, kind: string): string =>
  `m.owner_id = ${owner} and m.kind = ${kind} and not m.discarded and m.expires_at is null`;

/** Order of the automatic choice among images `m`. A person's later addition precedes an earlier one. */
const RANK = `array_position(array['${ORDER.join("','")}'], m.source), m.origin ->> 'place' nulls first,
  case when m.source in ('upload', 'url') then m.added_at end desc, m.width::bigint * m.height desc, m.id`;

/** Ids of the shown images of an owner's kind, in order: the choice of a person, otherwise the automatic one. */
const shownSql = (owner: string, kind: string): string => `(
  select coalesce(
    (select array_agg(m.id order by c.at) from artwork_choices a, unnest(a.image_ids) with ordinality c(id, at)
       join images m on m.id = c.id and not m.discarded
     where a.owner_id = ${owner} and a.kind = ${kind}),
    case when exists (select from artwork_choices a where a.owner_id = ${owner} and a.kind = ${kind} and a.locked)
      then '{}'::uuid[] end,
    (select array_agg(one.id order by one.at) from (
       select m.id, row_number() over (order by ${RANK}) as at,
         m.source in ('frame', 'mosaic', 'face', 'generated') as made
       from images m where ${keptSql(owner, kind)}) one
     where one.at = 1 or (${kind} = 'backdrop' and not one.made and one.at <= ${MOST_BACKDROPS})),
    '{}'::uuid[]))`;

/** The shown images of an owner by kind; kinds without one are left out. */
export async function shownOf(db: Db, ownerId: string, kinds: readonly string[]): Promise<Map<string, string[]>> {
  const { rows } = await db.raw<{ rows: { kind: string; ids: string[] }[] }>(
    `select k.kind, ${shownSql('o.id', 'k.kind')} as ids
     from (select ?::uuid as id) o, unnest(?::text[]) as k(kind)`,
    [ownerId, [...kinds]],
  );
  return new Map(rows.map(({ kind, ids }) => [kind, ids]));
}

interface Candidate {
  id: string;
  library_id: string;
  type: string;
  parent_id: string | null;
}

/** Types whose only picture lies; cards, which show the poster alone, show it too. */
const LYING = ['photo', 'video'];
const PARENTS_SLOTS = ['poster', 'backdrop'];

/** The `artwork` of items as their present images make it, by item. */
async function artworkOf(db: Db, items: readonly Candidate[]): Promise<{ id: string; artwork: string }[]> {
  const wanted = items.flatMap(({ id, type, parent_id: parent }) => {
    const own = kindsOf(type);
    return SLOTS.flatMap(([slot, kinds]) => {
      const named = slot === 'poster' && LYING.includes(type) ? own : kinds.filter((kind) => own.includes(kind));
      return named.length > 0
        ? [{ id, slot, kinds: named, parent: type === 'season' && PARENTS_SLOTS.includes(slot) ? parent : null }]
        : [];
    });
  });
  const { rows } = await db.raw<{ rows: { id: string; artwork: string }[] }>(
    `with wanted as (select * from jsonb_to_recordset(?::jsonb) as w(id uuid, slot text, kinds text[], parent uuid)),
       own as (
         select w.id, w.slot, w.parent, (
           select ${imageRefSql('one.ids[1]')} from (
             select k.at, ${shownSql('w.id', 'k.kind')} as ids from unnest(w.kinds) with ordinality k(kind, at)) one
           where one.ids <> '{}' order by one.at limit 1) as ref,
           exists (select from artwork_choices a where a.owner_id = w.id and a.kind = any(w.kinds) and a.locked) as locked
         from wanted w)
     select o.id, coalesce(jsonb_object_agg(o.slot, shown.ref) filter (where shown.ref is not null), '{}')::text as artwork
     from own o left join items p on p.id = o.parent and not o.locked,
       lateral (select coalesce(o.ref::jsonb, p.artwork -> o.slot) as ref) shown
     group by o.id`,
    [JSON.stringify(wanted)],
  );
  return rows;
}

/** An item whose pictures changed, as its event needs it. */
export interface Pictured {
  id: string;
  library_id: string;
  type: string;
  title: string;
  age_years: number | null;
  labels: number[];
}

/**
 * Writes the ImageRefs of items, and of seasons without pictures of their own below them, in the caller's transaction.
 * Returns the items that changed.
 */
export async function settleArtwork(db: Db, ids: readonly string[]): Promise<Pictured[]> {
  await noteSaves(db, ids, 'artwork');
  const changed = await settleLevel(db, await candidates(db, 'i.id = any(?::uuid[])', ids));
  const shows = changed.filter(({ type }) => type === 'show').map(({ id }) => id);
  if (shows.length === 0) return changed;
  const seasons = await candidates(db, `i.parent_id = any(?::uuid[]) and i.type = 'season'`, shows);
  return [...changed, ...(await settleLevel(db, seasons))];
}

async function candidates(db: Db, condition: string, ids: readonly string[]): Promise<Candidate[]> {
  const { rows } = await db.raw<{ rows: Candidate[] }>(
    `select i.id, i.library_id, i.type, i.parent_id from items i where ${condition} order by i.id`,
    [[...ids]],
  );
  return rows;
}

async function settleLevel(db: Db, items: readonly Candidate[]): Promise<Pictured[]> {
  if (items.length === 0) return [];
  const news = JSON.stringify(await artworkOf(db, items));
  const differing = `from jsonb_to_recordset(?::jsonb) as n(id uuid, artwork text) where i.id = n.id and i.artwork is distinct from n.artwork::jsonb`;
  const { rows: libraries } = await db.raw<{ rows: { id: string }[] }>(
    `update libraries l set change_seq = change_seq + 1 where l.id in (
       select i.library_id from items i, jsonb_to_recordset(?::jsonb) as n(id uuid, artwork text)
       where i.id = n.id and i.artwork is distinct from n.artwork::jsonb) returning l.id`,
    [news],
  );
  if (libraries.length === 0) return [];
  const { rows } = await db.raw<{ rows: Pictured[] }>(
    `update items i set artwork = n.artwork::jsonb, revision = i.revision + 1, updated_at = now(),
       change_seq = (select l.change_seq from libraries l where l.id = i.library_id) ${differing}
     returning i.id, i.library_id, coalesce(i.own_type, i.type) as type, i.title, ${ageSql('i')} as age_years, i.labels`,
    [news],
  );
  return rows;
}

/** The event of an item whose pictures changed. */
export function pictureEvent(item: Pictured): { payload: Payload<'item.updated'>; facts: EventFacts } {
  const { id: itemId, library_id: libraryId, type, title, age_years: age, labels } = item;
  return {
    payload: { itemId, libraryId, type, title, changed: ['artwork'] },
    facts: { itemId, libraryId, labels, ...(age !== null && { ageYears: age }) },
  };
}
