// The parts of a recording on one clock: each time that the broadcast was interrupted, its parts begin with a clock of their own.
import type { LiveSegment } from '#platform/live/segments.ts';
import { firstTicks } from '#workers/transcode/live/cutter.ts';
import { isStartAt, PACKET, payloadAt, timeOf } from '#workers/transcode/packets.ts';

const WRAP = 2 ** 33;
const wrapped = (ticks: number): number => ((ticks % WRAP) + WRAP) % WRAP;

/** Moves the times of parts in order, so that the first picture after an interruption follows the last one before it. */
export class PartClock {
  #offset = 0;
  #expected: number | undefined;
  #discontinuity: number | undefined;

  /** Changes the bytes of a part. */
  move(bytes: Buffer, { durationMs, discontinuity }: Pick<LiveSegment, 'durationMs' | 'discontinuity'>): void {
    const first = firstOf(bytes);
    const isNew = this.#discontinuity !== undefined && discontinuity !== this.#discontinuity;
    if (first !== undefined && isNew && this.#expected !== undefined) this.#offset = wrapped(this.#expected - first);
    if (this.#offset !== 0) moveTimes(bytes, this.#offset);
    if (first === undefined) return;
    this.#expected = wrapped(first + this.#offset + durationMs * 90);
    this.#discontinuity = discontinuity;
  }
}

/** Undefined for a part that is no transport stream: ffmpeg judges it. */
function firstOf(bytes: Buffer): number | undefined {
  try {
    return firstTicks(bytes);
  } catch {
    return undefined;
  }
}

/** Adds ticks of 90 kHz to the times in a transport stream. */
function moveTimes(bytes: Buffer, offset: number): void {
  for (let at = 0; at + PACKET <= bytes.length; at += PACKET) {
    moveReference(bytes, at, offset);
    const from = payloadAt(bytes, at);
    if (!isStartAt(bytes, at) || from + 19 > at + PACKET) continue;
    const pes = bytes.subarray(from, from + 19);
    if (timeOf(pes) === undefined) continue;
    moveStamp(pes, 9, offset);
    if ((pes[7] ?? 0) & 0x40) moveStamp(pes, 14, offset);
  }
}

/** The clock reference of a packet, 33 bits and an extension that stays. */
function moveReference(bytes: Buffer, at: number, offset: number): void {
  const hasField = ((bytes[at + 3] ?? 0) & 0x20) !== 0 && (bytes[at + 4] ?? 0) >= 7;
  if (!hasField || ((bytes[at + 5] ?? 0) & 0x10) === 0) return;
  const base = bytes.readUInt32BE(at + 6) * 2 + ((bytes[at + 10] ?? 0) >> 7);
  const moved = wrapped(base + offset);
  bytes.writeUInt32BE(Math.floor(moved / 2), at + 6);
  bytes[at + 10] = ((bytes[at + 10] ?? 0) & 0x7f) | ((moved % 2) << 7);
}

/** A time of a PES head: 33 bits in three parts, with a mark after each. */
function moveStamp(pes: Buffer, at: number, offset: number): void {
  const high = ((pes[at] ?? 0) >> 1) & 7;
  const ticks = high * 2 ** 30 + (pes.readUInt16BE(at + 1) >> 1) * 2 ** 15 + (pes.readUInt16BE(at + 3) >> 1);
  const moved = wrapped(ticks + offset);
  pes[at] = ((pes[at] ?? 0) & 0xf1) | (Math.floor(moved / 2 ** 30) << 1);
  pes.writeUInt16BE((Math.floor(moved / 2 ** 15) % 2 ** 15) * 2 + 1, at + 1);
  pes.writeUInt16BE((moved % 2 ** 15) * 2 + 1, at + 3);
}
