import { findStorages, placeInStorage } from '#areas/storage/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { Outbound } from '#platform/outbound.ts';
import { PackRefused, trustedKeysOf } from '#platform/spine/manifest.ts';
import { spineNetworks, spineOutbound } from '#platform/spine/network.ts';
import { openPack, type Ranges } from '#platform/spine/pack.ts';
import { findPack, noteCheck, readSpineState, removePack } from '#platform/spine/packs.store.ts';
import { dropStray, nextPackNumber, switchPartitions } from '#platform/spine/partitions.store.ts';
import {
  addressRanges,
  dropPieces,
  fileRanges,
  hasPiece,
  PIECE_BYTES,
  piecesOf,
  putPiece,
  SourceUnavailable,
} from '#platform/spine/source.ts';
import { FinalFailure, type Work } from '../work.ts';
import { loadPack, type Progress } from './load.ts';
import { describeUnmatched } from './unmatched.ts';

const PIECE_MS = 120_000;

type Given = JobPayload<'spine.import'>;

/** Handler of job `spine.import`. Lookups read the pack when it is whole, and the older one until then. */
export function createSpineImport(outbound?: (work: Work) => Outbound) {
  return async (given: Given, work: Work): Promise<object> => {
    const { source } = given;
    if ('remove' in source) return remove(source.remove, work);
    const done = await findPack(work.db, { id: given.packId }); // by an attempt that was lost behind the switch
    if (done) return finish(given, work, done.works);
    const progress = await begin(work);
    try {
      const read = await sourceOf(given, { work, progress, outbound: outbound?.(work) ?? spineOutbound(work.config) });
      const head = await openPack(read, trustedKeysOf(work.settings.get('spine.trustedKeys')));
      if (head.sha256 !== given.sha256) throw new PackRefused('altered', 'the pack is not the one that was requested');
      const works = await loadPack({ work, given, head, read, progress });
      return await finish(given, work, works);
    } catch (error) {
      const isFinal = error instanceof PackRefused || error instanceof FinalFailure;
      if (!isFinal) throw error;
      await dropPieces(work.objects, given.packId);
      await dropStray(work.db, undefined);
      throw error instanceof FinalFailure ? error : new FinalFailure(error.reason, error.message);
    }
  };
}

async function finish({ packId, sha256 }: Given, work: Work, works: Record<string, number>): Promise<object> {
  await forgetAvailable(work, sha256);
  await dropPieces(work.objects, packId);
  await describeUnmatched(work);
  return { works };
}

async function begin(work: Work): Promise<Progress> {
  const kept = work.checkpoint as Progress | null;
  if (kept) return kept;
  await dropStray(work.db, undefined);
  return { phase: 'fetching', number: await nextPackNumber(work.db), blocks: 0, last: '', gone: [] };
}

interface Reading {
  work: Work;
  progress: Progress;
  outbound: Outbound;
}

/** The bytes of the pack; those of an address are fetched first, and go on behind the pieces that are there. */
async function sourceOf({ packId, source }: Given, reading: Reading): Promise<Ranges> {
  const { work } = reading;
  if ('storageId' in source) return storageRanges(work, source);
  const pieces = piecesOf(work.objects, packId);
  if ('url' in source) await fetchPieces(packId, source, reading);
  return pieces;
}

async function storageRanges(
  { db, config }: Work,
  { storageId, path }: { storageId: string; path: string },
): Promise<Ranges> {
  const storage = (await findStorages(db, [storageId])).get(storageId);
  const place = storage && (await placeInStorage(config, storage, path));
  if (place?.kind !== 'there') throw new FinalFailure('STORAGE_UNAVAILABLE', 'the file of the pack cannot be read');
  return fileRanges(place.absolute);
}

async function fetchPieces(
  packId: string,
  { url, sizeBytes }: { url: string; sizeBytes: number },
  { work, progress, outbound }: Reading,
): Promise<void> {
  const { db, objects, signal, settings } = work;
  const read = addressRanges(outbound, url, { ...spineNetworks(settings), timeoutMs: PIECE_MS, signal });
  for (let number = 0; number * PIECE_BYTES < sizeBytes; number += 1) {
    signal.throwIfAborted();
    if (await hasPiece(objects, packId, number)) continue;
    const end = Math.min(sizeBytes, (number + 1) * PIECE_BYTES);
    const bytes = await read(number * PIECE_BYTES, end);
    if (bytes.length !== end - number * PIECE_BYTES) throw new SourceUnavailable('the address sent another length');
    await putPiece(objects, { id: packId, number }, bytes);
    await work.keep(db, progress, { done: end, total: sizeBytes, unit: 'bytes' });
  }
}

/** Items keep their ids and their metadata. */
async function remove(id: string, { db }: Work): Promise<object> {
  const pack = await findPack(db, { id });
  if (!pack) return {};
  await db.transaction(async (tx) => {
    await switchPartitions(tx, { drop: pack.number });
    await removePack(tx, id);
  });
  return { removed: pack.name };
}

/** The offered pack is the one that was loaded now. */
async function forgetAvailable({ db }: Work, sha256: string): Promise<void> {
  const state = await readSpineState(db);
  if (state?.available?.sha256 === sha256) await noteCheck(db, null);
}
