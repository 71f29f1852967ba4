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
 * Leaves teletext out of ffmpeg's transport stream, and out of its program map: its texts are read before. Picture
 * subtitles stay, for renditions that burn them in and for recordings.
 */
export class SubtitleFilter {
  #pmtPid: number | undefined;
  /** The map that goes out; `null` where it needs several packets without teletext too, so that ffmpeg's own stays. */
  #pmt: Buffer | null | undefined;
  /** The map as far as it came: the packet before its section, and the section. */
  #coming: { head: Buffer; section: Buffer } | undefined;
  /** Of its packets, for their counter. */
  #sent = 0;
  readonly #dropped = new Set<number>();

  /** Whether packets of this PID may be changed or left out. All others stay as they are. */
  changes(pid: number): boolean {
    return pid === PAT || pid === this.#pmtPid || this.#dropped.has(pid);
  }

  /** The packet that stays; undefined for one of a stream that is left out. */
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
      this.#coming = { head: Buffer.from(bytes.subarray(0, at)), section: Buffer.from(bytes.subarray(at)) };
    } else if (this.#coming) {
      const { payload } = readPacket(bytes);
      this.#coming.section = Buffer.concat([this.#coming.section, bytes.subarray(payload)]);
    }
    const { section, head } = this.#coming ?? {};
    if (!head || !section || section.length < 3) return;
    const length = 3 + (section.readUInt16BE(1) & 0xfff);
    if (section.length >= length) this.#pmt = this.#reduced(head, section.subarray(0, length - 4));
  }

  /** The map without teletext, and with the picture subtitles that it has room for in one packet. `section` has no check. */
  #reduced(head: Buffer, section: Buffer): Buffer | null {
    const first = 12 + (section.readUInt16BE(10) & 0xfff);
    const streams = streamsIn(section, first);
    const sounds = streams.filter((stream) => kindOf(stream) === undefined);
    let room = PACKET - head.length - first - 4 - sounds.reduce((sum, { length }) => sum + length, 0);
    const kept = [section.subarray(0, first)];
    for (const stream of streams) {
      const kind = kindOf(stream);
      const fits = kind === undefined || (kind === 'pictures' && stream.length <= room);
      if (fits) kept.push(stream);
      else this.#dropped.add(stream.readUInt16BE(1) & 0x1fff);
      if (fits && kind !== undefined) room -= stream.length;
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

function streamsIn(section: Buffer, first: number): Buffer[] {
  const streams: Buffer[] = [];
  for (let at = first; at + 5 <= section.length; ) {
    const next = at + 5 + (section.readUInt16BE(at + 3) & 0xfff);
    streams.push(section.subarray(at, next));
    at = next;
  }
  return streams;
}

/** Undefined for a stream of pictures or sound. */
function kindOf(stream: Buffer): 'teletext' | 'pictures' | undefined {
  if (stream[0] !== PRIVATE) return undefined;
  const tags: number[] = [];
  for (let at = 5; at + 2 <= stream.length; at += 2 + (stream[at + 1] ?? 0)) tags.push(stream[at] ?? 0);
  if (tags.includes(TELETEXT_TAG)) return 'teletext';
  return tags.includes(SUBTITLE_TAG) ? 'pictures' : undefined;
}
