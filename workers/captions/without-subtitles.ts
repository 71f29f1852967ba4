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
  /** The map that goes out; `null` where it needs several packets without subtitles too, so that ffmpeg's own stays. */
  #pmt: Buffer | null | undefined;
  /** The map as far as it came: the packet before its section, and the section. */
  #coming: { head: Buffer; section: Buffer } | undefined;
  /** Of its packets, for their counter. */
  #sent = 0;
  readonly #dropped = new Set<number>();

  /** The packet that stays; undefined for one of a subtitle stream. */
  pass(bytes: Buffer): Buffer | undefined {
    const { pid, start, payload } = readPacket(bytes);
    if (pid === PAT && start) this.#pmtPid ??= tablePid(bytes, payload);
    if (pid === this.#pmtPid) return this.#map(bytes, start ? payload : undefined);
    return this.#dropped.has(pid) ? undefined : bytes;
  }

  /** ffmpeg repeats its program map, of many streams in several packets. */
  #map(bytes: Buffer, start: number | undefined): Buffer | undefined {
    if (this.#pmt === undefined) this.#collect(bytes, start);
    if (this.#pmt === null) return bytes;
    if (this.#pmt === undefined || (start === undefined && this.#coming === undefined)) return undefined;
    this.#coming = undefined;
    const copy = Buffer.from(this.#pmt);
    copy[3] = ((copy[3] ?? 0) & 0xf0) | (this.#sent & 0x0f);
    this.#sent += 1;
    return copy;
  }

  #collect(bytes: Buffer, start: number | undefined): void {
    if (start !== undefined) {
      const at = start + 1 + (bytes[start] ?? 0);
      this.#coming = { head: bytes.subarray(0, at), section: Buffer.from(bytes.subarray(at)) };
    } else if (this.#coming) {
      const { payload } = readPacket(bytes);
      this.#coming.section = Buffer.concat([this.#coming.section, bytes.subarray(payload)]);
    }
    const { section, head } = this.#coming ?? {};
    if (!head || !section || section.length < 3) return;
    const length = 3 + (section.readUInt16BE(1) & 0xfff);
    if (section.length >= length) this.#pmt = this.#reduced(head, section.subarray(0, length - 4));
  }

  /** The map without subtitle streams, in one packet. `section` has no check. */
  #reduced(head: Buffer, section: Buffer): Buffer | null {
    const streams = 12 + (section.readUInt16BE(10) & 0xfff);
    const kept = [section.subarray(0, streams)];
    for (let at = streams; at + 5 <= section.length; ) {
      const next = at + 5 + (section.readUInt16BE(at + 3) & 0xfff);
      const stream = section.subarray(at, next);
      if (isSubtitle(stream)) this.#dropped.add(stream.readUInt16BE(1) & 0x1fff);
      else kept.push(stream);
      at = next;
    }
    const body = Buffer.concat(kept);
    if (head.length + body.length + 4 > PACKET) {
      this.#dropped.clear();
      return null;
    }
    body.writeUInt16BE((body.readUInt16BE(1) & 0xf000) | (body.length + 1), 1);
    const check = Buffer.alloc(4);
    check.writeUInt32BE(sectionCheck(body));
    return Buffer.concat([head, body, check, Buffer.alloc(PACKET, 0xff)], PACKET);
  }
}

function isSubtitle(stream: Buffer): boolean {
  if (stream[0] !== PRIVATE) return false;
  for (let at = 5; at + 2 <= stream.length; at += 2 + (stream[at + 1] ?? 0))
    if (stream[at] === TELETEXT_TAG || stream[at] === SUBTITLE_TAG) return true;
  return false;
}
