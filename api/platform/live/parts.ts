// The segments of recordings: copies of the segments of their channels, under the same names.
import { ObjectMissing, type Objects } from '../objects.ts';
import { captionsKey } from './captions.ts';
import { LIVE_BUCKET, type LiveSegment, ordered, parseSegmentName, segmentKey, segmentName } from './segments.ts';

export const PARTS_BUCKET = 'foyer-recordings';

const prefixOf = (recordingId: string): string => `${recordingId}/`;
export const partKey = (recordingId: string, part: LiveSegment): string =>
  `${prefixOf(recordingId)}${segmentName(part)}`;

/** The stored parts of a recording in order; of two with one number the later epoch. */
export async function listParts({ objects }: { objects: Objects }, recordingId: string): Promise<LiveSegment[]> {
  const parts: LiveSegment[] = [];
  for await (const { key } of objects.list(PARTS_BUCKET, prefixOf(recordingId))) {
    const part = parseSegmentName(key.slice(prefixOf(recordingId).length));
    if (part) parts.push(part);
  }
  return ordered(parts);
}

/** Key of the captions of a part. */
export const partCaptionsKey = (recordingId: string, part: LiveSegment): string => `${partKey(recordingId, part)}.json`;

/** Copies a segment of the channel with its captions. Throws `ObjectMissing` for one that has left the buffer. */
export async function copyPart(
  { objects }: { objects: Objects },
  { recordingId, channelId }: { recordingId: string; channelId: string },
  segment: LiveSegment,
): Promise<void> {
  const captions = { bucket: LIVE_BUCKET, key: captionsKey(channelId, segment) } as const;
  const own = { bucket: PARTS_BUCKET, key: partCaptionsKey(recordingId, segment) } as const;
  await objects.copy(captions, own).catch((error: Error) => {
    if (!(error instanceof ObjectMissing)) throw error; // most channels have none
  });
  const from = { bucket: LIVE_BUCKET, key: segmentKey(channelId, segment) } as const;
  await objects.copy(from, { bucket: PARTS_BUCKET, key: partKey(recordingId, segment) });
}

export async function removeParts({ objects }: { objects: Objects }, recordingId: string): Promise<void> {
  await objects.removePrefix(PARTS_BUCKET, prefixOf(recordingId));
}
