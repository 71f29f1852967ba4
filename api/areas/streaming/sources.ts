import { stat } from 'node:fs/promises';
import { findStorages, placeInStorage, type Storage } from '#areas/storage/public.ts';
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
export async function openSource(call: Pick<Call, 'db' | 'deps'>, at: InStorage): Promise<OpenFile> {
  return openIn(call, (await findStorages(call.db, [at.storageId])).get(at.storageId), at);
}

async function openIn(
  { deps }: Pick<Call, 'deps'>,
  storage: Storage | undefined,
  { storageId, path }: InStorage,
): Promise<OpenFile> {
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

/** As openSource, of several with one reading of their storages; undefined for one that is gone or away. */
export async function findOpenSources(
  call: Pick<Call, 'db' | 'deps'>,
  files: readonly InStorage[],
): Promise<(Omit<OpenFile, 'absolute'> | undefined)[]> {
  const storages = await findStorages(call.db, [...new Set(files.map(({ storageId }) => storageId))]);
  return Promise.all(files.map((at) => openIn(call, storages.get(at.storageId), at).catch(() => undefined)));
}
