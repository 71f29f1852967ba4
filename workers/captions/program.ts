// The program map of a transport stream, as far as captions need it.
import { PACKET, PAT, type Packet } from '#workers/transcode/packets.ts';
import type { VideoKind } from './cc-data.ts';

/** Captions that a program map announces. */
export interface Announced {
  /** `cc1` and `cc3`, or `service1` and so on. */
  id: string;
  language: string;
}

export interface TeletextPage {
  pid: number;
  /** Magazine and page as viewers write them, such as 888. */
  page: string;
  language: string;
  hearingImpaired: boolean;
}

export interface Program {
  video: { pid: number; kind: VideoKind } | undefined;
  announced: Announced[];
  teletext: TeletextPage[];
}

const VIDEO: Readonly<Record<number, VideoKind>> = { 1: 'mpeg2', 2: 'mpeg2', 27: 'h264', 36: 'hevc' };
const [TELETEXT_TAG, CAPTIONS_TAG] = [0x56, 0x86];
const [SUBTITLES, FOR_IMPAIRED] = [2, 5];
const MOST_SECTION = 1024;

const pidAt = (bytes: Buffer, at: number): number => bytes.readUInt16BE(at) & 0x1fff;
const lengthAt = (bytes: Buffer, at: number): number => bytes.readUInt16BE(at) & 0x0fff;
const languageAt = (bytes: Buffer, at: number): string => {
  const code = bytes.toString('latin1', at, at + 3).toLowerCase();
  return /^[a-z]{3}$/.test(code) ? code : 'und';
};

/** Descriptors or streams of a loop: each has a head with its length at the end. */
function* loopOf(bytes: Buffer, head: number, length: (at: number) => number): Generator<Buffer> {
  for (let at = 0; at + head <= bytes.length; ) {
    const end = at + head + length(at);
    yield bytes.subarray(at, end);
    at = end;
  }
}

/** Languages of an ATSC caption_service_descriptor. */
function announcedIn(descriptor: Buffer): Announced[] {
  const count = (descriptor[2] ?? 0) & 0x1f;
  return Array.from({ length: count }, (_, i) => descriptor.subarray(3 + i * 6, 9 + i * 6))
    .filter((entry) => entry.length === 6)
    .map((entry) => {
      const code = entry[3] ?? 0;
      const id = code & 0x80 ? `service${code & 0x3f}` : `cc${code & 1 ? 3 : 1}`;
      return { id, language: languageAt(entry, 0) };
    });
}

function pagesIn(descriptor: Buffer, pid: number): TeletextPage[] {
  const pages: TeletextPage[] = [];
  for (let at = 2; at + 5 <= descriptor.length; at += 5) {
    const [head = 0, page = 0] = descriptor.subarray(at + 3);
    const type = head >> 3;
    if (type !== SUBTITLES && type !== FOR_IMPAIRED) continue;
    const number = `${head & 7 || 8}${page.toString(16).padStart(2, '0')}`;
    pages.push({ pid, page: number, language: languageAt(descriptor, at), hearingImpaired: type === FOR_IMPAIRED });
  }
  return pages;
}

const descriptorsOf = (bytes: Buffer): Generator<Buffer> => loopOf(bytes, 2, (at) => bytes[at + 1] ?? 0);

/** Reads a whole section of a program map. */
export function programOf(section: Buffer): Program {
  const program: Program = { video: undefined, announced: [], teletext: [] };
  if (section.length < 16) return program;
  const info = lengthAt(section, 10);
  describe(program, section.subarray(12, 12 + info), -1);
  const streams = section.subarray(12 + info, -4);
  for (const stream of loopOf(streams, 5, (at) => lengthAt(streams, at + 3))) {
    const pid = pidAt(stream, 1);
    const kind = VIDEO[stream[0] ?? 0];
    if (kind) program.video ??= { pid, kind };
    describe(program, stream.subarray(5), pid);
  }
  return program;
}

/** Adds the captions that descriptors name. */
function describe(program: Program, descriptors: Buffer, pid: number): void {
  for (const one of descriptorsOf(descriptors)) {
    if (one[0] === CAPTIONS_TAG) program.announced.push(...announcedIn(one));
    if (one[0] === TELETEXT_TAG) program.teletext.push(...pagesIn(one, pid));
  }
}

/** Finds the program map in packets; it may be longer than one. */
export class ProgramReader {
  program: Program | undefined;
  #pid: number | undefined;
  #section: Buffer = Buffer.alloc(0);
  #isOpen = false;

  /** Whether the packets of this PID have a table that it reads. */
  reads(pid: number): boolean {
    return pid === PAT || pid === this.#pid;
  }

  push({ pid, start, payload }: Packet, bytes: Buffer): void {
    if (payload >= PACKET) return;
    if (pid === PAT && start) this.#pid ??= firstProgram(bytes.subarray(payload));
    else if (pid === this.#pid) this.#collect(bytes.subarray(payload), start);
  }

  #collect(payload: Buffer, start: boolean): void {
    if (!start && !this.#isOpen) return;
    const part = start ? payload.subarray(1 + (payload[0] ?? 0)) : payload;
    this.#section = start ? Buffer.from(part) : Buffer.concat([this.#section, part]);
    this.#isOpen = this.#section.length < MOST_SECTION;
    if (this.#section.length < 3 || this.#section[0] !== 2) return;
    const end = 3 + lengthAt(this.#section, 1);
    if (this.#section.length < end) return;
    this.program = programOf(this.#section.subarray(0, end));
    this.#isOpen = false;
  }
}

/** PID of the first program of a program association table; number 0 is the network's. */
function firstProgram(payload: Buffer): number | undefined {
  const section = payload.subarray(1 + (payload[0] ?? 0));
  if (section.length < 12 || section[0] !== 0) return undefined;
  const end = Math.min(3 + lengthAt(section, 1) - 4, section.length - 3);
  for (let at = 8; at < end; at += 4) if (section.readUInt16BE(at) !== 0) return pidAt(section, at + 2);
  return undefined;
}
