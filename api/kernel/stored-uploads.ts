// Files of forms that are too large for memory: they go to the object store in pieces as they arrive.
import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import { z } from 'zod';
import { newId } from '#platform/ids.ts';
import type { Bucket, Objects } from '#platform/objects.ts';

/** A file part that is kept in pieces of `pieceBytes`, the last one shorter. */
export interface StoredPart {
  bucket: Bucket;
  pieceBytes: number;
  /** Of the keys, before the id; absent is none. */
  folder?: string;
  /** Key of a piece. */
  keyOf: (id: string, number: number) => string;
}

/** A file in the object store. The handler of the request removes it. */
export class StoredUpload {
  readonly id: string;
  readonly size: number;
  readonly #sha256: string;
  constructor(id: string, size: number, sha256: string) {
    this.id = id;
    this.size = size;
    this.#sha256 = sha256;
  }
  /** The hash of the content, for the comparison by Idempotency-Key. */
  toJSON(): object {
    return { sha256: this.#sha256 };
  }
}

/** Schema of a member that is such a file. */
export const stored = z.instanceof(StoredUpload, { error: 'a file, as a part of multipart/form-data' });

/** The files of one form that go to the object store. */
export class StoredParts {
  readonly #objects: Objects;
  readonly #streams: Readable[] = [];
  readonly #work: Promise<void>[] = [];
  readonly #kept: { bucket: Bucket; prefix: string }[] = [];

  constructor(objects: Objects) {
    this.#objects = objects;
  }

  /** Begins to keep a file. `done` gets undefined for one of more than `most` bytes. */
  add(
    stream: Readable,
    { part, most }: { part: StoredPart; most: number },
    done: (upload: StoredUpload | undefined) => void,
  ): void {
    const id = newId();
    this.#streams.push(stream);
    this.#kept.push({ bucket: part.bucket, prefix: `${part.folder ?? ''}${id}/` });
    this.#work.push(storePieces(this.#objects, stream, { part, most, id }).then(done));
  }

  /** After the last byte of the form. With an error nothing is kept. */
  async settle(error: Error | undefined): Promise<void> {
    if (error) for (const stream of this.#streams) stream.destroy(error);
    const ends = await Promise.allSettled(this.#work);
    const failed = ends.find((end) => end.status === 'rejected');
    if (failed && !error) throw failed.reason;
  }

  async drop(): Promise<void> {
    for (const { bucket, prefix } of this.#kept) await this.#objects.removePrefix(bucket, prefix);
  }
}

interface Storing {
  part: StoredPart;
  most: number;
  id: string;
}

async function storePieces(
  objects: Objects,
  stream: Readable,
  { part, most, id }: Storing,
): Promise<StoredUpload | undefined> {
  const hash = createHash('sha256');
  let size = 0;
  const kept = async function* (): AsyncGenerator<Buffer> {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size <= most) yield chunk;
    }
  };
  let number = 0;
  for await (const piece of piecesOf(kept(), part.pieceBytes)) {
    hash.update(piece);
    await objects.put(part.bucket, part.keyOf(id, number), piece);
    number += 1;
  }
  return size <= most ? new StoredUpload(id, size, hash.digest('hex')) : undefined;
}

/** The same bytes in pieces of one length, the last one shorter. */
async function* piecesOf(chunks: AsyncIterable<Buffer>, length: number): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let rest = chunk;
    while (bytes + rest.length >= length) {
      yield Buffer.concat([...held, rest.subarray(0, length - bytes)]);
      rest = rest.subarray(length - bytes);
      held = [];
      bytes = 0;
    }
    held.push(rest);
    bytes += rest.length;
  }
  if (bytes > 0) yield Buffer.concat(held);
}
