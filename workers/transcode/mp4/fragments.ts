import { boxesIn, boxHead, findBox } from './boxes.ts';

/** One coded picture or audio frame, in ticks of its track. */
export interface Sample {
  data: Buffer;
  dts: number;
  pts: number;
  duration: number;
  key: boolean;
}

export interface FragmentEvents {
  /** ftyp and moov, once. */
  onInit(bytes: Buffer): void;
  onSamples(samples: Sample[]): void;
}

const NOT_KEY = 0x0001_0000;
/** More than any picture of ours: a length beyond it is a damaged stream. */
const MAX_BOX = 512 * 2 ** 20;

/** Reads the fragmented MP4 that ffmpeg writes into a pipe, one track, as it comes. */
export class FragmentReader {
  #held: Buffer[] = [];
  #length = 0;
  #init: Buffer[] | undefined = [];
  #moof: Buffer | undefined;
  readonly #events: FragmentEvents;

  constructor(events: FragmentEvents) {
    this.#events = events;
  }

  push(chunk: Buffer): void {
    this.#held.push(chunk);
    this.#length += chunk.length;
    for (let box = this.#take(); box; box = this.#take()) this.#onBox(box);
  }

  /** The next whole box, when it is there. Joins the held chunks only then: large boxes come in many pieces. */
  #take(): Buffer | undefined {
    if (this.#length < 8) return undefined;
    const first = this.#first(16);
    const head = boxHead(first, 0);
    if (!head) return undefined;
    if (head.size < head.header || head.size > MAX_BOX) throw new Error('mp4: damaged stream');
    if (this.#length < head.size) return undefined;
    const all = this.#held.length === 1 ? (this.#held[0] as Buffer) : Buffer.concat(this.#held);
    this.#held = all.length > head.size ? [all.subarray(head.size)] : [];
    this.#length -= head.size;
    return all.subarray(0, head.size);
  }

  #first(count: number): Buffer {
    while ((this.#held[0]?.length ?? count) < count && this.#held.length > 1) {
      const [a, b, ...rest] = this.#held as [Buffer, Buffer];
      this.#held = [Buffer.concat([a, b]), ...rest];
    }
    return this.#held[0] as Buffer;
  }

  #onBox(bytes: Buffer): void {
    const type = bytes.toString('latin1', 4, 8);
    if (type === 'moof') this.#moof = bytes;
    else if (type === 'mdat' && this.#moof) {
      this.#events.onSamples(samplesOf(this.#moof, bytes));
      this.#moof = undefined;
    } else if (type === 'moov' && this.#init) {
      this.#events.onInit(Buffer.concat([...this.#init, bytes]));
      this.#init = undefined;
    } else if (type === 'ftyp') this.#init?.push(bytes);
  }
}

interface Defaults {
  duration: number;
  size: number;
  flags: number;
}

/** Samples of one `moof` and the `mdat` right behind it (default-base-is-moof). */
function samplesOf(moof: Buffer, mdat: Buffer): Sample[] {
  const body = moof.subarray(8);
  const traf = findBox(body, 'traf');
  if (!traf) return [];
  const defaults = trackDefaults(findBox(traf, 'tfhd'));
  let dts = decodeTime(findBox(traf, 'tfdt'));
  const samples: Sample[] = [];
  let at = 8;
  for (const { type, body: run } of boxesIn(traf)) {
    if (type !== 'trun') continue;
    const read = readRun(run, defaults);
    if (read.dataOffset !== undefined) at = read.dataOffset - moof.length;
    for (const entry of read.entries) {
      const { size, duration, offset, flags } = entry;
      samples.push({
        data: mdat.subarray(at, at + size),
        dts,
        pts: dts + offset,
        duration,
        key: (flags & NOT_KEY) === 0,
      });
      at += size;
      dts += duration;
    }
  }
  return samples;
}

function trackDefaults(tfhd: Buffer | undefined): Defaults {
  if (!tfhd) throw new Error('mp4: no tfhd');
  const flags = tfhd.readUInt32BE(0) & 0xff_ffff;
  let at = 8;
  const next = (bit: number, width: number): number => {
    if ((flags & bit) === 0) return 0;
    at += width;
    return width === 8 ? 0 : tfhd.readUInt32BE(at - 4);
  };
  next(0x1, 8);
  next(0x2, 4);
  return { duration: next(0x8, 4), size: next(0x10, 4), flags: next(0x20, 4) };
}

function decodeTime(tfdt: Buffer | undefined): number {
  if (!tfdt) throw new Error('mp4: no tfdt');
  return tfdt[0] === 1 ? Number(tfdt.readBigInt64BE(4)) : tfdt.readUInt32BE(4);
}

interface RunEntry extends Defaults {
  offset: number;
}

function readRun(run: Buffer, defaults: Defaults): { dataOffset: number | undefined; entries: RunEntry[] } {
  const flags = run.readUInt32BE(0) & 0xff_ffff;
  const count = run.readUInt32BE(4);
  let at = 8;
  const word = (bit: number, otherwise: number): number => {
    if ((flags & bit) === 0) return otherwise;
    at += 4;
    return run.readUInt32BE(at - 4);
  };
  const dataOffset = (flags & 0x1) === 0 ? undefined : word(0x1, 0) | 0;
  const firstFlags = word(0x4, defaults.flags);
  const entries: RunEntry[] = [];
  for (let i = 0; i < count; i++) {
    const duration = word(0x100, defaults.duration);
    const size = word(0x200, defaults.size);
    const sampleFlags = word(0x400, i === 0 ? firstFlags : defaults.flags);
    entries.push({ duration, size, flags: sampleFlags, offset: word(0x800, 0) | 0 });
  }
  return { dataOffset, entries };
}
