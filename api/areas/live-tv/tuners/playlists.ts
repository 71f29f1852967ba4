// Uploaded playlists: objects under `sources/` of foyer-live.
import type { Call } from '#kernel/endpoint.ts';
import type { Upload } from '#kernel/uploads.ts';
import { newId } from '#platform/ids.ts';

export const PLAYLISTS = 'sources/';

/** Stores a playlist and returns its key. A worker reads whether it is one. */
export async function keepPlaylist({ deps }: Pick<Call, 'deps'>, upload: Upload): Promise<string> {
  const key = `${PLAYLISTS}${newId()}.m3u`;
  await deps.objects.put('foyer-live', key, upload.bytes);
  return key;
}

/** Deletes a playlist that no tuner names; a failure leaves it to the sweep of objects. */
export async function dropPlaylist({ deps, log }: Pick<Call, 'deps' | 'log'>, key: string | null): Promise<void> {
  if (key === null) return;
  await deps.objects
    .remove('foyer-live', [key])
    .catch((error: Error) => log.warn({ err: error.message }, 'a playlist was not deleted'));
}
