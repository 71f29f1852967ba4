import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { listParts } from '#platform/live/parts.ts';
import { findFacts, findGrowing, type Growing } from '#platform/live/recorded.store.ts';
import { recentBitrate } from '#platform/live/segments.ts';
import type { LiveChoice, LiveSource } from '../decision/live.ts';
import { openRendition } from './live-rendition.ts';

/** The recording that has no file yet, unless a file of the item is there or is named. */
export async function growingOf(
  { db }: Call,
  itemId: string,
  fileId: string | undefined,
): Promise<Growing | undefined> {
  const growing = fileId === undefined ? await findGrowing(db, itemId) : undefined;
  if (!growing) return undefined;
  const file = await db('media_files')
    .where({ item_id: itemId, ignored: false })
    .whereNull('missing_since')
    .first('id');
  return file ? undefined : growing;
}

/** What its parts hold. Throws 415 before the first of them. */
export async function growingSource(call: Call, itemId: string, growing: Growing): Promise<LiveSource> {
  const parts = await listParts(call.deps, growing.id);
  const streams = await findFacts(call.db, parts);
  if (!streams) throw new ApiError('MEDIA_NOT_PLAYABLE', 'Nothing is recorded yet', { reason: 'missing-file' });
  return { channelId: itemId, streams, bitrate: recentBitrate(parts), reason: 'growing-file' };
}

/** Has its rendition encoded, by the workers of its channel. Throws 415 when the channel is gone. */
export async function openPartsRendition(call: Call, growing: Growing, choice: LiveChoice): Promise<void> {
  if (choice.rendition === 'source') return;
  if (growing.channelId === null)
    throw new ApiError('MEDIA_NOT_PLAYABLE', 'It plays once its file is there', { reason: 'missing-file' });
  await openRendition(call, growing.channelId, { ...choice, recordingId: growing.id });
}
