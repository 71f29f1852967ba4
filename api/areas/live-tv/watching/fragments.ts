// Segments in fragmented MP4: each stored one holds its init segment and its fragment.
import { countSent, sendRanged } from '#areas/streaming/public.ts';
import type { Bytes, Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { HEAD_BYTES } from '#platform/live/fragments.ts';
import { LIVE_BUCKET, type LiveSegment } from '#platform/live/segments.ts';

export const IMMUTABLE = 'private, max-age=86400, immutable';

/** The name of the init segment of all segments on one timeline. */
export const initName = ({ discontinuity }: LiveSegment): string => `init-${discontinuity}.mp4`;

/** The segment whose head is this init segment: the newest on its timeline, or of all. Undefined for another name. */
export function initSource(segments: readonly LiveSegment[], name: string): LiveSegment | undefined {
  if (name === 'init.mp4') return segments.at(-1);
  return segments.findLast(({ discontinuity }) => name === `init-${discontinuity}.mp4`);
}

export interface StoredFragments {
  sessionId: string;
  key: string;
  part: 'init' | 'fragment';
  cacheControl: string;
}

/** Throws 404 when the segment is not stored. */
export async function sendFragments(
  call: Call,
  { sessionId, key, part, cacheControl }: StoredFragments,
): Promise<Bytes> {
  const { objects } = call.deps;
  const found = await objects.stat(LIVE_BUCKET, key);
  if (!found || found.size <= HEAD_BYTES) throw notFound();
  const [from, size] = part === 'init' ? [0, HEAD_BYTES] : [HEAD_BYTES, found.size - HEAD_BYTES];
  const sent = await sendRanged(call, {
    ...{
      size,
      etag: `${found.etag}-${part}`,
      modifiedAt: found.modifiedAt,
      type: 'video/mp4',
      cacheControl,
    },
    read: ({ start, end }) => objects.get(LIVE_BUCKET, key, { start: from + start, end: from + end }),
  });
  return countSent(call, sessionId, sent);
}
