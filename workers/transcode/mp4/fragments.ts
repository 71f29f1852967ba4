import { boxesIn, boxHead, findBox } from './boxes.ts';

/** When one encoded picture or audio frame is presented, in ticks of its track. */
export interface SampleHead {
  dts: number;
  pts: number;
  duration: number;
  key: boolean;
}

export interface Sample extends SampleHead {
  /** Its bytes, in the pieces of the pipe: joined once, in the segment. */
  data: readonly Buffer[];
  size: number;
}

export interface FragmentEvents {
  /** ftyp and moov, once. */
  onInit(bytes: Buffer): void;
  /** The head of a fragment: its first sample follows, all earlier samples have arrived. */
  onAhead?(first: SampleHead): void;
  onSamples(samples: Sample[]): void;
}

const NOT_KEY = 0x0001_0000;
/** More than any of our pictures: a greater length means a damaged stream. */
const MAX_BOX = 512 * 2 ** 20;

/** Reads the fragmented MP4 of one track from ffmpeg's pipe as it arrives. */
export class FragmentReader {
  #held: Buffer[] = [];
  #length = 0;
  #init: Buffer[] | undefined = [];
  #coming: Placed[] = [];
  readonly #events: FragmentEvents;

  constructor(events: FragmentEvents) {
    this.#events = events;
  }

  push(chunk: Buffer): void {
    this.#held.push(chunk);
    this.#length += chunk.length;
    for (let size = this.#whole(); size > 0; size = this.#whole()) this.#onBox(size);
  }

  /** Size of the next box once it has arrived completely; 0 before. */
  #whole(): number {
    if (this.#length < 8) return 0;
    const head = boxHead(this.#first(16), 0);
    if (!head) return 0;
    if (head.size < head.header || head.size > MAX_BOX) throw new Error('mp4: damaged stream');
    return this.#length < head.size ? 0 : head.size;
  }

  /** The next bytes, in the pieces in which they arrived. */
  #take(size: number): Buffer[] {
    this.#length -= size;
    const taken: Buffer[] = [];
    for (let missing = size; missing > 0; ) {
      const piece = this.#held.shift() as Buffer;
      taken.push(piece.subarray(0, missing));
      if (piece.length > missing) this.#held.unshift(piece.subarray(missing));
      missing -= Math.min(piece.length, missing);
    }
    return taken;
  }

  #first(count: number): Buffer {
    while ((this.#held[0]?.length ?? count) < count && this.#held.length > 1) {
      const [a, b, ...rest] = this.#held as [Buffer, Buffer];
      this.#held = [Buffer.concat([a, b]), ...rest];
    }
    return this.#held[0] as Buffer;
  }

  #onBox(size: number): void {
    const type = this.#first(16).toString('latin1', 4, 8);
    if (type === 'mdat') {
      this.#onData(size);
      return;
    }
    const bytes = Buffer.concat(this.#take(size));
    if (type === 'moof') {
      this.#coming = samplesOf(bytes);
      const [first] = this.#coming;
      if (first) this.#events.onAhead?.(first);
    } else if (type === 'moov' && this.#init) {
      this.#events.onInit(Buffer.concat([...this.#init, bytes]));
      this.#init = undefined;
    } else if (type === 'ftyp') this.#init?.push(bytes);
  }

  /** Pictures are large, so their bytes are not copied here. */
  #onData(size: number): void {
    const coming = this.#coming;
    this.#coming = [];
    let at = 0;
    const came = coming.map((sample) => {
      if (sample.at < at || sample.at + sample.size > size) throw new Error('mp4: damaged stream');
      this.#take(sample.at - at);
      at = sample.at + sample.size;
      return { ...sample, data: this.#take(sample.size) };
    });
    this.#take(size - at);
    if (came.length > 0) this.#events.onSamples(came);
  }
}

interface Defaults {
  duration: number;
  size: number;
  flags: number;
}

/** A sample and the position of its bytes in the following `mdat`. */
interface Placed extends SampleHead {
  at: number;
  size: number;
}

/** Samples of one `moof`; their bytes are in the `mdat` after it (default-base-is-moof). */
function samplesOf(moof: Buffer): Placed[] {
  const body = moof.subarray(8);
  const traf = findBox(body, 'traf');
  if (!traf) return [];
  const defaults = trackDefaults(findBox(traf, 'tfhd'));
  let dts = decodeTime(findBox(traf, 'tfdt'));
  const samples: Placed[] = [];
  let at = 8;
  for (const { type, body: run } of boxesIn(traf)) {
    if (type !== 'trun') continue;
    const read = readRun(run, defaults);
    if (read.dataOffset !== undefined) at = read.dataOffset - moof.length;
    for (const entry of read.entries) {
      const { size, duration, offset, flags } = entry;
      samples.push({ at, size, dts, pts: dts + offset, duration, key: (flags & NOT_KEY) === 0 });
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
