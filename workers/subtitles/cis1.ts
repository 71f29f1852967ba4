// Writes picture subtitles as a CIS1 stream, little-endian throughout:
//   `CIS1`, uint32 length of the header, the header as JSON: { codec } and for VobSub { palette, width, height };
//   for each packet float64 time and float64 duration in ms, uint32 length, the bytes of the packet;
//   last the same with the time NaN, whose bytes are JSON: { cut, untilMs? }.
import type { PictureCodec, PicturePacket } from './display-sets.ts';

/** Limits of a stream; at either it is cut. */
const MOST_PACKETS = 4096;
const MOST_BYTES = 32 << 20;

export interface PictureStream {
  codec: PictureCodec;
  /** For VobSub the text of an idx file. */
  header: string;
  /** In order of time. */
  packets: readonly PicturePacket[];
  /** Everything before this time is there; absent when nothing was left out. */
  untilMs?: number;
}

/** A stream of pictures as CIS1, at most 4,096 packets and 32 MiB. */
export function cis1({ codec, header, packets, untilMs }: PictureStream): Buffer {
  const head = Buffer.from(JSON.stringify({ codec, ...(codec === 'vobsub' && idxOf(header)) }));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(head.length);
  const parts: Buffer[] = [Buffer.from('CIS1'), length, head];
  let size = 8 + head.length;
  let end = untilMs;
  for (const [n, packet] of packets.entries()) {
    const record = recordOf(packet);
    size += record.length;
    if (n === MOST_PACKETS || size > MOST_BYTES) {
      end = packet.timeMs;
      break;
    }
    parts.push(record);
  }
  const last = { cut: end !== undefined, ...(end !== undefined && { untilMs: end }) };
  parts.push(recordOf({ timeMs: Number.NaN, durationMs: 0, bytes: Buffer.from(JSON.stringify(last)) }));
  return Buffer.concat(parts);
}

function recordOf({ timeMs, durationMs, bytes }: PicturePacket): Buffer {
  const head = Buffer.alloc(20);
  head.writeDoubleLE(timeMs, 0);
  head.writeDoubleLE(durationMs, 8);
  head.writeUInt32LE(bytes.length, 16);
  return Buffer.concat([head, bytes]);
}

/** The palette of 16 colours and the size of the picture, as far as an idx file names them. */
function idxOf(text: string): { palette?: string[]; width?: number; height?: number } {
  const head = text.slice(0, 10_000);
  const [, width, height] = /^[ \t]{0,9}size:[ \t]{0,9}(\d{1,5})x(\d{1,5})/im.exec(head) ?? [];
  const [, colours] = /^[ \t]{0,9}palette:([0-9a-f, \t]{1,400})/im.exec(head) ?? [];
  const palette = colours?.match(/[0-9a-f]{6}/gi)?.slice(0, 16);
  return {
    ...(palette?.length === 16 && { palette: palette.map((colour) => `#${colour.toLowerCase()}`) }),
    ...(width && height && { width: Number(width), height: Number(height) }),
  };
}
