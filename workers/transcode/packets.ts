// Packets of MPEG transport streams, as ffmpeg writes them.

export const PACKET = 188;
export const PAT = 0;

/** The fields of one packet of 188 bytes. */
export interface Packet {
  pid: number;
  start: boolean;
  /** Where the payload begins; PACKET if there is none. */
  payload: number;
  key: boolean;
}

/** Throws when it is no packet. */
export function readPacket(bytes: Buffer): Packet {
  if (bytes[0] !== 0x47) throw new Error('ts: lost the packets');
  const control = (bytes[3] ?? 0) & 0x30;
  const field = control & 0x20 ? (bytes[4] ?? 0) + 1 : 0;
  return {
    pid: bytes.readUInt16BE(1) & 0x1fff,
    start: ((bytes[1] ?? 0) & 0x40) !== 0,
    payload: control & 0x10 ? 4 + field : PACKET,
    key: field > 1 && ((bytes[5] ?? 0) & 0x40) !== 0,
  };
}

/** The PID of the packet at a place. */
export const pidAt = (bytes: Uint8Array, at: number): number =>
  (((bytes[at + 1] ?? 0) & 0x1f) << 8) | (bytes[at + 2] ?? 0);

/** Whether a packet of the elementary stream, or a table, begins in the packet at a place. */
export const isStartAt = (bytes: Uint8Array, at: number): boolean => ((bytes[at + 1] ?? 0) & 0x40) !== 0;

/** Where the payload of the packet at a place begins; its end, or a place after it, where it has none. */
export function payloadAt(bytes: Uint8Array, at: number): number {
  const control = bytes[at + 3] ?? 0;
  if ((control & 0x10) === 0) return at + PACKET;
  return at + 4 + (control & 0x20 ? (bytes[at + 4] ?? 0) + 1 : 0);
}

/** Presentation time of a PES head in ticks of 90 kHz; undefined without one. */
export function timeOf(pes: Buffer): number | undefined {
  if (pes.length < 14 || pes.readUIntBE(0, 3) !== 1 || ((pes[7] ?? 0) & 0x80) === 0) return undefined;
  const high = ((pes[9] ?? 0) >> 1) & 7;
  return high * 2 ** 30 + (pes.readUInt16BE(10) >> 1) * 2 ** 15 + (pes.readUInt16BE(12) >> 1);
}

/** PID of the table of the only program. */
export const tablePid = (packet: Buffer, payload: number): number => packet.readUInt16BE(payload + 11) & 0x1fff;

const VIDEO_TYPES = new Set([0x01, 0x02, 0x1b, 0x24]);

/** PID of the first video stream in a program map table. */
export function videoPid(packet: Buffer, payload: number): number | undefined {
  const section = payload + 1 + (packet[payload] ?? 0);
  const end = section + 3 + (packet.readUInt16BE(section + 1) & 0xfff) - 4;
  let at = section + 12 + (packet.readUInt16BE(section + 10) & 0xfff);
  for (; at + 5 <= end; at += 5 + (packet.readUInt16BE(at + 3) & 0xfff)) {
    if (VIDEO_TYPES.has(packet[at] ?? 0)) return packet.readUInt16BE(at + 1) & 0x1fff;
  }
  return undefined;
}

/** The program tables of a stream, which ffmpeg repeats and which each segment begins with once. */
export class ProgramTables {
  #pat: Buffer | undefined;
  #pmt: Buffer | undefined;
  #pmtPid: number | undefined;
  #video: number | undefined;
  #lead: number | undefined;

  /** Whether the program has pictures. */
  get hasVideo(): boolean {
    return this.#video !== undefined && this.#video !== -1;
  }

  /** True for a packet of a track: the tables are known, and it is none of them. */
  isTrack(packet: Packet, bytes: Buffer): boolean {
    if (packet.pid === PAT) {
      this.#pat ??= Buffer.from(bytes);
      this.#pmtPid ??= tablePid(bytes, packet.payload);
      return false;
    }
    if (packet.pid === this.#pmtPid) {
      this.#pmt ??= Buffer.from(bytes);
      this.#video ??= videoPid(bytes, packet.payload) ?? -1;
      return false;
    }
    return packet.pid >= 0x20 && this.#video !== undefined;
  }

  /** True for the PID of a track, once the tables are known. */
  isTrackPid(pid: number): boolean {
    return this.#video !== undefined && pid >= 0x20 && pid !== this.#pmtPid;
  }

  /** True where a picture begins, or a piece of sound in a program without pictures. */
  leads({ pid, start }: Pick<Packet, 'pid' | 'start'>): boolean {
    this.#lead ??= this.hasVideo ? this.#video : pid;
    return start && pid === this.#lead;
  }

  /** Numbered by the segment, so that they are continuous with those of its neighbours. */
  heads(segment: number): Buffer[] {
    return [this.#pat, this.#pmt].map((table) => {
      const copy = Buffer.from(table ?? Buffer.alloc(0));
      if (copy.length > 3) copy[3] = ((copy[3] ?? 0) & 0xf0) | (segment & 0x0f);
      return copy;
    });
  }
}
