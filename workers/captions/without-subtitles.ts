import { PACKET, PAT, readPacket, tablePid } from '#workers/transcode/packets.ts';

const [TELETEXT_TAG, SUBTITLE_TAG, PRIVATE] = [0x56, 0x59, 0x06];

/** The check of a section (CRC-32 of MPEG-2). */
export function sectionCheck(bytes: Uint8Array): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte << 24;
    for (let bit = 0; bit < 8; bit += 1) sum = sum & 0x80000000 ? (sum << 1) ^ 0x04c11db7 : sum << 1;
  }
  return sum >>> 0;
}

/**
 * Leaves subtitle streams out of ffmpeg's transport stream, and out of its program map: their texts are read before, and
 * segments hold pictures and sound alone.
 */
export class SubtitleFilter {
  #pmtPid: number | undefined;
  #pmt: Buffer | undefined;
  readonly #dropped = new Set<number>();

  /** The packet that stays; undefined for one of a subtitle stream. */
  pass(bytes: Buffer): Buffer | undefined {
    const { pid, start, payload } = readPacket(bytes);
    if (pid === PAT && start) this.#pmtPid ??= tablePid(bytes, payload);
    if (pid === this.#pmtPid && start) return this.#map(bytes, payload);
    return this.#dropped.has(pid) ? undefined : bytes;
  }

  /** ffmpeg repeats its program map, which changes only in the counter of its packets. */
  #map(bytes: Buffer, payload: number): Buffer {
    this.#pmt ??= this.#withoutSubtitles(bytes, payload);
    const copy = Buffer.from(this.#pmt);
    copy[3] = bytes[3] ?? 0;
    return copy;
  }

  #withoutSubtitles(bytes: Buffer, payload: number): Buffer {
    const section = payload + 1 + (bytes[payload] ?? 0);
    const end = section + 3 + (bytes.readUInt16BE(section + 1) & 0xfff) - 4;
    if (end + 4 > PACKET) return bytes; // it goes on in another packet
    const streams = section + 12 + (bytes.readUInt16BE(section + 10) & 0xfff);
    const kept = [bytes.subarray(section, streams)];
    for (let at = streams; at + 5 <= end; ) {
      const next = at + 5 + (bytes.readUInt16BE(at + 3) & 0xfff);
      const stream = bytes.subarray(at, next);
      if (isSubtitle(stream)) this.#dropped.add(stream.readUInt16BE(1) & 0x1fff);
      else kept.push(stream);
      at = next;
    }
    if (this.#dropped.size === 0) return bytes;
    const body = Buffer.concat(kept);
    body.writeUInt16BE((body.readUInt16BE(1) & 0xf000) | (body.length + 1), 1);
    const check = Buffer.alloc(4);
    check.writeUInt32BE(sectionCheck(body));
    return Buffer.concat([bytes.subarray(0, section), body, check, Buffer.alloc(PACKET, 0xff)], PACKET);
  }
}

function isSubtitle(stream: Buffer): boolean {
  if (stream[0] !== PRIVATE) return false;
  for (let at = 5; at + 2 <= stream.length; at += 2 + (stream[at + 1] ?? 0))
    if (stream[at] === TELETEXT_TAG || stream[at] === SUBTITLE_TAG) return true;
  return false;
}
