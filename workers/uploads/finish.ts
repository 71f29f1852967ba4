// Job upload.finish: an upload whose chunks are all stored becomes a file of its library and an item. Each step can be repeated
// after its worker died; the row of the upload says which are done.
import { bringBack, setAddedBy } from '#areas/libraries/public.ts';
import { requestScan } from '#areas/scanning/public.ts';
import {
  endUpload,
  extensionOf,
  hasEnded,
  KEPT_DAYS,
  keyOf,
  noteChanged,
  notePlaced,
  noteStorageGone,
  noteUnnamed,
  takeTurn,
  type UploadRow,
  uploadFolderOf,
} from '#areas/uploads/public.ts';
import { principalOf } from '#identity/account-row.ts';
import { may, type Principal } from '#identity/principal.ts';
import { visibleItemIds, visibleLibraryIds } from '#identity/visibility.ts';
import { type Db, existing } from '#platform/db.ts';
import { DiskFull, saysFull } from '#platform/disk.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { rowsOf } from '#platform/rows.ts';
import { Postponed, type Work } from '../work.ts';
import { arrive, BUCKET, isIntact, Unfit } from './arrive.ts';
import { Cancelled, Changed, StorageGone } from './naming.ts';
import { type Partner, partnerOf, waitsFor } from './partner.ts';
import { itemsWith } from './same-file.ts';
import { targetOf } from './target.ts';
import { tidyEnded } from './tidy.ts';

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const DAY_MS = 1440 * MINUTE_MS;
/** A file that no scan has found after so long is none that a library takes; scans wait for others and for storages. */
const SCAN_MS = DAY_MS;
/** The first looks after the result of a scan come soon. */
const SOON_MS = 5 * MINUTE_MS;
/** The notification of a batch comes so long after its last file. */
export const QUIET_MS = 10 * MINUTE_MS;

const soon = (ms: number): Date => new Date(Date.now() + ms);

export async function finishUpload({ uploadId }: JobPayload<'upload.finish'>, work: Work): Promise<object> {
  const row = await work.db('uploads').where({ id: uploadId }).first();
  if (!row) return {};
  if (row.ended_at) {
    await tidyEnded(work, row);
    return {};
  }
  try {
    await advance(work, row);
  } catch (error) {
    if (error instanceof Cancelled || (await hasEnded(work.db, row.id))) return {};
    const fault = error instanceof Changed ? await causeOf(work, row.id) : error;
    const reason = reasonOf(fault, row);
    if (!reason) throw fault instanceof StorageGone ? await putOff(work, row) : fault;
    await end(work, row, { state: 'failed', reason });
  }
  return {};
}

const FULL = 'storage-full';

/** Why the upload ends here; undefined while it goes on. */
function reasonOf(error: unknown, { gone_since: since }: UploadRow): string | undefined {
  if (error instanceof Unfit) return error.reason;
  if (error instanceof StorageGone && since && Date.now() - since.getTime() > KEPT_DAYS * DAY_MS) return 'storage-away';
  return error instanceof DiskFull || saysFull(error) ? FULL : undefined;
}

/** Tries with a storage that does not keep the bytes that it gets; the pauses between them double. */
const MOST_CHANGED = 5;

/** Bytes that cannot match end the upload: at once when the stored object is damaged, after some tries when the storage changes them. */
async function causeOf(work: Work, id: string): Promise<Unfit | Postponed> {
  const row = existing(await work.db('uploads').where({ id }).first());
  if (!(await isIntact(work, row))) return new Unfit('corrupt');
  const tries = await noteChanged(work.db, id);
  if (tries >= MOST_CHANGED) return new Unfit('checksum-mismatch');
  return new Postponed(soon(2 ** (tries - 1) * MINUTE_MS));
}

async function advance(work: Work, row: UploadRow): Promise<void> {
  const { who, libraryId } = await requireAccess(work.db, row);
  const folder = await uploadFolderOf(work.db, libraryId, row.account_id);
  if (!folder) throw new StorageGone();
  const target = await targetOf(work, folder);
  if (!(await target.holds(row))) {
    await target.tidy(row);
    await noteUnnamed(work.db, row.id); // after the drafts are gone: a stalled worker can name none of them
    const sha256 = await arrive(work, row);
    const importing = { ...row, sha256 };
    const turn = await takeTurn(work.db, importing);
    if (turn === 'taken') throw new Postponed(soon(2 * SECOND_MS));
    if (turn === 'ended') throw new Cancelled();
    const same = await itemsWith(work, { libraryId, sha256, size: row.size_bytes });
    if (await endAsDuplicate(work, row, { who, ids: same })) return;
    const partner = await partnerOf(work.db, row);
    if (waitsFor(row, partner, new Date())) throw new Postponed(soon(30 * SECOND_MS));
    const album = await directoryOfAlbum(work.db, row, folder.id);
    await target.place(importing, { album, partner });
  }
  await notePlaced(work.db, row.id);
  await settle(work, existing(await work.db('uploads').where({ id: row.id }).first()));
}

async function requireAccess(db: Db, row: UploadRow): Promise<{ who: Principal; libraryId: string }> {
  const library =
    row.library_id && (await db('libraries').where({ id: row.library_id }).whereNull('deleted_at').first('id'));
  if (!library) throw new Unfit('library-gone');
  const who = await principalOf(db, row.account_id);
  if (!who || !may(who, 'photo:upload')) throw new Unfit('access-lost');
  if ((await visibleLibraryIds(db, who, [library.id])).length === 0) throw new Unfit('access-lost');
  return { who, libraryId: library.id };
}

async function directoryOfAlbum(db: Db, { album_id: album }: UploadRow, folderId: string): Promise<string | undefined> {
  if (!album) return undefined;
  const [file] = await rowsOf<{ directory: string }>(
    db,
    `select f.directory from media_files f join items i on i.id = f.item_id
     where i.parent_id = ? and f.folder_id = ? and f.missing_since is null limit 1`,
    [album, folderId],
  );
  return file?.directory;
}

/** The item is not one that the person may see: nothing about it is revealed, and nothing is restored. */
class Hidden extends Error {}

/** Ends the upload with the first of these items that the person may see, out of the trash too; false when there is none. */
async function endAsDuplicate(
  work: Work,
  row: UploadRow,
  { who, ids }: { who: Principal; ids: readonly string[] },
): Promise<boolean> {
  for (const itemId of ids) {
    try {
      await work.db.transaction((db) => takeItem(work, db, { row, who, itemId }));
    } catch (error) {
      if (error instanceof Hidden) continue;
      throw error;
    }
    await work.objects.remove(BUCKET, [keyOf(row.id)]);
    return true;
  }
  return false;
}

async function takeItem(
  work: Work,
  db: Db,
  { row, who, itemId }: { row: UploadRow; who: Principal; itemId: string },
): Promise<void> {
  const item = await db('items').where({ id: itemId }).first('library_id', 'trashed_at');
  if (item?.trashed_at) {
    const enqueue = (name: string, payload: unknown, options?: object): Promise<string> =>
      work.enqueue(db, name as never, { payload: payload as never, ...(options && { options }) });
    await bringBack({ db, enqueue: enqueue as never }, item.library_id, [itemId]);
  }
  if ((await visibleItemIds(db, who, [itemId])).length === 0) throw new Hidden();
  await endUpload(db, row.id, { state: 'duplicate', itemId });
  await notifyLater(work, db, row.account_id);
}

/** The file is in its folder: a scan makes the item, which ends the upload. */
async function settle(work: Work, row: UploadRow): Promise<void> {
  const { db } = work;
  const { library_id: libraryId, folder_id: folderId, path } = row;
  if (libraryId === null || folderId === null || path === null) throw new Unfit('library-gone');
  const partner = extensionOf(row.name) === 'xmp' ? await partnerOf(db, row) : undefined;
  const itemId = await itemOf(db, row, partner);
  if (itemId || partner) return endAsFinished(work, row, itemId);
  const placedMs = Date.now() - row.updated_at.getTime();
  if (placedMs > SCAN_MS) throw new Unfit('corrupt');
  await db.transaction((inside) => scanPlace(inside, { libraryId, folderId, path, accountId: row.account_id }));
  throw new Postponed(soon(placedMs < SOON_MS ? 1.5 * SECOND_MS : MINUTE_MS));
}

interface Placed {
  libraryId: string;
  folderId: string;
  path: string;
  accountId: string;
}

async function scanPlace(db: Db, { libraryId, folderId, path, accountId }: Placed): Promise<void> {
  const folder = await db('library_folders').where({ id: folderId }).first('path');
  const directory = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  const targets = [{ folderId, path: directory === folder?.path ? undefined : directory }];
  await requestScan(db, { libraryId, mode: 'quick', trigger: 'upload', byAccountId: accountId, targets });
}

async function itemOf(db: Db, row: UploadRow, partner: Partner | undefined): Promise<string | undefined> {
  if (partner) return partner.item_id ?? undefined;
  const file = await db('media_files').where({ folder_id: row.folder_id, path: row.path }).first('item_id');
  return file?.item_id ?? undefined;
}

async function endAsFinished(work: Work, row: UploadRow, itemId: string | undefined): Promise<void> {
  await work.db.transaction(async (db) => {
    if (itemId) await setAddedBy(db, itemId, row.account_id);
    await endUpload(db, row.id, { state: 'finished', ...(itemId && { itemId }) });
    await notifyLater(work, db, row.account_id);
  });
  await work.objects.remove(BUCKET, [keyOf(row.id)]);
}

/** The sweep of the account notifies it once, when its uploads have been quiet for a while. */
async function notifyLater(work: Work, db: Db, accountId: string): Promise<void> {
  const options = { key: `upload.sweep:${accountId}`, runAt: soon(QUIET_MS) };
  await work.enqueue(db, 'upload.sweep', { payload: { accountId }, options });
}

async function putOff({ db }: Work, row: UploadRow): Promise<Postponed> {
  await noteStorageGone(db, row);
  return new Postponed(soon(MINUTE_MS), 'storage');
}

/** A worker that died while it wrote left a part of the file. */
async function tidyLater(work: Work, db: Db, id: string): Promise<void> {
  await work.enqueue(db, 'upload.finish', { payload: { uploadId: id }, options: { key: `upload.finish:${id}` } });
}

/** A file for which there was no space is kept for another try; all others are deleted. */
async function end(work: Work, row: UploadRow, failure: { state: 'failed'; reason: string }): Promise<void> {
  await work.db.transaction(async (db) => {
    await endUpload(db, row.id, failure);
    await notifyLater(work, db, row.account_id);
    if (row.state === 'importing') await tidyLater(work, db, row.id);
  });
  if (failure.reason !== FULL) await work.objects.remove(BUCKET, [keyOf(row.id)]);
}
