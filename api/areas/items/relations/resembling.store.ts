import type { Db } from '#platform/db.ts';
import { resemblance } from './resemblance.ts';

/** Music compares tracks, albums and artists by sound; Faces compares photos by picture. */
const COMPARED = ['movie', 'show', 'video', 'book', 'audiobook', 'comic-series', 'game', 'course'];
const KEPT = 100;

/** Replaces the stored neighbours of an item by its 100 nearest. Reads apply visibility. */
export async function storeNeighbours(db: Db, itemId: string): Promise<void> {
  await db.transaction(async (transaction) => {
    await transaction('item_neighbours').where({ item_id: itemId }).delete();
    await transaction.raw(
      `insert into item_neighbours (item_id, neighbour_id, score, because)
       select ?::uuid, near.neighbour_id, near.score, near.because from (${resemblance}) near
       order by near.score desc, near.neighbour_id limit ${KEPT}`,
      [itemId, itemId],
    );
  });
}

export interface Comparing {
  /** All items of this library; without it, items that changed in the last day or were never compared. */
  libraryId?: string | undefined;
  /** Ids after this one. */
  after?: string | undefined;
  limit: number;
}

/** Ids of the next items to compare, in order. */
export async function listToCompare(db: Db, { libraryId, after, limit }: Comparing): Promise<string[]> {
  const query = db('items as i').whereNull('i.trashed_at').whereNull('i.extra_of').whereIn('i.type', COMPARED);
  if (libraryId !== undefined) query.where('i.library_id', libraryId);
  else {
    query.whereRaw(`(i.updated_at > now() - interval '26 hours'
      or not exists (select 1 from item_neighbours n where n.item_id = i.id))`);
  }
  if (after !== undefined) query.where('i.id', '>', after);
  const rows: { id: string }[] = await query.orderBy('i.id').limit(limit).select('i.id');
  return rows.map((row) => row.id);
}
