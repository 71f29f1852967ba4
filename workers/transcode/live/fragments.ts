// Pieces of a transport stream as fragmented MP4: the same pictures and sound in another container.
import { HEAD_BYTES } from '#platform/live/fragments.ts';
import { startFfmpeg } from '../ffmpeg.ts';

const ARGUMENTS = [
  ...['-hide_banner', '-nostdin', '-loglevel', 'error', '-protocol_whitelist', 'pipe'],
  ...['-probesize', '5000000', '-analyzeduration', '5000000', '-copyts', '-f', 'mpegts', '-i', 'pipe:0'],
  ...['-map', '0:v:0', '-map', '0:a:0?', '-c', 'copy', '-tag:v', 'hvc1', '-bsf:a', 'aac_adtstoasc'],
  ...['-avoid_negative_ts', 'disabled', '-use_editlist', '0', '-video_track_timescale', '90000'],
  // One fragment, whose times are those of the piece.
  ...['-movflags', '+frag_custom+delay_moov+default_base_moof+frag_discont+skip_trailer', '-f', 'mp4', 'pipe:1'],
];

/** Copying a piece takes a fraction of it; the pieces behind it wait. */
const LONGEST_MS = 15_000;

/** The init segment, filled to its fixed length, and the fragment. Throws when the piece is no whole one, or takes too long. */
export async function toFragments(piece: Buffer, limitMs = LONGEST_MS): Promise<Buffer> {
  const ffmpeg = await startFfmpeg(ARGUMENTS, { outputs: 1, gpu: false, input: true });
  ffmpeg.input?.on('error', () => undefined); // its exit shows why
  ffmpeg.input?.end(piece);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    ffmpeg.kill();
  }, limitMs);
  try {
    const chunks: Buffer[] = [];
    for await (const chunk of ffmpeg.outputs[0] as AsyncIterable<Buffer>) chunks.push(chunk);
    const { code, words } = await ffmpeg.ended;
    if (code !== 0) throw new Error(isLate ? `not made within ${limitMs} ms` : words.slice(-300));
    return divided(Buffer.concat(chunks));
  } finally {
    clearTimeout(timer);
    ffmpeg.kill();
  }
}

function divided(all: Buffer): Buffer {
  const at = headLength(all);
  return Buffer.concat([filled(all.subarray(0, at)), all.subarray(at)]);
}

/** Bytes before the first fragment. */
function headLength(bytes: Buffer): number {
  for (let at = 0; at + 8 <= bytes.length; ) {
    const [size, type] = [bytes.readUInt32BE(at), bytes.toString('latin1', at + 4, at + 8)];
    if (type === 'moof') return at;
    if (size < 8) break;
    at += size;
  }
  throw new Error('no fragment');
}

function filled(head: Buffer): Buffer {
  const left = HEAD_BYTES - head.length;
  if (left < 8) throw new Error('the init segment is too long');
  const free = Buffer.alloc(left);
  free.writeUInt32BE(left, 0);
  free.write('free', 4, 'latin1');
  return Buffer.concat([head, free]);
}
