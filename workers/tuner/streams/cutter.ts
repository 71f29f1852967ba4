import type { SegmentCaptions } from '#platform/live/captions.ts';
import { SubtitleFilter } from '#workers/captions/without-subtitles.ts';
import { isStartAt, PACKET, ProgramTables, pidAt, readPacket, timeOf } from '#workers/transcode/packets.ts';
import type { LiveCaptions } from './captions.ts';
import { PieceBuffer } from './piece-buffer.ts';

/** Length of a segment; it is cut at the first keyframe that is not much earlier. */
export const TARGET_MS = 4000;
const EARLY_MS = 500;
/** A piece without a keyframe for this long is not cut into segments. */
const MOST_BYTES = 96 << 20;
const WRAP = 2 ** 33;
const SYNC = 0x47;
/** Pictures that are further apart have lost ones between them, where packets were lost. In ticks. */
const HOLE = 90 * 1000;
const PICTURE = 3600;

/** A piece of a transport stream from one keyframe to another. */
export interface Piece {
  bytes: Buffer;
  /** The bytes are stored, and their memory may be used again. */
  release?: (() => void) | undefined;
  /** Ms from the first keyframe of this stream. */
  atMs: number;
  durationMs: number;
  captions?: SegmentCaptions | undefined;
  /** Pictures before it are lost. */
  afterHole?: boolean;
}

/** Where a cutter gets more than the stream. */
export interface CutterDeps {
  captions?: LiveCaptions;
  /** Packets that the source has lost so far. */
  lost?: () => number;
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
  readonly #lost: () => number;
  readonly #subtitles = new SubtitleFilter();
  /** The packet that began in the chunk before. */
  readonly #rest = Buffer.alloc(PACKET);
  #held = 0;
  readonly #tables = new ProgramTables();
  readonly #piece = new PieceBuffer();
  #count = 0;
  /** Ticks of 90 kHz without wraps: the first keyframe, the current piece, the last picture. */
  #first: number | undefined;
  #start = 0;
  #last = 0;
  /** Lost packets that a hole was found for. */
  #explained = 0;
  /** After a hole: no picture is whole before the next keyframe. */
  #waits = false;
  #afterHole = false;

  constructor(onPiece: (piece: Piece) => void, { captions, lost = () => 0 }: CutterDeps = {}) {
    this.#onPiece = onPiece;
    this.#captions = captions;
    this.#lost = lost;
  }

  /** Reads the chunk in place, in runs of packets: an object for each packet would cost more than everything else of a tuner. */
  push(chunk: Buffer): void {
    let from = 0;
    if (this.#held > 0) {
      from = Math.min(PACKET - this.#held, chunk.length);
      this.#held += chunk.copy(this.#rest, this.#held, 0, from);
      if (this.#held < PACKET) return;
      this.#take(this.#rest);
    }
    const end = chunk.length - ((chunk.length - from) % PACKET);
    this.#take(chunk.subarray(from, end));
    this.#held = chunk.copy(this.#rest, 0, end);
  }

  /** Whole packets. */
  #take(bytes: Buffer): void {
    let [kept, heard] = [0, 0]; // up to where packets are in the piece, and in the captions
    for (let at = 0; at < bytes.length; at += PACKET) {
      const kind = this.#kindAt(bytes, at);
      if (kind === 'inside') continue;
      this.#keep(bytes.subarray(kept, at));
      const packet = bytes.subarray(at, at + PACKET);
      kept = kind === 'lead' ? at : at + PACKET;
      if (kind === 'table') this.#onTable(packet);
      else {
        this.#captions?.push(bytes.subarray(heard, at + PACKET)); // the captions of the picture before are whole now
        heard = at + PACKET;
        this.#onPicture(packet);
      }
    }
    this.#keep(bytes.subarray(kept));
    this.#captions?.push(bytes.subarray(heard));
  }

  /** `table`: the packet is no track's, or may be left out. */
  #kindAt(bytes: Buffer, at: number): 'table' | 'lead' | 'inside' {
    if (bytes[at] !== SYNC) throw new Error('ts: lost the packets');
    const pid = pidAt(bytes, at);
    if (!this.#tables.isTrackPid(pid) || this.#subtitles.changes(pid)) return 'table';
    return this.#tables.leads({ pid, start: isStartAt(bytes, at) }) ? 'lead' : 'inside';
  }

  /** The rest as a piece, if it is long enough to be one. */
  end(): void {
    if (this.#first !== undefined && this.#last - this.#start > 90 * 200) this.#give(this.#last + PICTURE);
  }

  #keep(run: Buffer): void {
    if (this.#first === undefined || this.#waits || run.length === 0) return;
    this.#piece.add(run);
    if (this.#piece.size > MOST_BYTES) throw new NotCuttable('the broadcast has no keyframes');
  }

  #onTable(received: Buffer): void {
    const bytes = this.#subtitles.pass(received);
    if (bytes) this.#tables.isTrack(readPacket(bytes), bytes);
  }

  #onPicture(bytes: Buffer): void {
    const { key, payload } = readPacket(bytes);
    const ticks = timeOf(bytes.subarray(payload));
    if (ticks === undefined) return;
    const now =
      this.#first === undefined ? ticks : this.#last + ((((ticks - this.#last) % WRAP) + WRAP * 1.5) % WRAP) - WRAP / 2;
    const begins = key || !this.#tables.hasVideo;
    if (this.#first === undefined) {
      if (!begins) return;
      this.#first = now;
      this.#start = now;
    } else this.#onNext(now, begins);
    this.#last = Math.max(this.#last, now);
  }

  #onNext(now: number, begins: boolean): void {
    if (now - this.#last > HOLE && this.#lost() > this.#explained && !this.#waits) {
      this.#explained = this.#lost();
      this.#give(this.#last + PICTURE);
      this.#waits = true;
    }
    if (!begins) return;
    if (this.#waits) this.#start = now;
    else if (this.#isDue(now)) this.#give(now);
    this.#afterHole ||= this.#waits;
    this.#waits = false;
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
      ...this.#piece.take(this.#tables.heads(this.#count)),
      atMs: atMs ?? 0,
      durationMs,
      afterHole: this.#afterHole,
      captions: this.#captions?.take(ticks, durationMs),
    };
    this.#afterHole = false;
    this.#start = until;
    this.#count += 1;
    this.#onPiece(piece);
  }
}
