import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import type { Row } from '#platform/typed-query.ts';
import { visibleItems } from '../item/summaries.store.ts';
import type { LibraryRow } from '../listing/shelves.store.ts';
import type { LibraryChange } from '../listing.schemas.ts';

/** The position up to which a client has read. */
export interface Since {
  seq: number;
  id: string;
  /** Time of the last complete read. */
  at: Date;
  /** Text of Postgres, which keeps microseconds. */
  stateAt: string;
  stateId: string;
}

interface ChangeRow extends Pick<Row<'items'>, 'id' | 'parent_id'> {
  seq: number;
  type: string | null;
  at: Date;
  added_at: Date | null;
  visible: boolean;
}

interface ChangesQuery {
  since: Since;
  limit: number;
}

/**
 * Items and removals in order of the library's sequence. An item that the caller may not see is reported as deleted.
 */
export async function findChanges(
  { db, who }: Pick<Call, 'db' | 'who'>,
  libraryId: string,
  { since, limit }: ChangesQuery,
): Promise<LibraryChange[]> {
  const visible = visibleItems(db, who).whereRaw('i.id = c.id').select(db.raw('1'));
  const changed = db
    .from('items as c')
    .where('c.library_id', libraryId)
    .whereRaw('c.change_seq >= ? and (c.change_seq, c.id) > (?, ?::uuid)', [since.seq, since.seq, since.id])
    .orderBy(['c.change_seq', 'c.id'])
    .limit(limit)
    .select('c.change_seq as seq', 'c.id', db.raw('coalesce(c.own_type, c.type) as type'))
    .select('c.parent_id', 'c.updated_at as at', 'c.added_at')
    .select(db.raw('exists ? as visible', [visible]));
  const removed = db('library_removals as r')
    .where('r.library_id', libraryId)
    .whereRaw('r.seq >= ? and (r.seq, r.item_id) > (?, ?::uuid)', [since.seq, since.seq, since.id])
    .orderBy(['r.seq', 'r.item_id'])
    .limit(limit)
    .select('r.seq', 'r.item_id as id', db.raw('null as type, null::uuid as parent_id'), 'r.at')
    .select(db.raw('null::timestamptz as added_at, false as visible'));
  const rows: ChangeRow[] = await db
    .queryBuilder()
    .from(db.queryBuilder().unionAll([changed, removed], true).as('both'))
    .orderBy(['seq', 'id'])
    .limit(limit)
    .select('*');
  return rows.map((row) => toChange(row, since));
}

function toChange(row: ChangeRow, since: Since): LibraryChange {
  const base = { seq: row.seq, itemId: row.id, at: iso(row.at) };
  if (!row.visible) return { ...base, change: 'deleted' };
  return {
    ...base,
    change: row.added_at && row.added_at >= since.at ? 'added' : 'updated',
    ...(row.type ? { type: row.type } : {}),
    ...(row.parent_id ? { parentId: row.parent_id } : {}),
  };
}

interface StateRow extends Pick<Row<'items'>, 'id' | 'type' | 'parent_id' | 'updated_at'> {
  exact: string;
}

/** The caller's own state of visible items, in the order of its changes. */
export async function findStateChanges(
  { db, who }: Pick<Call, 'db' | 'who'>,
  library: LibraryRow,
  { since, limit }: ChangesQuery,
): Promise<{ change: LibraryChange; stateAt: string }[]> {
  const rows: StateRow[] = await visibleItems(db, who)
    .where('i.library_id', library.id)
    .whereRaw('s.profile_id is not null and (s.updated_at, s.item_id) > (?::timestamptz, ?::uuid)', [
      since.stateAt,
      since.stateId,
    ])
    .orderBy(['s.updated_at', 's.item_id'])
    .limit(limit)
    .select('i.id', db.raw('coalesce(i.own_type, i.type) as type'))
    .select('i.parent_id', 's.updated_at', db.raw('s.updated_at::text as exact'));
  return rows.map((row) => ({
    stateAt: row.exact,
    change: {
      seq: library.change_seq,
      change: 'state',
      itemId: row.id,
      type: row.type,
      ...(row.parent_id ? { parentId: row.parent_id } : {}),
      at: iso(row.updated_at),
    },
  }));
}
