import { PACKET } from '#workers/transcode/packets.ts';

/** The program tables come before the packets. */
const HEADS = 2 * PACKET;
const FIRST_BYTES = 1 << 20;

/** Bytes of a piece. After `release` they are those of another one. */
export interface PieceBytes {
  bytes: Buffer;
  release: () => void;
}

/** The packets of a piece while it comes. The memory of stored pieces is used again: V8 collects its whole heap for so much of it. */
export class PieceBuffer {
  #bytes: Buffer = Buffer.allocUnsafeSlow(FIRST_BYTES);
  #end = HEADS;
  #spare: Buffer | undefined;

  get size(): number {
    return this.#end - HEADS;
  }

  add(run: Buffer): void {
    if (this.#end + run.length > this.#bytes.length) {
      const longer = Buffer.allocUnsafeSlow(2 * (this.#end + run.length));
      this.#bytes.copy(longer, 0, 0, this.#end);
      this.#bytes = longer;
    }
    this.#end += run.copy(this.#bytes, this.#end);
  }

  /** The piece with its tables; the next one begins. */
  take(heads: readonly Buffer[]): PieceBytes {
    const memory = this.#bytes;
    let start = HEADS;
    for (const head of heads.toReversed()) {
      start -= head.length;
      head.copy(memory, start);
    }
    const bytes = memory.subarray(start, this.#end);
    this.#bytes = this.#spare ?? Buffer.allocUnsafeSlow(Math.max(FIRST_BYTES, this.#end));
    this.#spare = undefined;
    this.#end = HEADS;
    return {
      bytes,
      release: () => {
        this.#spare = memory;
      },
    };
  }
}
