import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { AbstractTokenizer, EndOfStreamError, type IRandomAccessFileInfo, type IReadChunkOptions } from 'strtok3';

const LARGEST = 64 * 1024;
const BLOCK = 16 * 1024;

/** Bytes of a file that are kept. */
interface Kept {
  at: number;
  bytes: Buffer;
  buffer: Buffer;
}

/** Buffers of closed files: a new one for each file would let V8 collect garbage after each few hundred files. */
const spare: Buffer[] = [];

/**
 * A file as music-metadata reads it, by blocks and without waiting: a tag is hundreds of reads of a few bytes, and each would
 * otherwise be a call of the thread pool. For a thread of its own, because a read may take long.
 */
export class BlockFile extends AbstractTokenizer {
  declare fileInfo: IRandomAccessFileInfo;
  readonly #file: number;
  /** The head of the file stays, since the parser returns to it; the other block is the last that was read. */
  #head: Kept | undefined;
  #other: Kept | undefined;

  /** Throws errors of the file system. */
  constructor(path: string) {
    super();
    this.#file = openSync(path, 'r');
    try {
      this.fileInfo = { path, size: fstatSync(this.#file).size };
    } catch (error) {
      closeSync(this.#file);
      throw error;
    }
  }

  get size(): number {
    return this.fileInfo.size;
  }

  /** Up to 64 KiB from `at`, fewer only at the end. They are good until the next read. */
  block(at: number, length: number): Buffer {
    const kept = this.#keptAt(at);
    const end = Math.min(at + length, this.size);
    const found = kept && kept.at + kept.bytes.length >= end ? kept : this.#load(at, length);
    return found.bytes.subarray(at - found.at, at - found.at + length);
  }

  override async readBuffer(target: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    const { position, length, mayBeLess } = this.normalizeOptions(target, options);
    const count = this.#fill(target.subarray(0, length), position);
    this.position = position + count;
    if (count < length && !mayBeLess) throw new EndOfStreamError();
    return count;
  }

  override async peekBuffer(target: Uint8Array, options?: IReadChunkOptions): Promise<number> {
    const { position, length, mayBeLess } = this.normalizeOptions(target, options);
    const count = this.#fill(target.subarray(0, length), position);
    if (count < length && !mayBeLess) throw new EndOfStreamError();
    return count;
  }

  setPosition(position: number): void {
    this.position = position;
  }

  override supportsRandomAccess(): boolean {
    return true;
  }

  override async closeOnce(): Promise<void> {
    closeSync(this.#file);
    for (const kept of [this.#head, this.#other]) if (kept && spare.length < 4) spare.push(kept.buffer);
    [this.#head, this.#other] = [undefined, undefined];
    await super.closeOnce();
  }

  #fill(target: Uint8Array, from: number): number {
    if (target.length > BLOCK) return this.#read(target, from);
    let done = 0;
    while (done < target.length) {
      const at = from + done;
      const { at: begin, bytes } = this.#keptAt(at) ?? this.#load(at - (at % BLOCK), BLOCK);
      const part = bytes.subarray(at - begin, at - begin + target.length - done);
      if (part.length === 0) break;
      target.set(part, done);
      done += part.length;
    }
    return done;
  }

  #keptAt(at: number): Kept | undefined {
    return [this.#head, this.#other].find((kept) => kept && at >= kept.at && at < kept.at + kept.bytes.length);
  }

  #load(at: number, length: number): Kept {
    const buffer = (at === 0 ? this.#head : this.#other)?.buffer ?? spare.pop() ?? Buffer.allocUnsafeSlow(LARGEST);
    this.#keep(at, undefined); // a read that fails leaves foreign bytes in the buffer
    const count = this.#read(buffer.subarray(0, length), at);
    const kept = { at, buffer, bytes: buffer.subarray(0, count) };
    this.#keep(at, kept);
    return kept;
  }

  #keep(at: number, kept: Kept | undefined): void {
    if (at === 0) this.#head = kept;
    else this.#other = kept;
  }

  /** Reads to the size that the file had, so that its end costs no read of its own. */
  #read(target: Uint8Array, from: number): number {
    const length = Math.max(0, Math.min(target.length, this.size - from));
    let done = 0;
    while (done < length) {
      const count = readSync(this.#file, target, done, length - done, from + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  }
}
