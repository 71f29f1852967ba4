// Job metadata.save: values and pictures of changed items as files next to their media.

import {
  endSave,
  findKnownItems,
  nextSave,
  noteSavesAfter,
  type PendingSave,
  putOffSave,
  type SaveKind,
  placeOf as serverPlaceOf,
  settingsOf,
  takeSaves,
} from '#areas/libraries/public.ts';
import { ApiError } from '#kernel/errors.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { ObjectsUnavailable } from '#platform/objects.ts';
import { baseOf } from '#platform/own-types.ts';
import { createPictures, ParserUnavailable, type Pictures } from '#platform/pictures.ts';
import { FinalFailure, Postponed, type Work } from '../work.ts';
import { comicInfoOf } from './comic-info.ts';
import { customOf } from './custom.ts';
import { removeFormers } from './formers.ts';
import { valueNames } from './names.ts';
import { nfoOf } from './nfo.ts';
import { savePictures } from './pictures.ts';
import { placementOf, type SavePlace, type SavingItem } from './places.ts';
import { type SavedItem, valuesOf } from './values.ts';
import { type Outcome, SaveFolder } from './writing.ts';
import { xmpOf } from './xmp.ts';

const BATCH = 50;
const ALL_BATCH = 5000;
const STORAGE_MINUTES = 10;
const SERVER_MINUTES = 1;

interface Saving {
  work: Work;
  pictures: Pictures;
  library: { id: string; type: string };
  /** What the settings of the library have written, read before each item: a manager may turn it off meanwhile. */
  wanted: Readonly<Record<SaveKind, boolean>>;
  counts: Record<Outcome | 'failed' | 'readOnly' | 'gone', number>;
}

/** Writes the files of items that are due in a library. Postponed while items wait; fails when a file could not be written. */
export async function saveMetadata({ libraryId, all }: JobPayload<'metadata.save'>, work: Work): Promise<object> {
  const saving = await begin(work, libraryId);
  if (!saving) return {};
  if (all) {
    for (const kind of all) await noteAll(work, libraryId, kind);
    await queueRest(work, libraryId, new Date());
    return {};
  }
  for (;;) {
    work.signal.throwIfAborted();
    const batch = await takeSaves(work.db, libraryId, BATCH);
    if (batch.length === 0) break;
    for (const pending of batch) {
      work.signal.throwIfAborted();
      saving.wanted = await wantedIn(work, libraryId);
      await finish(saving, pending);
    }
    await work.report(work.db, { done: saving.counts.written + saving.counts.same, unit: 'files' });
  }
  return end(saving);
}

async function begin(work: Work, libraryId: string): Promise<Saving | undefined> {
  const row = await work.db('libraries').where({ id: libraryId }).whereNull('deleted_at').first();
  if (!row) return undefined;
  return {
    work,
    pictures: createPictures(work.config.parserUrl),
    library: { id: libraryId, type: baseOf(row) },
    wanted: await wantedIn(work, libraryId),
    counts: { written: 0, same: 0, foreign: 0, failed: 0, readOnly: 0, gone: 0 },
  };
}

async function wantedIn({ db, settings }: Work, libraryId: string): Promise<Record<SaveKind, boolean>> {
  const row = await db('libraries').where({ id: libraryId }).whereNull('deleted_at').first();
  if (!row) return { nfo: false, artwork: false };
  const { saveNfo, saveArtwork } = settingsOf(row, serverPlaceOf(settings));
  return { nfo: saveNfo, artwork: saveArtwork };
}

async function noteAll({ db, signal }: Work, libraryId: string, kind: SaveKind): Promise<void> {
  let after: string | undefined;
  do {
    signal.throwIfAborted();
    after = await noteSavesAfter(db, libraryId, { kind, after, limit: ALL_BATCH });
  } while (after !== undefined);
}

async function end({ work, library, counts }: Saving): Promise<object> {
  const due = await nextSave(work.db, library.id);
  const runAt = due && new Date(Math.max(due.getTime(), Date.now() + 1000));
  if (counts.failed > 0) {
    if (runAt) await queueRest(work, library.id, runAt);
    throw new FinalFailure('STORAGE_UNAVAILABLE', `${counts.failed} items could not be written next to their media`);
  }
  if (runAt) throw new Postponed(runAt, counts.gone > 0 ? 'storage' : undefined);
  return counts;
}

async function queueRest(work: Work, libraryId: string, runAt: Date): Promise<void> {
  await work.enqueue(work.db, 'metadata.save', {
    payload: { libraryId },
    options: {
      ...{ key: `metadata.save:${libraryId}`, priority: 80, runAt },
      ...{ libraryId, target: { kind: 'library', id: libraryId } },
    },
  });
}

async function finish(saving: Saving, pending: PendingSave): Promise<void> {
  const { work, counts } = saving;
  try {
    if (await saveItem(saving, pending)) await endSave(work.db, pending);
    else await putOffSave(work.db, pending, STORAGE_MINUTES);
  } catch (error) {
    if (isServerDown(error)) await putOffSave(work.db, pending, SERVER_MINUTES);
    else if (isOfFileSystem(error) && PASSING.includes(error.code ?? '')) {
      work.log.warn({ code: error.code, itemId: pending.itemId }, 'a file next to media is written later');
      counts.gone += 1;
      await putOffSave(work.db, pending, STORAGE_MINUTES);
    } else if (isOfFileSystem(error)) {
      work.log.warn({ code: error.code, itemId: pending.itemId }, 'a file next to media could not be written');
      counts.failed += 1;
      await endSave(work.db, pending);
    } else throw error;
  }
}

/** Faults of storages that end by themselves: full disks, unreachable network shares. */
const PASSING = ['ENOSPC', 'EDQUOT', 'EIO', 'ESTALE', 'ETIMEDOUT', 'EHOSTDOWN', 'ENOTCONN', 'EBUSY', 'EAGAIN'];

const isServerDown = (error: unknown): boolean =>
  (error instanceof ApiError && error.code === 'SERVICE_STARTING') ||
  error instanceof ParserUnavailable ||
  error instanceof ObjectsUnavailable;

const isOfFileSystem = (error: unknown): error is NodeJS.ErrnoException =>
  error instanceof Error && 'syscall' in error && 'errno' in error;

/** False while the storage is unavailable. */
async function saveItem(saving: Saving, { itemId, ...pending }: PendingSave): Promise<boolean> {
  const { work, counts, wanted } = saving;
  const kinds = (['nfo', 'artwork'] as const).filter((kind) => pending[kind] && wanted[kind]);
  const item = kinds.length > 0 && (await savingItem(work, itemId));
  if (!item) return true;
  const placement = await placementOf(work, item);
  if (placement === 'gone') counts.gone += 1;
  if (placement === 'read-only') counts.readOnly += 1;
  if (placement === 'gone' || placement === 'read-only') return placement === 'read-only';
  for (const kind of kinds) for (const outcome of await saveKind[kind](saving, item, placement)) counts[outcome] += 1;
  return true;
}

type Save = (saving: Saving, item: SavingItem, place: SavePlace | 'none') => Promise<Outcome[]>;

const saveKind: Readonly<Record<SaveKind, Save>> = { nfo: saveValues, artwork: saveArtwork };

async function savingItem({ db }: Work, id: string): Promise<SavingItem | undefined> {
  const row = await db('items')
    .where({ id })
    .whereNull('trashed_at')
    .first('id', 'library_id', 'type', 'index_number', 'parent_id', 'details');
  if (!row) return undefined;
  const { library_id: libraryId, type, index_number: index, parent_id: parentId, details } = row;
  return { id, libraryId, type, index, parentId, number: details?.['number'] as string | undefined };
}

async function saveValues({ work, library }: Saving, item: SavingItem, place: SavePlace | 'none'): Promise<Outcome[]> {
  if (place === 'none') return [];
  const [known] = await findKnownItems(work.db, [item.id], serverPlaceOf(work.settings));
  const bytes =
    known &&
    valuesFile({
      ...{ type: item.type, values: valuesOf(known), number: item.number },
      custom: await customOf(work.db, item.id),
    });
  if (!bytes) return [];
  const folder = await SaveFolder.open(work.db, library, place);
  const names = valueNames(item, place);
  if (await folder.hasForeign(names)) return ['foreign'];
  const [name = ''] = names;
  const outcome = await folder.write(name, bytes, { itemId: item.id });
  if (outcome !== 'foreign') await removeFormers({ work, library }, { item, folder, name });
  return [outcome];
}

function valuesFile(item: SavedItem): Buffer | undefined {
  if (item.type === 'comic') return comicInfoOf(item);
  return item.type === 'photo' ? xmpOf(item) : nfoOf(item);
}

/** Pictures of a season lie in the folder of its show. */
async function saveArtwork(
  { work, pictures, library }: Saving,
  item: SavingItem,
  own: SavePlace | 'none',
): Promise<Outcome[]> {
  const show = item.type === 'season' && item.parentId !== null ? await savingItem(work, item.parentId) : undefined;
  const place = show ? await placementOf(work, show) : own;
  if (typeof place !== 'object') return [];
  return savePictures({ work, pictures }, item, await SaveFolder.open(work.db, library, place));
}
