// The segments of recordings: copies of the segments of their channels, under the same names.
import { ObjectMissing, type Objects } from '../objects.ts';
import { captionsKey } from './captions.ts';
import { LIVE_BUCKET, type LiveSegment, ordered, parseSegmentName, segmentKey, segmentName } from './segments.ts';

export const PARTS_BUCKET = 'foyer-recordings';

const prefixOf = (track: string): string => `${track}/`;

/** Where the parts of a recording are, as they were received or in an encoded rendition. */
export const partsTrack = (recordingId: string, rendition: string): string =>
  rendition === 'source' ? recordingId : `${recordingId}~${rendition}`;

export const partKey = (track: string, part: LiveSegment): string => `${prefixOf(track)}${segmentName(part)}`;

/** The stored parts of a track in order; of two with one number the later epoch. */
export async function listParts({ objects }: { objects: Objects }, track: string): Promise<LiveSegment[]> {
  const parts: LiveSegment[] = [];
  for await (const { key } of objects.list(PARTS_BUCKET, prefixOf(track))) {
    const part = parseSegmentName(key.slice(prefixOf(track).length));
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

/** Removes the parts of a recording in all of its renditions. */
export async function removeParts({ objects }: { objects: Objects }, recordingId: string): Promise<void> {
  await objects.removePrefix(PARTS_BUCKET, prefixOf(recordingId));
  await objects.removePrefix(PARTS_BUCKET, partsTrack(recordingId, ''));
}
