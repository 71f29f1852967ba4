import { PACKET, ProgramTables, readPacket, timeOf } from '../packets.ts';

/** Where a segment of the source begins on its own clock, ticks of 90 kHz. */
export interface Boundary {
  sequence: number;
  ticks: number;
}

/** Presentation time of the first picture, or of the first sound, in a segment that begins with its tables. */
export function firstTicks(bytes: Buffer): number | undefined {
  const tables = new ProgramTables();
  for (let at = 0; at + PACKET <= bytes.length; at += PACKET) {
    const one = bytes.subarray(at, at + PACKET);
    const packet = readPacket(one);
    if (tables.isTrack(packet, one) && tables.leads(packet)) return timeOf(one.subarray(packet.payload));
  }
  return undefined;
}

export interface EncodedPiece {
  sequence: number;
  bytes: Buffer;
  /** Ticks from the source's boundary to the first picture. */
  lateTicks: number;
  durationTicks: number;
}

/** A picture may be rounded to the frame before. */
const SLACK = 90 * 25;

/** Cuts an encoded transport stream at the first keyframe in each segment of the source. */
export class EncodedCutter {
  readonly #onPiece: (piece: EncodedPiece) => void;
  readonly #boundaries: Boundary[] = [];
  #rest: Buffer = Buffer.alloc(0);
  readonly #tables = new ProgramTables();
  #packets: Buffer[] = [];
  #current: { boundary: Boundary; ticks: number } | undefined;
  #last = 0;

  constructor(onPiece: (piece: EncodedPiece) => void) {
    this.#onPiece = onPiece;
  }

  /** A segment of the source goes into the encoder. */
  expect(boundary: Boundary): void {
    this.#boundaries.push(boundary);
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    let at = 0;
    for (; at + PACKET <= bytes.length; at += PACKET) this.#onPacket(bytes.subarray(at, at + PACKET));
    this.#rest = bytes.subarray(at);
  }

  /** The source's timeline ended: the rest is a piece. */
  end(): void {
    if (this.#current) this.#give(this.#last + 3600);
  }

  #onPacket(bytes: Buffer): void {
    const packet = readPacket(bytes);
    if (!this.#tables.isTrack(packet, bytes)) return;
    if (this.#tables.leads(packet)) this.#onPicture(packet, bytes);
    if (this.#current) this.#packets.push(bytes);
  }

  #onPicture({ key, payload }: { key: boolean; payload: number }, bytes: Buffer): void {
    const ticks = timeOf(bytes.subarray(payload));
    if (ticks === undefined) return;
    this.#last = ticks;
    if (!key && this.#tables.hasVideo) return;
    let begun: Boundary | undefined;
    for (let next = this.#boundaries[0]; next && ticks >= next.ticks - SLACK; next = this.#boundaries[0]) {
      begun = next;
      this.#boundaries.shift();
    }
    if (!begun) return;
    if (this.#current) this.#give(ticks);
    this.#current = { boundary: begun, ticks };
  }

  #give(until: number): void {
    if (!this.#current) return;
    const { boundary, ticks } = this.#current;
    const { sequence } = boundary;
    const bytes = Buffer.concat([...this.#tables.heads(sequence), ...this.#packets]);
    this.#packets = [];
    this.#current = undefined;
    this.#onPiece({ sequence, bytes, lateTicks: ticks - boundary.ticks, durationTicks: until - ticks });
  }
}
