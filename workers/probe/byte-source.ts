import { type FileHandle, open } from 'node:fs/promises';

const WINDOW = 64 * 1024;

/** Reads ranges of one file and keeps the last two windows, so that walking small elements costs few reads. */
export class ByteSource {
  readonly size: number;
  readonly #file: FileHandle;
  readonly #window: number;
  readonly #windows: { at: number; bytes: Buffer }[] = [];
  #loaded = 0;

  private constructor(file: FileHandle, { size, window }: { size: number; window: number }) {
    this.#file = file;
    this.#window = window;
    this.size = size;
  }

  /** `window` is the least that is read: small for callers that jump around. */
  static async open(path: string | Buffer, { window = WINDOW } = {}): Promise<ByteSource> {
    const file = await open(path, 'r');
    try {
      return new ByteSource(file, { size: (await file.stat()).size, window });
    } catch (error) {
      await file.close();
      throw error;
    }
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
    const bytes = Buffer.allocUnsafe(want);
    const got = await this.#fill(bytes, at);
    this.#loaded += got;
    this.#windows.unshift({ at, bytes: bytes.subarray(0, got) });
    this.#windows.length = Math.min(this.#windows.length, 2);
    return bytes.subarray(0, Math.min(length, got));
  }

  async #fill(bytes: Buffer, at: number): Promise<number> {
    let got = 0;
    while (got < bytes.length) {
      const { bytesRead } = await this.#file.read(bytes, got, bytes.length - got, at + got);
      if (bytesRead === 0) break;
      got += bytesRead;
    }
    return got;
  }

  async close(): Promise<void> {
    await this.#file.close();
  }
}
