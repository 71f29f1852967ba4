import { type Bytes, openBytes } from '#platform/media-bytes.ts';

const WINDOW = 64 * 1024;

/** Reads ranges of one file and keeps the last two windows, so that walking small elements costs few reads. */
export class ByteSource {
  readonly size: number;
  readonly #file: Bytes;
  readonly #window: number;
  readonly #windows: { at: number; bytes: Buffer }[] = [];
  #loaded = 0;

  private constructor(file: Bytes, window: number) {
    this.#file = file;
    this.#window = window;
    this.size = file.size;
  }

  /** `window` is the least that is read: small for callers that jump around. */
  static async open(path: string | Buffer, { window = WINDOW } = {}): Promise<ByteSource> {
    return new ByteSource(await openBytes(path), window);
  }

  /** Bytes that were read from the file. */
  get loaded(): number {
    return this.#loaded;
  }

  /** The bytes from `at`; fewer than `length` only at the end of the file. */
  async read(at: number, length: number): Promise<Buffer> {
    const known = this.#windows.find((w) => at >= w.at && at + length <= w.at + w.bytes.length);
    if (known) return known.bytes.subarray(at - known.at, at - known.at + length);
    const want = Math.max(0, Math.min(Math.max(length, this.#window), this.size - at));
    const bytes = await this.#file.read(at, want);
    this.#loaded += bytes.length;
    this.#windows.unshift({ at, bytes });
    this.#windows.length = Math.min(this.#windows.length, 2);
    return bytes.subarray(0, length);
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
