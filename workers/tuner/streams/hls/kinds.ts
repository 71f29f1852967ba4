// The kinds of segments that ffmpeg reads.
import type { Received } from './follow.ts';

/** Arguments with which ffmpeg reads segments of one kind. */
export interface Input {
  demuxer: 'mp4' | 'mpegts' | 'aac';
  /** Bare frames have no times: theirs go on from this one, in seconds. */
  startSec?: number;
}

const SYNC = 0x47;
const ID3_BYTES = 10;
/** The name of the tag that has the time of the first frame, in 90,000ths of a second with 33 bits. */
const OWNER = 'com.apple.streaming.transportStreamTimestamp\0';
const MOST_TAGS = 4096;

/** How ffmpeg reads a segment; undefined for another kind, and for frames of sound without a time. */
export function inputOf({ head, bytes }: Pick<Received, 'head' | 'bytes'>): Input | undefined {
  if (head) return { demuxer: 'mp4' };
  if (bytes[0] === SYNC) return { demuxer: 'mpegts' };
  const startSec = packedTime(bytes);
  return startSec === undefined ? undefined : { demuxer: 'aac', startSec };
}

/** The time of packed AAC: ADTS frames after an ID3 tag. */
function packedTime(bytes: Buffer): number | undefined {
  if (bytes.length < ID3_BYTES || bytes.toString('latin1', 0, 3) !== 'ID3') return undefined;
  const end = ID3_BYTES + [6, 7, 8, 9].reduce((size, at) => size * 128 + ((bytes[at] ?? 0) & 0x7f), 0);
  const isAdts = bytes[end] === 0xff && ((bytes[end + 1] ?? 0) & 0xf6) === 0xf0;
  const tags = bytes.subarray(0, Math.min(end, MOST_TAGS));
  const owner = tags.indexOf(OWNER, 0, 'latin1');
  const at = owner + OWNER.length;
  if (!isAdts || owner < 0 || at + 8 > tags.length) return undefined;
  return ((tags.readUInt32BE(at) & 1) * 2 ** 32 + tags.readUInt32BE(at + 4)) / 90_000;
}
