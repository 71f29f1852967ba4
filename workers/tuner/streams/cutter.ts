import type { SegmentCaptions } from '#platform/live/captions.ts';
import { SubtitleFilter } from '#workers/captions/without-subtitles.ts';
import { PACKET, ProgramTables, readPacket, timeOf } from '#workers/transcode/packets.ts';
import type { LiveCaptions } from './captions.ts';

/** Length of a segment; it is cut at the first keyframe that is not much earlier. */
export const TARGET_MS = 4000;
const EARLY_MS = 500;
/** A piece without a keyframe for this long is not cut into segments. */
const MOST_BYTES = 96 << 20;
const WRAP = 2 ** 33;

/** A piece of a transport stream from one keyframe to another. */
export interface Piece {
  bytes: Buffer;
  /** Ms from the first keyframe of this stream. */
  atMs: number;
  durationMs: number;
  captions?: SegmentCaptions | undefined;
}

/** The broadcast has no keyframes, or is not what it seems. */
export class NotCuttable extends Error {}

/**
 * Cuts ffmpeg's transport stream at keyframes, and audio alone by time. The first pieces end at each keyframe until four
 * seconds of them are there, so that a picture does not wait for a whole one. Each begins with the program tables.
 */
export class LiveCutter {
  readonly #onPiece: (piece: Piece) => void;
  readonly #captions: LiveCaptions | undefined;
  readonly #subtitles = new SubtitleFilter();
  #rest: Buffer = Buffer.alloc(0);
  readonly #tables = new ProgramTables();
  #packets: Buffer[] = [];
  #bytes = 0;
  #count = 0;
  /** Ticks of 90 kHz without wraps: the first keyframe, the current piece, the last picture. */
  #first: number | undefined;
  #start = 0;
  #last = 0;

  constructor(onPiece: (piece: Piece) => void, captions?: LiveCaptions) {
    this.#onPiece = onPiece;
    this.#captions = captions;
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk;
    let at = 0;
    for (; at + PACKET <= bytes.length; at += PACKET) this.#onPacket(bytes.subarray(at, at + PACKET));
    this.#rest = bytes.subarray(at);
  }

  /** The rest as a piece, if it is long enough to be one. */
  end(): void {
    if (this.#first !== undefined && this.#last - this.#start > 90 * 200) this.#give(this.#last + 3600);
  }

  #onPacket(received: Buffer): void {
    this.#captions?.push(received);
    const bytes = this.#subtitles.pass(received);
    if (!bytes) return;
    const packet = readPacket(bytes);
    if (!this.#tables.isTrack(packet, bytes)) return;
    if (this.#tables.leads(packet)) this.#onPicture(packet, bytes);
    if (this.#first === undefined) return;
    this.#packets.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes > MOST_BYTES) throw new NotCuttable('the broadcast has no keyframes');
  }

  #onPicture({ key, payload }: { key: boolean; payload: number }, bytes: Buffer): void {
    const ticks = timeOf(bytes.subarray(payload));
    if (ticks === undefined) return;
    const now =
      this.#first === undefined ? ticks : this.#last + ((((ticks - this.#last) % WRAP) + WRAP * 1.5) % WRAP) - WRAP / 2;
    const begins = key || !this.#tables.hasVideo;
    if (this.#first === undefined) {
      if (!begins) return;
      this.#first = now;
      this.#start = now;
    } else if (begins && this.#isDue(now)) this.#give(now);
    this.#last = Math.max(this.#last, now);
  }

  #isDue(now: number): boolean {
    const elapsedMs = (now - this.#start) / 90;
    const made = (this.#start - (this.#first ?? 0)) / 90;
    const isFirst = made < TARGET_MS && (this.#tables.hasVideo || elapsedMs >= 1000);
    return isFirst ? elapsedMs > 0 : elapsedMs >= TARGET_MS - EARLY_MS;
  }

  #give(until: number): void {
    const [atMs, endMs] = [this.#start, until].map((ticks) => Math.round((ticks - (this.#first ?? 0)) / 90));
    const durationMs = Math.max(1, (endMs ?? 0) - (atMs ?? 0));
    const ticks = ((this.#start % WRAP) + WRAP) % WRAP;
    const piece = {
      bytes: Buffer.concat([...this.#tables.heads(this.#count), ...this.#packets]),
      atMs: atMs ?? 0,
      durationMs,
      captions: this.#captions?.take(ticks, durationMs),
    };
    this.#packets = [];
    this.#bytes = 0;
    this.#start = until;
    this.#count += 1;
    this.#onPiece(piece);
  }
}
