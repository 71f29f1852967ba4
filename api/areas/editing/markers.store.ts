import { forgetAnalysesOf, lockMarkers } from '#areas/libraries/public.ts';
import type { Principal } from '#identity/principal.ts';
import { ageSql, onlyVisibleItems } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import type { EventFacts, Payload } from '#platform/events.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Marker, MarkersChange } from './markers.schemas.ts';

interface Asked {
  itemId: string;
  fileId?: string | undefined;
}

/** Present files of the item, in the order of playback. */
export async function markedFiles(
  db: Db,
  { itemId, fileId }: Asked,
): Promise<{ id: string; durationMs: number; locked: boolean }[]> {
  const rows = await db('media_files')
    .where({ item_id: itemId, ignored: false, ...(fileId !== undefined && { id: fileId }) })
    .orderBy(['edition_rank', 'part', 'id'])
    .select('id', 'duration_ms', 'markers_locked');
  return rows.map((row) => ({ id: row.id, durationMs: row.duration_ms ?? 0, locked: row.markers_locked }));
}

/** By file and start. */
export async function readMarkers(db: Db, files: readonly { id: string; locked: boolean }[]): Promise<Marker[]> {
  const rows = await db('markers')
    .whereIn(
      'file_id',
      files.map(({ id }) => id),
    )
    .orderBy(['start_ms', 'id'])
    .select('id', 'file_id', 'kind', 'start_ms', 'end_ms', 'source', 'confidence');
  return files.flatMap(({ id, locked }) =>
    rows
      .filter((row) => row.file_id === id)
      .map((row) => ({
        ...{ id: row.id, fileId: id, kind: row.kind, startMs: row.start_ms, endMs: row.end_ms, locked },
        source: row.source as Marker['source'],
        ...(row.confidence !== null && { confidence: row.confidence }),
      })),
  );
}

/** Episodes below a container that have markers, with how many. */
export async function countMarkers(
  db: Db,
  who: Principal,
  containerId: string,
): Promise<{ itemId: string; markers: number }[]> {
  return db('markers as m')
    .join('items as i', 'i.id', 'm.item_id')
    .whereRaw('(i.parent_id = ? or i.grandparent_id = ?)', [containerId, containerId])
    .whereNull('i.trashed_at')
    .modify(onlyVisibleItems, who, 'i')
    .groupBy('m.item_id', 'i.parent_index', 'i.index_number')
    .orderBy(['i.parent_index', 'i.index_number', 'm.item_id'])
    .select<{ itemId: string; markers: number }[]>('m.item_id as itemId', db.raw('count(*)::int as markers'));
}

/** Replaces the markers of a file; unchanged ones keep their id and source. False when nothing changed. */
export async function replaceMarkers(db: Db, itemId: string, change: MarkersChange): Promise<boolean> {
  const { fileId, markers, lock } = change;
  const before = await db('markers').where({ file_id: fileId }).forUpdate().select('id', 'kind', 'start_ms', 'end_ms');
  const kept = new Set<string>();
  const added = markers.filter((marker) => {
    const same = before.find(
      (row) =>
        row.kind === marker.kind && row.start_ms === marker.startMs && row.end_ms === marker.endMs && !kept.has(row.id),
    );
    if (same) kept.add(same.id);
    return !same;
  });
  const gone = before.filter(({ id }) => !kept.has(id)).map(({ id }) => id);
  await db('markers').whereIn('id', gone).delete();
  if (added.length > 0)
    await db('markers').insert(
      added.map(({ kind, startMs, endMs }) => ({
        ...{ id: newId(), item_id: itemId, file_id: fileId, kind, start_ms: startMs, end_ms: endMs, source: 'person' },
      })),
    );
  await lockMarkers(db, fileId, lock);
  if (!lock && markers.length === 0) await forgetAnalysesOf(db, fileId);
  return gone.length + added.length > 0;
}

/** Raises the revision of an item whose markers changed; what `item.updated` then reports. */
export async function touchMarked(
  db: Db,
  itemId: string,
): Promise<{ payload: Payload<'item.updated'>; facts: EventFacts }> {
  const { rows } = await db.raw<{ rows: EventRow[] }>(
    `with l as (update libraries set change_seq = change_seq + 1
       where id = (select library_id from items where id = ?) returning change_seq)
     update items i set revision = revision + 1, updated_at = now(), change_seq = l.change_seq from l where i.id = ?
     returning i.library_id, i.type, i.title, i.labels, ${ageSql('i')} as age_years`,
    [itemId, itemId],
  );
  const [row] = rows;
  if (!row) throw new Error(`item ${itemId} does not exist`);
  const { library_id: libraryId, type, title, labels, age_years: age } = row;
  return {
    payload: { itemId, libraryId, type, title, changed: ['markers'] },
    facts: { itemId, libraryId, labels, ...(age !== null && { ageYears: age }) },
  };
}

type EventRow = Pick<Row<'items'>, 'library_id' | 'type' | 'title' | 'labels' | 'age_years'>;
