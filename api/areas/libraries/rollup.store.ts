import type { Db } from '#platform/db.ts';
import { containersSql } from '#platform/item-types.ts';
import { rowsOf } from '#platform/rows.ts';

/** Reasons for the trash from which an item returns with its file; items deleted by a user stay. */
const RETURNS = `('missing', 'folder-removed')`;

/**
 * Whether item `i` returns from the trash with a file. An item deleted with its files returns when one of them is at its place
 * again, or another one came.
 */
const COMES_BACK = `case i.trash_reason when 'deleted' then exists (
    select from media_files b left join trashed_files t on t.file_id = b.id
    where b.item_id = i.id and b.missing_since is null and not b.ignored and ((t.settled_at is not null and t.at >= i.trashed_at) or (b.added_at > i.trashed_at and exists (
      select from trashed_files o join media_files m on m.id = o.file_id where m.item_id = i.id and o.settled_at is not null and o.at >= i.trashed_at))))
  else coalesce(i.trash_reason in ${RETURNS}, false) end`;

const SEQ = (alias: string): string => `(select l.change_seq from libraries l where l.id = ${alias}.library_id)`;

/**
 * Updates the totals of items from their files: size, duration, best picture, availability. Returning items leave
 * missing and trash. Containers above follow, and those in `former`, which the items left. Returns what changed. The
 * change number is that of `nextChange` in this transaction.
 */
export async function rollUpItems(db: Db, ids: readonly string[], former: readonly string[] = []): Promise<string[]> {
  if (ids.length === 0) return [];
  const leaves = await rowsOf<{ id: string }>(
    db,
    `with sums as (
       select f.item_id, count(*) filter (where f.missing_since is null)::int as present, count(*)::int as files,
         coalesce(sum(f.size_bytes) filter (where f.missing_since is null), 0)::bigint as size,
         max(f.bitrate) as bitrate,
         case when max(f.parts) > 1 then sum(f.duration_ms)::bigint else (array_agg(f.duration_ms order by f.missing_since is not null, f.edition_rank, f.id))[1] end as runtime,
         min(f.missing_since) as since
       from media_files f where f.item_id = any(?::uuid[]) and not f.ignored group by f.item_id),
     pictures as (
       select f.item_id, max((s.probe ->> 'height')::int) as height, max(s.probe ->> 'hdr') as hdr
       from media_files f join media_streams s on s.file_id = f.id and s.kind = 'video' and s.probe ->> 'attachedPicture' is null
       where f.item_id = any(?::uuid[]) group by f.item_id),
     news as (
       select s.item_id, s.size, s.files, s.bitrate, s.runtime, p.height, p.hdr,
         case when s.present = 0 then 'missing' end as availability, case when s.present = 0 then s.since end as since,
         s.present > 0 as there
       from sums s left join pictures p on p.item_id = s.item_id)
     update items i set size_bytes = n.size, file_count = n.files, bitrate = n.bitrate, runtime_ms = coalesce(n.runtime, i.runtime_ms),
       height = n.height, hdr = n.hdr, availability = n.availability, missing_since = n.since,
       trashed_at = case when n.there and ${COMES_BACK} then null else i.trashed_at end,
       trash_reason = case when n.there and ${COMES_BACK} then null else i.trash_reason end,
       change_seq = ${SEQ('i')}, updated_at = now()
     from news n where i.id = n.item_id
       and (i.size_bytes, i.file_count, i.bitrate, i.runtime_ms, i.height, i.hdr, i.availability, i.missing_since, n.there and ${COMES_BACK})
         is distinct from (n.size, n.files, n.bitrate, coalesce(n.runtime, i.runtime_ms), n.height, n.hdr, n.availability, n.since, false)
     returning i.id`,
    [ids, ids],
  );
  return [...leaves.map((row) => row.id), ...(await rollUpParents(db, ids, former))];
}

const LEAF = `c.type <> all(${containersSql}) and c.extra_of is null`;
/** Whether a container has such a child: two index lookups, because `or` may read all items. */
const HOLDS = (like: string): string =>
  ['parent_id', 'grandparent_id']
    .map((above) => `exists (select from items c where c.${above} = a.id and ${LEAF} and ${like})`)
    .join(' or ');
const LATEST = (what: string): string => `(select ${what} from (
  select c.missing_since, c.trashed_at from items c where c.parent_id = h.id and ${LEAF}
  union all select c.missing_since, c.trashed_at from items c where c.grandparent_id = h.id and ${LEAF}) below)`;

/**
 * Containers are missing when all children are, trashed when all are trashed for being missing, and return with
 * the first child.
 */
async function rollUpParents(db: Db, ids: readonly string[], former: readonly string[]): Promise<string[]> {
  const changed = await rowsOf<{ id: string }>(
    db,
    `with above as (select distinct u.id from items i, unnest(array[i.parent_id, i.grandparent_id]) as u(id)
       where i.id = any(?::uuid[]) and u.id is not null union select unnest(?::uuid[])),
     held as materialized (
       select a.id, (${HOLDS('c.availability is null')}) as there, (${HOLDS('c.trashed_at is null')}) as listed, (${HOLDS('true')}) as holds
       from above a),
     news as materialized (
       select h.id, not h.there as gone, not h.listed as trashed,
         case when not h.there then ${LATEST('min(missing_since)')} end as since, case when not h.listed then ${LATEST('max(trashed_at)')} end as at
       from held h where h.holds)
     update items p set availability = case when n.gone then 'missing' end, missing_since = case when n.gone then n.since end,
       trashed_at = case when n.trashed then coalesce(p.trashed_at, n.at) when p.trash_reason in ${RETURNS} then null else p.trashed_at end,
       trash_reason = case when n.trashed then coalesce(p.trash_reason, 'missing') when p.trash_reason in ${RETURNS} then null else p.trash_reason end,
       change_seq = ${SEQ('p')}, updated_at = now()
     from news n where p.id = n.id
       and (p.availability, p.missing_since, p.trashed_at is not null and coalesce(p.trash_reason in ${RETURNS}, false))
         is distinct from (case when n.gone then 'missing' end, case when n.gone then n.since end, n.trashed and coalesce(p.trash_reason, 'missing') in ${RETURNS})
     returning p.id`,
    [ids, [...former]],
  );
  return changed.map((row) => row.id);
}

/** What items contribute to the row of their library. */
interface Measure {
  counts: Record<string, number>;
  size: number;
  duration: number;
  missing: number;
  /** In the trash, and in no other total. */
  trashed: number;
}

/** By library. */
export type Measures = ReadonlyMap<string, Measure>;

interface MeasureRow extends Omit<Measure, 'counts'> {
  library_id: string;
  type: string;
  n: number;
}

/** Totals of the items that lists show, and the number in the trash. */
export async function measure(db: Db, ids: readonly string[]): Promise<Measures> {
  const rows = await rowsOf<MeasureRow>(
    db,
    `select library_id, type, count(*) filter (where shown)::int as n, coalesce(sum(size_bytes) filter (where shown), 0)::bigint as size,
       coalesce(sum(runtime_ms) filter (where shown), 0)::bigint as duration,
       count(*) filter (where shown and availability = 'missing' and type <> all(${containersSql}))::int as missing,
       count(*) filter (where trashed_at is not null)::int as trashed
     from items, lateral (select trashed_at is null and extra_of is null as shown) s where id = any(?::uuid[]) group by library_id, type`,
    [ids],
  );
  const byLibrary = Map.groupBy(rows, (row) => row.library_id);
  return new Map([...byLibrary].map(([id, own]) => [id, summed(own)]));
}

function summed(rows: readonly MeasureRow[]): Measure {
  const sum = (member: 'size' | 'duration' | 'missing' | 'trashed'): number =>
    rows.reduce((total, row) => total + row[member], 0);
  return {
    counts: Object.fromEntries(rows.map((row) => [row.type, row.n])),
    size: sum('size'),
    duration: sum('duration'),
    missing: sum('missing'),
    trashed: sum('trashed'),
  };
}

const NOTHING: Measure = { counts: {}, size: 0, duration: 0, missing: 0, trashed: 0 };

/** Adds the difference of two measures of the same items to the rows of their libraries. */
export async function addToLibraries(db: Db, before: Measures, after: Measures): Promise<void> {
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    await addToLibrary(db, id, { before: before.get(id) ?? NOTHING, after: after.get(id) ?? NOTHING });
  }
}

async function addToLibrary(
  db: Db,
  libraryId: string,
  { before, after }: { before: Measure; after: Measure },
): Promise<void> {
  const types = [...new Set([...Object.keys(before.counts), ...Object.keys(after.counts)])];
  const deltas = types
    .map((type) => ({ type, n: (after.counts[type] ?? 0) - (before.counts[type] ?? 0) }))
    .filter(({ n }) => n !== 0);
  await db.raw(
    `update libraries l set size_bytes = greatest(0, l.size_bytes + ?), duration_ms = greatest(0, l.duration_ms + ?),
       missing_count = greatest(0, l.missing_count + ?), trash_count = greatest(0, l.trash_count + ?), updated_at = now(),
       item_counts = (select coalesce(jsonb_object_agg(type, n), '{}') from (
         select type, sum(n)::int as n from (
           select key as type, value::int as n from jsonb_each_text(l.item_counts)
           union all select r.type, r.n from jsonb_to_recordset(?::jsonb) as r(type text, n int)) all_counts
         group by type having sum(n) > 0) sums)
     where l.id = ?`,
    [
      after.size - before.size,
      after.duration - before.duration,
      after.missing - before.missing,
      after.trashed - before.trashed,
      JSON.stringify(deltas),
      libraryId,
    ],
  );
}

/** These items and everything above them. */
export async function withParents(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    db,
    `select distinct u.id from items i, unnest(array[i.id, i.parent_id, i.grandparent_id]) as u(id) where i.id = any(?::uuid[]) and u.id is not null`,
    [ids],
  );
  return rows.map((row) => row.id);
}

/**
 * Every transaction of a scan locks libraries first, in this order, and then their rows, so that no two ever deadlock.
 */
export async function lockLibraries(db: Db, libraryIds: readonly string[]): Promise<void> {
  await rowsOf(db, 'select id from libraries where id = any(?::uuid[]) order by id for no key update', [libraryIds]);
}

/** The next change number of the library; its row stays locked until the transaction ends. */
export async function nextChange(db: Db, libraryId: string): Promise<number> {
  const [row] = await rowsOf<{ change_seq: number }>(
    db,
    'update libraries set change_seq = change_seq + 1 where id = ? returning change_seq',
    [libraryId],
  );
  return row?.change_seq ?? 0;
}

/** `nextChange` of several libraries, always in the same order so that scans do not deadlock. */
export async function nextChanges(db: Db, libraryIds: readonly string[]): Promise<Map<string, number>> {
  const seqs = new Map<string, number>();
  for (const id of [...new Set(libraryIds)].sort()) seqs.set(id, await nextChange(db, id));
  return seqs;
}

/** Libraries of these items. */
export async function librariesOf(db: Db, ids: readonly string[]): Promise<string[]> {
  const rows = await rowsOf<{ library_id: string }>(
    db,
    'select distinct library_id from items where id = any(?::uuid[])',
    [ids],
  );
  return rows.map((row) => row.library_id);
}
