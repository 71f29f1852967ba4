import { holdVisibleItem, REMOVABLE_MS } from '#areas/items/public.ts';
import { deleteKeptStream } from '#areas/libraries/public.ts';
import { isEditingAdmin } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { announceSubtitles } from '../announce.ts';
import { getSubtitleRow, type TrackIds } from '../sync/sync.ts';
import { deleteSync } from '../sync/syncs.store.ts';

/**
 * Removes a fetched text with its correction. Its bytes are left to the sweep, because somebody may fetch the same text
 * at this moment. Throws 409 for a track that was not fetched, and 403 for others.
 */
export async function removeFetched(call: Call, ids: TrackIds): Promise<void> {
  const { db, who } = call;
  await holdVisibleItem(db, who, ids.id);
  const row = await getSubtitleRow(call, ids);
  const kept = await db('kept_subtitles').where({ stream_id: row.id }).forUpdate().first();
  if (!kept) throw conflict('not-fetched', 'This subtitle belongs to the film');
  if (kept.source === 'generated') throw conflict('generated', 'Generated subtitles are removed with their request');
  const isOwn = kept.account_id === who.accountId && call.now.getTime() - kept.added_at.getTime() < REMOVABLE_MS;
  if (!isOwn && !isEditingAdmin(who))
    throw new ApiError('FORBIDDEN', 'Somebody else fetched it, or long ago', { by: 'fetcher' });
  await removeKept(db, { fileId: row.file_id, streamId: row.id });
  await announceSubtitles(db, ids.id);
}

/** Removes the track of a kept text with its correction, in the caller's transaction. The sweep removes its bytes. */
export async function removeKept(db: Db, { fileId, streamId }: { fileId: string; streamId: string }): Promise<void> {
  await deleteSync(db, { fileId, track: `k:${streamId}` });
  await deleteKeptStream(db, streamId);
}
