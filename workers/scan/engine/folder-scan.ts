import { setTimeout as sleep } from 'node:timers/promises';
import { Decoration } from '../group/decorate.ts';
import { ignoredBy, type ScannedFolder } from '../store/context.ts';
import { WalkFailed, walkFolder } from '../walk/walker.ts';
import { takeBatch } from './batch.ts';
import { identityNow } from './folder-at.ts';
import { versionOf } from './grouping-version.ts';
import { Memory } from './memory.ts';
import { decideMissing } from './missing.ts';
import type { Place } from './place.ts';
import { Cancelled, type FolderReason, type FolderState, LeaseLost, type Scan } from './scan.ts';
import { whyDoubted, whyUnavailable } from './unavailable.ts';
import { whileThere } from './while-there.ts';

/**
 * Lists a folder, or some of its directories, and decides which files are missing if the whole listing can be trusted.
 */
export async function scanFolder(scan: Scan, folder: ScannedFolder, from: readonly string[]): Promise<void> {
  const state = stateOf(scan, folder);
  const unavailable = await whyUnavailable(scan, folder);
  if (unavailable) {
    Object.assign(state, { state: 'skipped', reason: unavailable });
    return;
  }
  state.state = 'listing';
  const memory = await Memory.load(scan.work.db, folder);
  const place = placeOf(scan, folder, memory);
  const listing = await list(scan, place, from);
  for (const directory of place.again) await again(scan, { ...place, again: new Set(), regroup: true }, directory);
  state.files = listing.files;
  if (listing.trusted) Object.assign(state, await decideMissing(scan, folder, from));
  else
    Object.assign(state, {
      state: listing.empty ? 'skipped' : 'interrupted',
      ...(listing.reason && { reason: listing.reason }),
    });
}

function placeOf({ tops, saved }: Scan, folder: ScannedFolder, memory: Memory): Place {
  const decoration = new Decoration(folder, { resolve: (absolute) => tops.resolve(absolute), saved });
  return { folder, memory, decoration, again: new Set(), regroup: false, lost: [] };
}

function stateOf(scan: Scan, folder: ScannedFolder): FolderState {
  const known = scan.states.find((state) => state.folderId === folder.id);
  if (known) return known;
  const state: FolderState = { folderId: folder.id, state: 'waiting', files: 0, missing: 0 };
  scan.states.push(state);
  return state;
}

interface Listing {
  /** Every directory was listed, on one file system from start to end. */
  trusted: boolean;
  empty: boolean;
  reason?: FolderReason;
  files: number;
}

async function list(scan: Scan, place: Place, from: readonly string[]): Promise<Listing> {
  const { folder, memory } = place;
  const listing: Listing = { trusted: true, empty: false, files: 0 };
  let isGone = false;
  const epoch = await epochOf(scan, folder);
  const identity = await identityNow(folder);
  const emptied = await isEmptyAccepted(scan, folder);
  const order = {
    root: folder.root,
    folder: folder.path,
    type: scan.library.type,
    tops: await scan.tops.all(),
    from: [...from],
    ignore: ignoredBy(scan.library),
    version: versionOf(scan.library),
    quick: scan.row.mode === 'quick',
    ...(looksAtAll(scan) ? {} : { known: memory.known, expected: memory.expected }),
  };
  const take = async (inside: Scan): Promise<'listed' | 'empty'> => {
    for await (const batch of walkFolder(order, inside.signal)) {
      if (isEmptyRoot(batch.directories[0], { folder, memory, emptied })) return 'empty';
      await takeBatch(inside, place, batch);
      listing.files += batch.same.media + batch.directories.reduce((sum, directory) => sum + directory.files.length, 0);
      if (batch.directories.some((directory) => directory.state === 'failed')) listing.trusted = false;
      isGone ||= batch.directories.some((directory) => directory.state === 'gone');
      if (batch.identity !== identity) throw new WalkFailed('another file system');
    }
    return 'listed';
  };
  try {
    if ((await whileThere(scan, folder, take)) === 'empty')
      return { trusted: false, empty: true, reason: 'empty-root', files: 0 };
  } catch (error) {
    if (!(error instanceof WalkFailed)) throw error;
    return { ...listing, trusted: false, reason: 'storage-unavailable' };
  }
  const same = (await identityNow(folder)) === identity && (await epochOf(scan, folder)) === epoch;
  const reason = same ? isGone && (await whyDoubted(scan, folder)) : 'epoch-changed';
  return reason ? { ...listing, trusted: false, reason } : listing;
}

/** A deep scan reads every file again; removed marks admit files that the content signature does not cover. */
function looksAtAll({ row }: Scan): boolean {
  return row.mode === 'deep' || row.include_ignored;
}

/** An empty root with known files means an unavailable mount, whatever the kernel reports. */
function isEmptyRoot(
  first: { path: string; directories: string[]; files: unknown[]; state: string } | undefined,
  { folder, memory, emptied }: Pick<Place, 'folder' | 'memory'> & { emptied: boolean },
): boolean {
  if (first?.path !== folder.path) return false;
  const empty = first.state !== 'same' && first.files.length === 0 && first.directories.length === 0;
  return (empty && !memory.isEmpty && !emptied) || first.state === 'gone';
}

/** A person accepted that the storage is empty: its files are missing then, and the guard requires an answer first. */
async function isEmptyAccepted({ work: { db } }: Scan, { storageId }: ScannedFolder): Promise<boolean> {
  const row = await db('storages').where({ id: storageId }).first('epoch', 'identity');
  return row?.identity.emptyEpoch === Number(row?.epoch ?? 0);
}

/** Incremented at each observed change of the storage's identity, state or location. */
async function epochOf(scan: Scan, folder: ScannedFolder): Promise<string> {
  const row = await scan.work.db('storages').where({ id: folder.storageId }).first('epoch', 'state');
  return `${row?.epoch ?? ''} ${row?.state ?? ''}`;
}

/**
 * Lists files again that may still have been being written, once they had time to settle; those that still grow are
 * left to the next scan. Returns their directories.
 */
export async function takeUnsettled(scan: Scan): Promise<{ folderId: string; path: string }[]> {
  const waiting = scan.unsettled.splice(0);
  if (waiting.length === 0) return [];
  await sleep(scan.options.settleMs, undefined, { signal: scan.signal }).catch((error: unknown) => {
    throw reasonOf(scan.signal, error);
  });
  for (const [folder, entries] of Map.groupBy(waiting, (one) => one.folder)) {
    const place = placeOf(scan, folder, await Memory.load(scan.work.db, folder));
    for (const directory of new Set(entries.map((entry) => entry.directory))) await again(scan, place, directory);
  }
  return scan.unsettled.splice(0).map(({ folder, directory }) => ({ folderId: folder.id, path: directory }));
}

/** Writes directories again whose items lost a file elsewhere, until none is left. */
export async function takeDoubted(scan: Scan): Promise<void> {
  for (let round = 0; round < ROUNDS && scan.doubted.length > 0; round += 1) {
    const doubted = Map.groupBy(scan.doubted.splice(0), (one) => one.folder_id);
    for (const folder of scan.folders) {
      const paths = new Set(doubted.get(folder.id)?.map(({ directory }) => directory));
      if (paths.size === 0 || (await whyUnavailable(scan, folder))) continue;
      const place = { ...placeOf(scan, folder, await Memory.load(scan.work.db, folder)), regroup: true };
      for (const path of paths) await again(scan, place, path);
    }
  }
}

/** One item may lead to another; what remains is in the database, for the next scan. */
const ROUNDS = 5;

/** Lists a single directory. */
async function again(scan: Scan, place: Place, directory: string): Promise<void> {
  const order = {
    root: place.folder.root,
    folder: place.folder.path,
    type: scan.library.type,
    tops: await scan.tops.all(),
    from: [directory],
    shallow: true,
    ignore: ignoredBy(scan.library),
    version: versionOf(scan.library),
  };
  try {
    await whileThere(scan, place.folder, async (inside) => {
      for await (const batch of walkFolder(order, inside.signal)) await takeBatch(inside, place, batch);
    });
  } catch (error) {
    if (!(error instanceof WalkFailed)) throw error;
  }
}

/** The reason of the abort if the signal caused the error. */
export function reasonOf(signal: AbortSignal, error: unknown): unknown {
  if (!signal.aborted) return error;
  return signal.reason instanceof Cancelled || signal.reason instanceof LeaseLost ? signal.reason : error;
}
