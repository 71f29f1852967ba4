import type { Knex } from 'knex';
import type { Principal } from '#identity/principal.ts';
import { ageSql, onlyUnhidden } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { containersSql } from '#platform/item-types.ts';
import type { Row } from '#platform/typed-query.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'items.trash_reason': 'missing' | 'deleted' | 'folder-removed';
  }
}

export interface TrashRow extends Pick<Row<'items'>, 'id' | 'trashed_by'> {
  trashed_at: Date;
  trash_reason: NonNullable<Row<'items'>['trash_reason']>;
  child_count: number;
}

export interface TrashFilter {
  libraryId: string;
  reason?: string | undefined;
  q?: string | undefined;
  before?: Date | undefined;
}

/** Entries of the trash. An item whose parent (or owner, for an extra) is trashed too belongs to the parent's entry. */
export function trashEntries(db: Db, { libraryId, reason, q, before }: TrashFilter): Knex.QueryBuilder {
  const query = db('items as i')
    .where('i.library_id', libraryId)
    .whereNotNull('i.trashed_at')
    .whereNotExists((above) => {
      above
        .from('items as a')
        .whereNotNull('a.trashed_at')
        .whereRaw('a.id in (i.parent_id, i.grandparent_id, i.extra_of)');
    });
  if (reason) query.where('i.trash_reason', reason);
  if (before) query.where('i.trashed_at', '<=', before);
  if (q)
    query.whereRaw('foyer_fold(i.title) like ?', [
      `%${escapeLike(q.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase())}%`,
    ]);
  return query;
}

function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, '\\$&');
}

export function selectTrash(db: Db, query: Knex.QueryBuilder): Knex.QueryBuilder<object, TrashRow[]> {
  return query.select('i.id', 'i.trashed_at', 'i.trash_reason', 'i.trashed_by').select(
    db.raw(`(select count(*)::int from items c where c.trashed_at is not null
      and (c.parent_id = i.id or c.grandparent_id = i.id)) as child_count`),
  );
}

export interface TrashFile {
  id: string;
  /** Id of the trash entry. */
  entry_id: string;
  size_bytes: number;
  missing: boolean;
  unavailable: boolean;
  /** In the trash folder of its storage, or on the way there. */
  in_trash: boolean;
  read_only: boolean;
}

/** Files of entries and of all their descendants. */
export async function filesOfEntries(db: Db, ids: readonly string[]): Promise<TrashFile[]> {
  const found = await db.raw<{ rows: TrashFile[] }>(
    `select f.id, e.id as entry_id, f.size_bytes, f.missing_since is not null as missing,
            not (s.enabled and s.state in ('available', 'degraded')) as unavailable, s.read_only,
            exists (select from trashed_files t where t.file_id = f.id) as in_trash
     from unnest(?::uuid[]) as e(id)
     join items i on e.id in (i.id, i.parent_id, i.grandparent_id, i.extra_of)
     join media_files f on f.item_id = i.id
     join storages s on s.id = f.storage_id`,
    [[...ids]],
  );
  return found.rows;
}

export async function trashTotals(
  db: Db,
  who: Principal,
  libraryId: string,
): Promise<{ items: number; files: number; bytesOnStorage: number }> {
  const [row] = await db('items as i')
    .leftJoin('media_files as f', 'f.item_id', 'i.id')
    .where('i.library_id', libraryId)
    .whereNotNull('i.trashed_at')
    .modify(onlyUnhidden, who, 'i')
    .select<{ items: number; files: number; bytes: number }[]>(
      db.raw(`count(distinct i.id)::int as items, count(f.id)::int as files,
        coalesce(sum(f.size_bytes) filter (where f.missing_since is null or exists (select from trashed_files t where t.file_id = f.id)), 0)::bigint as bytes`),
    );
  return { items: row?.items ?? 0, files: row?.files ?? 0, bytesOnStorage: row?.bytes ?? 0 };
}

const TOMBSTONE_DAYS = 365;

/** Trashed descendants of entries. An item that holds something outside the trash stays. */
const PURGED = `select i.id from unnest(?::uuid[]) as e(id) join items i on e.id in (i.id, i.parent_id, i.grandparent_id, i.extra_of)
  where i.library_id = ? and i.trashed_at is not null
    and not exists (select from items c where c.parent_id = i.id and c.trashed_at is null)
    and not exists (select from items c where c.grandparent_id = i.id and c.trashed_at is null)
    and not exists (select from items c where c.extra_of = i.id and c.trashed_at is null)`;

/**
 * Purges entries and their descendants. A tombstone keeps ids and states for a year. Files at their place get an ignore
 * mark, and those in the trash folder are deleted there by job `library.purge`. Returns the number of purged items.
 */
export async function purgeEntries(db: Db, libraryId: string, ids: readonly string[]): Promise<number> {
  if (ids.length === 0) return 0;
  const below = PURGED;
  const list = [...ids];
  await db.raw(
    `insert into item_tombstones (item_id, library_id, type, identity_key, external_ids, hashes, states, expires_at)
     select i.id, i.library_id, i.type, i.identity_key, i.external_ids,
       array(select encode(sampled_hash, 'hex') from media_files where item_id = i.id and sampled_hash is not null),
       coalesce((select jsonb_agg(to_jsonb(s)) from item_states s where s.item_id = i.id), '[]'),
       now() + make_interval(days => ?)
     from items i where i.id in (${below}) on conflict (item_id) do nothing`,
    [TOMBSTONE_DAYS, list, libraryId],
  );
  await db.raw(
    `insert into ignored_files (library_id, storage_id, path)
     select library_id, storage_id, path from media_files f where missing_since is null and item_id in (${below})
       and not exists (select from trashed_files t where t.file_id = f.id and t.settled_at is null)
     on conflict do nothing`,
    [list, libraryId],
  );
  await db.raw(
    `update trashed_files set wanted = 'none', settled_at = null
     where file_id in (select f.id from media_files f where f.item_id in (${below}))`,
    [list, libraryId],
  );
  await recordRemovals(db, libraryId, { sql: below, ids: list });
  const gone = await db.raw<{ rowCount: number }>(`delete from items where id in (${below})`, [list, libraryId]);
  await countTrash(db, libraryId);
  return gone.rowCount;
}

async function recordRemovals(db: Db, libraryId: string, below: { sql: string; ids: string[] }): Promise<void> {
  await db.raw(
    `with gone as (${below.sql}),
          grown as (update libraries set change_seq = change_seq + (select count(*) from gone) where id = ? returning change_seq)
     insert into library_removals (library_id, seq, item_id)
     select ?, grown.change_seq - row_number() over () + 1, gone.id from gone, grown`,
    [below.ids, libraryId, libraryId, libraryId],
  );
}

/** Updates the trash count on the library's row. */
export async function countTrash(db: Db, libraryId: string): Promise<void> {
  await db.raw(
    `update libraries set trash_count = (select count(*) from items where library_id = ? and trashed_at is not null) where id = ?`,
    [libraryId, libraryId],
  );
}

/** Recomputes all counts on the library's row. The row must be locked, because a scan adds to the counts. */
export async function recountLibrary(db: Db, libraryId: string): Promise<void> {
  await db.raw(
    `update libraries l set item_counts = n.counts, size_bytes = n.size, duration_ms = n.duration, missing_count = n.missing
     from (select coalesce(jsonb_object_agg(type, items), '{}') as counts, coalesce(sum(size), 0)::bigint as size,
             coalesce(sum(duration), 0)::bigint as duration, coalesce(sum(missing), 0)::int as missing
           from (select type, count(*)::int as items, sum(size_bytes) as size, sum(runtime_ms) as duration,
                   count(*) filter (where availability = 'missing' and type <> all(${containersSql})) as missing
                 from items where library_id = ? and trashed_at is null and extra_of is null group by type) by_type) n
     where l.id = ?`,
    [libraryId, libraryId],
  );
  await countTrash(db, libraryId);
}

export interface Restorable {
  id: string;
  unavailable: boolean;
  folder_gone: boolean;
  missing: boolean;
  library_id: string;
}

/** The obstacles to restoring each of `ids`. The map lacks ids that are not in the trash. */
export async function restorability(
  db: Db,
  libraryId: string,
  ids: readonly string[],
): Promise<Map<string, Restorable>> {
  const found = await db.raw<{ rows: Restorable[] }>(
    `select i.id, i.library_id,
       coalesce(bool_and(not (s.enabled and s.state in ('available', 'degraded'))), false) as unavailable,
       count(f.id) = 0 as folder_gone,
       coalesce(bool_and(f.missing_since is not null and not exists (select from trashed_files t where t.file_id = f.id)), false) as missing
     from items i
     left join items below on i.id in (below.id, below.parent_id, below.grandparent_id)
     left join media_files f on f.item_id = below.id
     left join storages s on s.id = f.storage_id
     where i.library_id = ? and i.trashed_at is not null and i.id = any(?::uuid[])
     group by i.id`,
    [libraryId, [...ids]],
  );
  return new Map(found.rows.map((row) => [row.id, row]));
}

/** Restores items with their parents and descendants. Items without a file become missing, with a new grace period. */
export async function restoreEntries(db: Db, libraryId: string, ids: readonly string[]): Promise<string[]> {
  await db('libraries').where({ id: libraryId }).increment('change_seq', 1);
  const restored = await db.raw<{ rows: { id: string }[] }>(
    `with chosen as (select id, parent_id, grandparent_id from items where library_id = ? and id = any(?::uuid[]))
     update items i set trashed_at = null, trash_reason = null, trashed_by = null, updated_at = now(),
       revision = i.revision + 1, change_seq = l.change_seq,
       availability = case when f.there is false then 'missing' end,
       missing_since = case when f.there is false then now() end
     from libraries l, items held, lateral (
       select bool_or(m.missing_since is null or exists (select from trashed_files t where t.file_id = m.id)) as there
       from media_files m where m.item_id = held.id) f
     where held.id = i.id and l.id = i.library_id and i.library_id = ? and i.trashed_at is not null and exists (
       select 1 from chosen c where c.id in (i.id, i.parent_id, i.grandparent_id, i.extra_of) or i.id in (c.parent_id, c.grandparent_id))
     returning i.id`,
    [libraryId, [...ids], libraryId],
  );
  await recountLibrary(db, libraryId);
  return restored.rows.map((row) => row.id);
}

/** The facts by which subscribers of events about these items are chosen. */
export async function factsOfItems(
  db: Db,
  ids: readonly string[],
): Promise<{ id: string; age_years: number | null; labels: number[] }[]> {
  return db('items')
    .whereRaw('id = any(?::uuid[])', [[...ids]])
    .select<{ id: string; age_years: number | null; labels: number[] }[]>(
      ...(['id', 'labels'] as const),
      db.raw(`${ageSql('items')} as age_years`),
    );
}
