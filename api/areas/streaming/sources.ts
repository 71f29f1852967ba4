import { stat } from 'node:fs/promises';
import { findStorages, placeInStorage } from '#areas/storage/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';

interface InStorage {
  storageId: string;
  path: string;
}

export interface OpenFile {
  absolute: string;
  size: number;
  modifiedAt: Date;
}

function away(storageId: string, reason: string): ApiError {
  return new ApiError('STORAGE_UNAVAILABLE', 'The storage does not answer', { storageId, reason });
}

/** The file on disk. 423 when its storage is away or disabled, 415 when only the file is gone. */
export async function openSource(
  { db, deps }: Pick<Call, 'db' | 'deps'>,
  { storageId, path }: InStorage,
): Promise<OpenFile> {
  const storage = (await findStorages(db, [storageId])).get(storageId);
  if (!storage?.enabled) throw away(storageId, 'disabled');
  const place = await placeInStorage(deps.config, storage, path);
  if (place.kind === 'away') throw away(storageId, 'unreachable');
  const found = place.kind === 'there' ? await stat(place.absolute).catch(() => undefined) : undefined;
  if (place.kind !== 'there' || !found?.isFile()) {
    throw new ApiError('MEDIA_NOT_PLAYABLE', 'The file is not there', { reason: 'missing-file' });
  }
  return { absolute: place.absolute, size: found.size, modifiedAt: found.mtime };
}

/** A transcode whose source went away is 423; the same request works again once it is back. */
export async function refuseAwaySource(call: Call, source: InStorage): Promise<void> {
  await openSource(call, source).catch((error: unknown) => {
    throw error instanceof ApiError && error.code === 'MEDIA_NOT_PLAYABLE'
      ? away(source.storageId, 'missing-file')
      : error;
  });
}

/** As openSource, with undefined for one that is gone or away. */
export async function findOpenSource(
  call: Pick<Call, 'db' | 'deps'>,
  at: InStorage,
): Promise<Omit<OpenFile, 'absolute'> | undefined> {
  return openSource(call, at).catch(() => undefined);
}
