// Objects that arrive in parts: the multipart upload of S3, or a folder of parts in a directory that stands for it.
import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable, Transform, type TransformCallback } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client } from 'minio';
import type { Bucket } from './buckets.ts';
import { requireSpace, whileSpace } from './disk.ts';

/** An object that is not whole yet; `id` is what `beginParts` returned. */
export interface PartedObject {
  bucket: Bucket;
  key: string;
  id: string;
}

/** One part as its sender announces it. */
export interface Part {
  /** From 1. */
  number: number;
  size: number;
  /** Of its bytes, in hex. */
  sha256: string;
  body: Readable;
}

/** A part that the store acknowledged. */
export interface StoredPart {
  number: number;
  etag: string;
}

export interface ObjectParts {
  beginParts(bucket: Bucket, key: string): Promise<string>;
  /** Sends a part on as it arrives and returns its ETag. Throws `PartRefused` for other bytes than announced; the store then has no such part. */
  putPart(object: PartedObject, part: Part): Promise<string>;
  /** Makes the object of its parts. Repeating it after it succeeded changes nothing. */
  joinParts(object: PartedObject, parts: readonly StoredPart[]): Promise<void>;
  /** Forgets the parts; nothing happens when there are none. */
  dropParts(object: PartedObject): Promise<void>;
  /** Objects of a bucket that are not whole. */
  listParted(bucket: Bucket): AsyncIterable<PartedObject & { begunAt: Date }>;
}

/** The bytes of a part are not those that were announced. */
export class PartRefused extends Error {
  readonly fault: 'size' | 'sha256';
  constructor(fault: 'size' | 'sha256') {
    super(`the part has another ${fault}`);
    this.fault = fault;
  }
}

/** The store did not take a part whose bytes arrived; its error is the cause. */
export class StoreFailed extends Error {
  constructor(cause: unknown) {
    super((cause as Error).message, { cause });
  }
}

/** Read ahead of a slow receiver. */
const AHEAD_BYTES = 256 << 10;

/**
 * Passes bytes on, but holds the newest piece back until its successor is there and the last one until the hash of all is
 * right: a store that knows the length never gets a whole part of wrong bytes.
 */
export class Checked extends Transform {
  readonly #hash = createHash('sha256');
  readonly #announced: Pick<Part, 'size' | 'sha256'>;
  #size = 0;
  #held: Buffer | undefined;

  constructor(announced: Pick<Part, 'size' | 'sha256'>) {
    super({ highWaterMark: AHEAD_BYTES });
    this.#announced = announced;
  }

  override _transform(piece: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    this.#size += piece.length;
    const before = this.#held;
    this.#held = piece;
    this.#hash.update(piece);
    if (this.#size > this.#announced.size) done(new PartRefused('size'));
    else done(null, before);
  }

  override _flush(done: TransformCallback): void {
    if (this.#size !== this.#announced.size) done(new PartRefused('size'));
    else if (this.#hash.digest('hex') !== this.#announced.sha256) done(new PartRefused('sha256'));
    else done(null, this.#held);
  }
}

const PARTS = '.parts';
const NAME = /^[\w.-]+$/;

async function* piecesIn(folder: string, parts: readonly StoredPart[]): AsyncGenerator<Buffer> {
  for (const { number } of parts) yield* createReadStream(join(folder, String(number))) as AsyncIterable<Buffer>;
}

/** Parts below a directory that stands for an object store. */
export function directoryParts(root: string): ObjectParts {
  const folderOf = ({ bucket, id }: Pick<PartedObject, 'bucket' | 'id'>): string => {
    if (!NAME.test(id)) throw new Error('bad id of an object in parts');
    return join(root, PARTS, bucket, id);
  };
  return {
    async beginParts(bucket, key) {
      const id = `${Buffer.from(key).toString('base64url')}.${randomUUID()}`;
      await mkdir(folderOf({ bucket, id }), { recursive: true });
      return id;
    },
    async putPart(object, { number, size, sha256, body }) {
      const folder = folderOf(object);
      const draft = join(folder, `${randomUUID()}.draft`);
      await requireSpace(root, size);
      try {
        await pipeline(body, new Checked({ size, sha256 }), whileSpace(root), createWriteStream(draft));
        await rename(draft, join(folder, String(number)));
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      return sha256;
    },
    async joinParts(object, parts) {
      const folder = folderOf(object);
      const target = join(root, object.bucket, object.key);
      if (!(await stat(folder).catch(() => undefined))) {
        if (await stat(target).catch(() => undefined)) return;
        throw new Error('the parts are gone');
      }
      const draft = join(folder, 'whole.draft');
      await pipeline(Readable.from(piecesIn(folder, parts)), whileSpace(root), createWriteStream(draft));
      await mkdir(dirname(target), { recursive: true });
      await rename(draft, target);
      await rm(folder, { recursive: true, force: true });
    },
    dropParts: (object) => rm(folderOf(object), { recursive: true, force: true }),
    async *listParted(bucket) {
      const names = await readdir(join(root, PARTS, bucket)).catch(() => []);
      for (const id of names.filter((name) => NAME.test(name))) {
        const found = await stat(folderOf({ bucket, id })).catch(() => undefined);
        const key = Buffer.from(id.split('.')[0] ?? '', 'base64url').toString();
        if (found) yield { bucket, key, id, begunAt: found.birthtime };
      }
    },
  };
}

/** Parts in the buckets of a client that never repeats a request, because a stream is read once. */
export function bucketParts(client: Client, name: (bucket: string) => string, isTls: boolean): ObjectParts {
  return {
    beginParts: (bucket, key) => client.initiateNewMultipartUpload(name(bucket), key, {}),
    async putPart({ bucket, key, id }, { number, size, sha256, body }) {
      const checked = new Checked({ size, sha256 });
      let isSenderGone = false;
      body.once('error', () => {
        isSenderGone = !checked.destroyed; // a request that fails breaks the body too, after it
      });
      const read = pipeline(body, checked).catch((fault: unknown) => {
        throw fault instanceof PartRefused || isSenderGone ? fault : new StoreFailed(fault);
      });
      const request = {
        ...{ method: 'PUT', bucketName: name(bucket), objectName: key },
        query: new URLSearchParams({ partNumber: String(number), uploadId: id }).toString(),
        headers: { 'content-length': String(size) },
      };
      // The signature covers the announced hash, so that a store that is reached without TLS refuses other bytes too.
      const sent = client.makeRequestStreamAsync(request, checked, isTls ? '' : sha256, [200], '');
      const [outcome] = await Promise.all([
        sent.catch(async (error: unknown) => {
          checked.destroy();
          await read; // its fault says more
          throw isSenderGone ? error : new StoreFailed(error);
        }),
        read,
      ]);
      outcome.resume();
      return String(outcome.headers['etag'] ?? '').replaceAll('"', '');
    },
    async joinParts({ bucket, key, id }, parts) {
      try {
        const etags = parts.map(({ number, etag }) => ({ part: number, etag }));
        await client.completeMultipartUpload(name(bucket), key, id, etags);
      } catch (error) {
        if (!isGone(error) || !(await exists(client, name(bucket), key))) throw error;
      }
    },
    async dropParts({ bucket, key, id }) {
      await client.abortMultipartUpload(name(bucket), key, id).catch((error: unknown) => {
        if (!isGone(error)) throw error;
      });
    },
    async *listParted(bucket) {
      for await (const found of client.listIncompleteUploads(name(bucket), '', true))
        if (found.uploadId) yield { bucket, key: found.key, id: found.uploadId, begunAt: found.initiated };
    },
  };
}

const isGone = (error: unknown): boolean => (error as { code?: string }).code === 'NoSuchUpload';

async function exists(client: Client, bucket: string, key: string): Promise<boolean> {
  return client.statObject(bucket, key).then(
    () => true,
    () => false,
  );
}
