// The file of a recording on its way to the trash, with its item or out of it.
import {
  dropEdition,
  raiseChanges,
  type Trashed,
  touchItems,
  trashFiles,
  trashItems,
} from '#areas/libraries/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import type { Db } from '#platform/db.ts';
import { emitMany } from '#platform/outbox.ts';
import { findOwnFile } from './keeping.store.ts';
import type { RecordingRow } from './recordings.store.ts';

interface By {
  accountId: string | null;
  enqueue: Call['enqueue'];
}

/**
 * Moves the file of a recording to the trash of its library. Its item goes with it; an item that has other files too, such as a film
 * that was in the library already, stays with those. The caller has checked that files may be moved. Returns the items that went.
 */
export async function trashRecording(db: Db, row: RecordingRow, { accountId, enqueue }: By): Promise<Trashed[]> {
  const own = await findOwnFile(db, row);
  if (!own) return [];
  if (own.files > 1 && own.fileId !== null) return takeOut(db, { ...own, fileId: own.fileId }, enqueue);
  const trashed = await trashItems(db, [own.itemId], accountId);
  await trashFiles(db, { itemIds: trashed.map(({ id }) => id) }, enqueue);
  await announceDeleted(db, trashed);
  return trashed;
}

async function takeOut(
  db: Db,
  { itemId, fileId }: { itemId: string; fileId: string },
  enqueue: Call['enqueue'],
): Promise<Trashed[]> {
  if (!(await dropEdition(db, itemId, fileId))) return [];
  await trashFiles(db, { editionOf: fileId }, enqueue);
  const item = await db('items').where({ id: itemId }).first('library_id');
  if (item) await raiseChanges(db, [item.library_id]);
  await touchItems(db, [itemId], ['files']);
  return [];
}

async function announceDeleted(db: Db, items: readonly Trashed[]): Promise<void> {
  await emitMany(
    db,
    'item.deleted',
    items.map(({ id: itemId, library_id: libraryId, type, title, labels, age_years: age }) => ({
      payload: { itemId, libraryId, type, title },
      facts: { itemId, libraryId, labels, ...(age !== null && { ageYears: age }) },
    })),
  );
}
