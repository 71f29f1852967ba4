import { type OpenFile, type Opening, openMedia, type Wanted } from '#areas/storage/public.ts';
import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { findPlaces, findTrackPlace } from './sources.view.ts';

type Reader = Pick<Call, 'db' | 'deps' | 'who'>;

const reading = ({ db, deps: { config } }: Pick<Call, 'db' | 'deps'>) => ({ db, config });

/** Names the storage and the reason only to callers with library:manage. */
export function storageUnavailable({ who }: Pick<Call, 'who'>, storageId: string, reason: string): ApiError {
  const details = may(who, 'library:manage') ? { storageId, reason } : {};
  return new ApiError('STORAGE_UNAVAILABLE', 'The storage is unavailable', details);
}

/**
 * Opens a file. Throws 423 when its storage is unavailable, disabled or of unproven identity, and 415 when only the
 * file is gone.
 */
export async function openSource(call: Reader, at: Wanted): Promise<OpenFile> {
  const found = await openMedia(reading(call), at);
  if (found.kind === 'there') return found;
  if (found.kind === 'unavailable') throw storageUnavailable(call, at.storageId, found.reason);
  throw new ApiError('MEDIA_NOT_PLAYABLE', 'The file does not exist', { reason: 'missing-file' });
}

/** Opens a sidecar file, such as subtitles. Throws 423 as openSource, and 404 when it is gone. */
export async function openSidecar(call: Reader, at: { fileId: string; path: string }): Promise<OpenFile> {
  const film = await findTrackPlace(call.db, at);
  if (!film) throw notFound();
  const found = await openMedia(reading(call), film);
  if (found.kind === 'unavailable') throw storageUnavailable(call, film.storageId, found.reason);
  if (found.kind === 'absent') throw notFound();
  return found;
}

/**
 * Throws 423 for an unreadable film of an open session. The same request succeeds when the storage is available again.
 */
export async function refuseUnavailableSource(call: Reader, { fileId }: { fileId: string }): Promise<void> {
  const place = (await findPlaces(call.db, [fileId])).get(fileId);
  if (!place) throw notFound();
  const found = await openMedia(reading(call), place);
  if (found.kind !== 'there')
    throw storageUnavailable(call, place.storageId, found.kind === 'unavailable' ? found.reason : 'missing-file');
}

/** The current state of several files, by id. */
export async function findOpenings(
  call: Reader,
  fileIds: readonly string[],
): Promise<Map<string, Opening & { storageId: string }>> {
  const places = await findPlaces(call.db, fileIds);
  const found = await Promise.all(
    [...places].map(async ([id, place]) => {
      const opening = await openMedia(reading(call), place);
      return [id, { ...opening, storageId: place.storageId }] as const;
    }),
  );
  return new Map(found);
}
