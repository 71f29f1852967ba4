// Job live.finish: the parts of an ended recording become a file of its library. Each step can be repeated after its worker died.

import { randomUUID } from 'node:crypto';
import { mkdir, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { bringBack } from '#areas/libraries/public.ts';
import {
  findRecording,
  finishRecording,
  isWatchedGrowing,
  lockRecording,
  markCleared,
  notePlace,
  type RecordingRow,
  trashRecording,
} from '#areas/live-tv/public.ts';
import { requestScan } from '#areas/scanning/public.ts';
import { numbered } from '#areas/uploads/public.ts';
import type { Db } from '#platform/db.ts';
import { DiskFull, saysFull } from '#platform/disk.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { listParts, removeParts } from '#platform/live/parts.ts';
import { FinalFailure, Postponed, type Work } from '#workers/work.ts';
import { describeExpected, moveExpected } from '../../scan/expected.ts';
import { endItem, expectedOf } from '../recorder/item.ts';
import { notifyOwner } from '../recorder/notices.ts';
import { type Folder, FolderUnavailable, folderOf } from '../recorder/target.ts';
import { type Destination, destinationOf } from './destination.ts';
import { joinParts, Unjoinable } from './join.ts';
import { partsOfPath } from './names.ts';
import { Notes, type PlacedFile } from './notes.ts';

const MINUTE_MS = 60_000;
/** A target that is unavailable or full is tried for so long; the parts stay. */
const KEPT_MS = 7 * 24 * 60 * MINUTE_MS;
const AWAY = 'TARGET_AWAY';
/** A scan of one folder takes about so long. */
const SCAN_MS = 1500;
/** The file of a deleted recording waits for its item for so long. */
const ITEMLESS_MS = 30 * MINUTE_MS;

/** The recording was deleted while its file was made. */
class Discarded extends Error {}

const soon = (ms: number): Date => new Date(Date.now() + ms);

export async function finishLiveRecording({ recordingId }: JobPayload<'live.finish'>, work: Work): Promise<object> {
  const row = await findRecording(work.db, recordingId);
  const isDiscarded = row?.state === 'cancelled';
  if (!row || (row.cleared_at !== null && !isDiscarded)) return {};
  const notes = new Notes(work);
  try {
    if (isDiscarded) {
      await discard(work, row, notes);
      return {};
    }
    const itemId = row.finished_at === null ? await advance(work, row, notes) : row.item_id;
    await clear(work, row.id);
    return { itemId };
  } catch (error) {
    const fault = await faultOf(notes, error);
    if (fault instanceof FinalFailure) await giveUp(work, row, fault);
    throw fault;
  }
}

/**
 * It gets no file, so its item goes. The parts go too once they have waited for their folder for the longest time, or when the
 * recording was deleted: deleteRecording enqueues this job again.
 */
async function giveUp(work: Work, { id }: RecordingRow, { code }: FinalFailure): Promise<void> {
  await work.db.transaction((tx) => endItem(tx, id));
  const row = await findRecording(work.db, id);
  if (code === AWAY || !row || row.removed_at !== null) await clear(work, id);
}

async function faultOf(notes: Notes, error: unknown): Promise<unknown> {
  if (error instanceof Discarded) return new Postponed(new Date()); // the next run drops the unfinished file
  if (error instanceof Unjoinable) return new FinalFailure('UNJOINABLE', error.message);
  return error instanceof FolderUnavailable || error instanceof DiskFull || saysFull(error) ? putOff(notes) : error;
}

/** The pause grows with the time that it has waited, which counts from its first refusal: a server that was off tried nothing. */
async function putOff(notes: Notes): Promise<Error> {
  const { since = Date.now() } = notes.kept;
  await notes.keep({ since });
  const waitedMs = Date.now() - since;
  if (waitedMs > KEPT_MS) return new FinalFailure(AWAY, 'Its folder could not be written for seven days');
  return new Postponed(soon(Math.min(10 * MINUTE_MS, Math.max(5000, waitedMs / 4))), 'storage');
}

interface Way {
  folder: Folder;
  to: Destination;
  notes: Notes;
}

/** Undefined when the library has no folder. Throws `FolderUnavailable`. */
async function wayOf(work: Work, row: RecordingRow, notes: Notes): Promise<Way | undefined> {
  const folder = await folderOf(work.db, { ...row, folder_id: row.file_folder_id ?? row.folder_id });
  if (!folder) return undefined;
  const appears = async () => requireWanted(await findRecording(work.db, row.id));
  return { folder, to: await destinationOf(work, folder, { recordingId: row.id, notes, appears }), notes };
}

function requireWanted(row: RecordingRow | undefined): void {
  if (!row || row.state === 'cancelled') throw new Discarded();
}

/** A deleted recording leaves no file in its folder; the recorder removes its parts. */
async function discard(work: Work, row: RecordingRow, notes: Notes): Promise<void> {
  const way = await wayOf(work, row, notes);
  if (!way) return;
  const path = await placedPath(row, way.to, notes);
  if (path === undefined) await dropUnfinished(row, way);
  else await trashPlaced(work, row, { folder: way.folder, path, notes });
}

/** Scans would find a file that has appeared: it goes to the trash where its library allows that, once it has an item. */
async function trashPlaced(work: Work, row: RecordingRow, place: Placed & { notes: Notes }): Promise<void> {
  const library = await work.db('libraries').where({ id: place.folder.libraryId }).first('settings');
  if (library?.settings.fileDeletion !== true) return;
  const file = await fileOf(work, place.folder, place.path);
  if (!file) return waitForItem(work, row, place);
  await work.db.transaction(async (tx) => {
    await finishRecording(tx, row.id, file.itemId);
    await trashRecording(tx, row, { accountId: row.account_id, enqueue: enqueuing(work, tx) });
  });
}

/** The pause grows. Where no scan gives the file an item, the file stays. */
async function waitForItem(work: Work, row: RecordingRow, { notes, ...place }: Placed & { notes: Notes }) {
  const { itemlessSince = Date.now() } = notes.kept;
  await notes.keep({ itemlessSince });
  const waitedMs = Date.now() - itemlessSince;
  if (waitedMs <= ITEMLESS_MS) await scanFirst(work, row, { ...place, pauseMs: Math.max(SCAN_MS, waitedMs / 4) });
}

/** Deletes the unfinished files of a deleted recording. */
async function dropUnfinished(row: RecordingRow, { to, notes }: Way): Promise<void> {
  const { file } = notes.kept;
  if (file && file.path === row.file_path) await to.dropDraft(file.path);
  await rm(to.drafts, { recursive: true, force: true });
  await dropEmpty(to.drafts);
}

async function advance(work: Work, row: RecordingRow, notes: Notes): Promise<string> {
  const way = await wayOf(work, row, notes);
  if (!way) throw new FolderUnavailable();
  const { folder, to } = way;
  const path = (await placedPath(row, to, notes)) ?? (await to.inTurn(() => place(work, row, way)));
  const file = await fileOf(work, folder, path);
  if (file === undefined) return scanFirst(work, row, { folder, path });
  const { fileId, itemId } = file;
  await work.db.transaction(async (tx) => {
    requireWanted(await lockRecording(tx, row.id));
    await leaveTrash(tx, work, itemId);
    // The file may belong to another item after all, such as a film that came in the meantime.
    if (row.item_id !== itemId) await endItem(tx, row.id);
    else await describeExpected(tx, work, { libraryId: folder.libraryId, itemId });
    await finishRecording(tx, row.id, itemId);
    await notifyOwner(tx, row, { kind: 'recording-finished', itemId });
    if (!work.settings.get('dvr.detectCommercials')) return;
    const target = { kind: 'recording', id: row.id, title: row.title };
    await work.enqueue(tx, 'live.commercials', {
      payload: { fileId },
      options: { key: `live.commercials:${fileId}`, target },
    });
  });
  return itemId;
}

/** The path that an earlier run gave to the file; undefined while no file, or another one, has it. */
async function placedPath({ file_path: noted }: RecordingRow, to: Destination, notes: Notes) {
  const { file } = notes.kept;
  if (!file || file.path !== noted || !(await to.holds(file))) return undefined;
  if (!file.appeared) await notes.keep({ file: { ...file, appeared: true } });
  return file.path;
}

/** A recording of something that was deleted before brings it back, as an upload does. */
async function leaveTrash(db: Db, work: Work, itemId: string): Promise<void> {
  const item = await db('items').where({ id: itemId }).whereNotNull('trashed_at').first('library_id');
  if (!item) return;
  await bringBack({ db, enqueue: enqueuing(work, db) }, item.library_id, [itemId]);
}

/** Enqueues in a transaction, as a request does. */
const enqueuing =
  (work: Work, db: Db): Parameters<typeof trashRecording>[2]['enqueue'] =>
  (name, payload, options = {}) =>
    work.enqueue(db, name, { payload, options });

/** Removes the parts, once no one watches them. */
async function clear(work: Work, id: string): Promise<void> {
  if (await isWatchedGrowing(work.db, id)) throw new Postponed(soon(30_000));
  await removeParts(work, id);
  await markCleared(work.db, id);
}

/** Writes the file under a hidden name, and gives it its own, never over another file. */
async function place(work: Work, row: RecordingRow, way: Way): Promise<string> {
  const { folder, to, notes } = way;
  const parts = await listParts(work, row.id);
  if (parts.length === 0) throw new Unjoinable('no segment is stored');
  await to.requireRoom(parts.reduce((sum, { bytes }) => sum + bytes, 0));
  await rm(to.drafts, { recursive: true, force: true }); // of tries whose worker died
  await mkdir(to.drafts, { recursive: true });
  const draft = join(to.drafts, `${randomUUID()}.mkv`);
  try {
    await joinParts(work, { row, parts, target: draft });
    const facts = await to.factsOf(draft);
    const names = partsOfPath(row, folder.type, work.settings.get('server.timeZone'));
    const name = names.pop() ?? `${row.id}.mkv`;
    for (let at = 1; ; at += 1) {
      const path = [...names, numbered(name, at)].join('/');
      if (await to.isTaken(path)) continue;
      if (await isPassedOver(work, folder, path)) continue;
      const file = { ...facts, path, appeared: false };
      await noteAt(work, row, { ...way, file });
      if (!(await to.appear(draft, file))) continue;
      await notes.keep({ file: { ...file, appeared: true } });
      return path;
    }
  } finally {
    await rm(draft, { force: true });
    await dropEmpty(to.drafts);
  }
}

/** Other recordings have folders of their own there: they never lose the one that they write into. */
async function dropEmpty(drafts: string): Promise<void> {
  for (const folder of [drafts, dirname(drafts)]) await rmdir(folder).catch(() => undefined);
}

/** Scans pass over a file of this name: one was taken out of its item, or purged. */
async function isPassedOver({ db }: Work, folder: Folder, path: string): Promise<boolean> {
  const at = inStorage(folder, path);
  const { storageId: storage_id, libraryId: library_id } = folder;
  const edition = await db('media_files').where({ folder_id: folder.id, path: at, ignored: true }).first('id');
  const mark = edition ?? (await db('ignored_files').where({ library_id, storage_id, path: at }).first('path'));
  return mark !== undefined;
}

/** The item moves to the name that was free, so that the scan finds it for the file. */
async function noteAt(
  work: Work,
  row: RecordingRow,
  { folder, notes, file }: Way & { file: PlacedFile },
): Promise<void> {
  const { path } = file;
  await work.db.transaction(async (tx) => {
    await notes.keep({ file }, tx);
    await notePlace(tx, row.id, { folderId: folder.id, path });
    if (row.item_id === null) return;
    await moveExpected(tx, work, { ...expectedOf(row, folder, path.split('/')), itemId: row.item_id });
  });
}

const inStorage = ({ path: top }: Folder, path: string): string => [top, path].filter(Boolean).join('/');

async function fileOf(
  { db }: Work,
  folder: Folder,
  path: string,
): Promise<{ fileId: string; itemId: string } | undefined> {
  const file = await db('media_files')
    .where({ folder_id: folder.id, path: inStorage(folder, path) })
    .whereNull('missing_since')
    .first('id', 'item_id');
  return file?.item_id ? { fileId: file.id, itemId: file.item_id } : undefined;
}

interface Placed {
  folder: Folder;
  path: string;
  /** Until the job runs again. */
  pauseMs?: number;
}

/** Requests a scan of the file, and puts the job off until then. */
async function scanFirst(
  { db }: Work,
  { account_id: accountId }: RecordingRow,
  { folder, path, pauseMs = SCAN_MS }: Placed,
): Promise<never> {
  const directory = dirname(path) === '.' ? undefined : inStorage(folder, dirname(path));
  const targets = [{ folderId: folder.id, path: directory }];
  await db.transaction((tx) =>
    requestScan(tx, {
      ...{ libraryId: folder.libraryId, mode: 'quick', trigger: 'upload', targets },
      ...(accountId !== null && { byAccountId: accountId }),
    }),
  );
  throw new Postponed(soon(pauseMs));
}
