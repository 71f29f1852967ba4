import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { AbstractTokenizer, EndOfStreamError, type IRandomAccessFileInfo, type IReadChunkOptions } from 'strtok3';

const BLOCK = 16 * 1024;
const KEPT = 2;

/**
 * A file as music-metadata reads it, by blocks and without waiting: a tag is hundreds of reads of a few bytes, and each would
 * otherwise be a call of the thread pool. For a thread of its own, because a read may take long.
 */
export class BlockFile extends AbstractTokenizer {
  declare fileInfo: IRandomAccessFileInfo;
  readonly #file: number;
  /** The first and the last part of the file are read in turn. */
  #blocks: { at: number; bytes: Buffer }[] = [];

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

  /** The bytes from `at`; fewer than `length` only at the end. */
  bytes(at: number, length: number): Buffer {
    const target = Buffer.allocUnsafe(length);
    return target.subarray(0, this.#fill(target, at));
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
    await super.closeOnce();
  }

  #fill(target: Uint8Array, from: number): number {
    if (target.length > BLOCK) return this.#read(target, from);
    let done = 0;
    while (done < target.length) {
      const at = from + done;
      const { at: begin, bytes } = this.#blockOf(at);
      const part = bytes.subarray(at - begin, at - begin + target.length - done);
      if (part.length === 0) break;
      target.set(part, done);
      done += part.length;
    }
    return done;
  }

  #blockOf(at: number): { at: number; bytes: Buffer } {
    const begin = at - (at % BLOCK);
    const kept = this.#blocks.find((block) => block.at === begin);
    if (kept) return kept;
    const bytes = Buffer.allocUnsafe(BLOCK);
    const block = { at: begin, bytes: bytes.subarray(0, this.#read(bytes, begin)) };
    this.#blocks = [block, ...this.#blocks.slice(0, KEPT - 1)];
    return block;
  }

  #read(target: Uint8Array, from: number): number {
    let done = 0;
    while (done < target.length) {
      const count = readSync(this.#file, target, done, target.length - done, from + done);
      if (count === 0) break;
      done += count;
    }
    return done;
  }
}
