const MOST_BYTES = 256 << 20;
/** Larger ones would displace many small ones. */
const MOST_OF_ONE = 8 << 20;

/** Bytes by key, at most 256 MiB in a process; the longest unused are dropped first. */
export class PictureMemory {
  readonly #held = new Map<string, Buffer>();
  readonly #most: number;
  #bytes = 0;

  constructor(most = MOST_BYTES) {
    this.#most = most;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): Buffer | undefined {
    const found = this.#held.get(key);
    if (found) {
      this.#held.delete(key);
      this.#held.set(key, found);
    }
    return found;
  }

  put(key: string, bytes: Buffer): void {
    if (bytes.length > MOST_OF_ONE) return;
    this.#drop(key);
    this.#held.set(key, bytes);
    this.#bytes += bytes.length;
    for (const [oldest] of this.#held) {
      if (this.#bytes <= this.#most) return;
      this.#drop(oldest);
    }
  }

  #drop(key: string): void {
    this.#bytes -= this.#held.get(key)?.length ?? 0;
    this.#held.delete(key);
  }
}
