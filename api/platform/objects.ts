import { createHash, randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Client, ClientOptions } from 'minio';
import type { Bucket } from './buckets.ts';
import { DiskFull, requireSpace, saysFull, spaceOf, whileSpace } from './disk.ts';
import { bucketParts, directoryParts, type ObjectParts, PartRefused, StoreFailed } from './object-parts.ts';

export type { Bucket } from './buckets.ts';

export interface ObjectStat {
  size: number;
  etag: string;
  modifiedAt: Date;
}

export interface ListedObject {
  key: string;
  size: number;
  modifiedAt: Date;
}

/** S3, or a directory that behaves like it: an object appears whole or not at all. */
export interface Objects extends ObjectParts {
  /** Throws `DiskFull` when the store has no space for it. */
  put(bucket: Bucket, key: string, body: Buffer | string | Readable): Promise<void>;
  /** True while the store accepts no writes for lack of space, if it reports that in advance. */
  isFull(): Promise<boolean>;
  /** Bytes `start` to `end` inclusive. Throws `ObjectMissing`. */
  get(bucket: Bucket, key: string, range?: { start?: number; end?: number }): Promise<Readable>;
  stat(bucket: Bucket, key: string): Promise<ObjectStat | undefined>;
  /** Copies within the store. Throws `ObjectMissing`. */
  copy(from: { bucket: Bucket; key: string }, to: { bucket: Bucket; key: string }): Promise<void>;
  remove(bucket: Bucket, keys: string[]): Promise<void>;
  list(bucket: Bucket, prefix: string): AsyncIterable<ListedObject>;
  removePrefix(bucket: Bucket, prefix: string): Promise<void>;
  /** Creates missing buckets, with the store's own expiry rule where there is one. */
  prepare(buckets: readonly Bucket[]): Promise<void>;
}

export class ObjectMissing extends Error {}

/** The store cannot be reached, is full or fails; the original error is the cause. */
export class ObjectsUnavailable extends Error {}

/** `file:///dir` or `s3://access:secret@host:port/?region=…&prefix=…&tls=1`. */
export function connectObjects(url: string): Objects {
  const parsed = new URL(url);
  return withFaults(
    parsed.protocol === 'file:' ? directoryObjects(decodeURIComponent(parsed.pathname)) : s3Objects(parsed),
  );
}

/** Wraps errors of the store, so that they are not mistaken for those of another one. */
function withFaults(objects: Objects): Objects {
  const unavailable = (error: unknown): never => {
    throw error instanceof ObjectMissing || error instanceof DiskFull
      ? error
      : new ObjectsUnavailable((error as Error).message, { cause: error });
  };
  const full = (error: unknown): never => {
    throw saysFull(error) ? new DiskFull((error as Error).message, { cause: error }) : error;
  };
  return {
    ...objects,
    // The stream may have failed instead of the store: its error is not wrapped.
    put: (bucket, key, body) => {
      const written = objects.put(bucket, key, body);
      const refused = written.catch(full);
      if (body instanceof Readable) return refused;
      return refused.catch((error: unknown) =>
        error instanceof DiskFull ? Promise.reject(error) : unavailable(error),
      );
    },
    get: (bucket, key, range) => objects.get(bucket, key, range).catch(unavailable),
    stat: (bucket, key) => objects.stat(bucket, key).catch(unavailable),
    copy: (from, to) => objects.copy(from, to).catch(full).catch(unavailable),
    remove: (bucket, keys) => objects.remove(bucket, keys).catch(unavailable),
    beginParts: (bucket, key) => objects.beginParts(bucket, key).catch(unavailable),
    putPart: (object, part) =>
      objects.putPart(object, part).catch((error: unknown) => {
        const cause = error instanceof StoreFailed ? error.cause : error;
        if (error instanceof PartRefused || (part.body.errored && cause === error)) throw error;
        return saysFull(cause) ? full(cause) : unavailable(cause);
      }),
    joinParts: (object, parts) => objects.joinParts(object, parts).catch(unavailable),
    dropParts: (object) => objects.dropParts(object).catch(unavailable),
  };
}

/** Writes to a temporary file first, so that an object appears whole or not at all. */
async function putFile(root: string, target: string, body: Buffer | string | Readable): Promise<void> {
  const draft = join(root, '.drafts', randomUUID());
  await requireSpace(root, body instanceof Readable ? 0 : Buffer.byteLength(body));
  await mkdir(dirname(target), { recursive: true });
  await mkdir(dirname(draft), { recursive: true });
  try {
    if (body instanceof Readable) await pipeline(body, whileSpace(root), createWriteStream(draft));
    else await writeFile(draft, body);
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

function directoryObjects(root: string): Objects {
  const place = (bucket: string, key: string): string => {
    if (key.split('/').some((part) => part === '' || part === '.' || part === '..')) throw new Error('bad object key');
    return join(root, bucket, key);
  };
  const objects: Objects = {
    ...directoryParts(root),
    put: async (bucket, key, body) => putFile(root, place(bucket, key), body),
    isFull: () =>
      spaceOf(root).then(
        ({ state }) => state === 'full',
        () => false,
      ),
    async get(bucket, key, range = {}) {
      const target = place(bucket, key);
      const found = await stat(target).catch(() => undefined);
      if (!found?.isFile()) throw new ObjectMissing(key);
      // With its end known, a stream takes memory for the bytes alone and reads no further.
      const end = Math.min(range.end ?? Number.POSITIVE_INFINITY, found.size - 1);
      return createReadStream(target, { ...range, ...(end >= (range.start ?? 0) && { end }), highWaterMark: 1 << 20 });
    },
    async stat(bucket, key) {
      const found = await stat(place(bucket, key)).catch(() => undefined);
      if (!found?.isFile()) return undefined;
      const etag = createHash('sha1').update(`${found.size}-${found.mtimeMs}-${found.ino}`).digest('hex');
      return { size: found.size, etag, modifiedAt: found.mtime };
    },
    copy: async (from, to) => objects.put(to.bucket, to.key, await objects.get(from.bucket, from.key)),
    async remove(bucket, keys) {
      await Promise.all(keys.map((key) => rm(place(bucket, key), { force: true })));
    },
    list: (bucket, prefix) => listDirectory(join(root, bucket), prefix),
    async removePrefix(bucket, prefix) {
      if (prefix.endsWith('/')) return rm(place(bucket, prefix.slice(0, -1)), { recursive: true, force: true });
      for await (const { key } of objects.list(bucket, prefix)) await objects.remove(bucket, [key]);
    },
    async prepare(buckets) {
      await Promise.all(buckets.map((bucket) => mkdir(join(root, bucket), { recursive: true })));
    },
  };
  return objects;
}

async function* listDirectory(base: string, prefix: string): AsyncIterable<ListedObject> {
  const folder = prefix.includes('/') ? prefix.slice(0, prefix.lastIndexOf('/')) : '';
  const entries = await readdir(join(base, folder), { recursive: true, withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    const key = path.slice(base.length + 1);
    if (!key.startsWith(prefix)) continue;
    const found = await stat(path).catch(() => undefined);
    if (found) yield { key, size: found.size, modifiedAt: found.mtime };
  }
}

function s3Objects(url: URL): Objects {
  const tls = url.searchParams.get('tls') === '1';
  const prefixOf = url.searchParams.get('prefix') ?? '';
  const options: ClientOptions = {
    endPoint: url.hostname,
    port: Number(url.port || (tls ? 443 : 80)),
    useSSL: tls,
    accessKey: decodeURIComponent(url.username),
    secretKey: decodeURIComponent(url.password),
    region: url.searchParams.get('region') ?? 'us-east-1',
  };
  return objectsOf(options, (bucket) => prefixOf + bucket);
}

/** Loaded on first use, because it is large. */
export function bucketClient(options: ClientOptions): Client {
  const minio = createRequire(import.meta.url)('minio') as typeof import('minio');
  return new minio.Client(options);
}

/** The buckets of a store, by the names that `name` returns. */
export function objectsOf(options: ClientOptions, name: (bucket: string) => string): Objects {
  const client = bucketClient(options);
  const objects: Objects = {
    ...bucketParts(bucketClient({ ...options, retryOptions: { disableRetry: true } }), name, options.useSSL ?? true),
    async put(bucket, key, body) {
      if (body instanceof Readable) await spooled(body, (file) => client.fPutObject(name(bucket), key, file));
      else await client.putObject(name(bucket), key, typeof body === 'string' ? Buffer.from(body) : body);
    },
    get: (bucket, key, range = {}) => readS3(client, { bucket: name(bucket), key, range }),
    async stat(bucket, key) {
      try {
        const found = await client.statObject(name(bucket), key);
        return { size: found.size, etag: found.etag, modifiedAt: found.lastModified };
      } catch (error) {
        if (missing(error)) return undefined;
        throw error;
      }
    },
    isFull: async () => false,
    async copy(from, to) {
      try {
        await client.copyObject(name(to.bucket), to.key, `/${name(from.bucket)}/${encodeURI(from.key)}`);
      } catch (error) {
        throw missing(error) ? new ObjectMissing(from.key) : error;
      }
    },
    async remove(bucket, keys) {
      if (keys.length > 0) await client.removeObjects(name(bucket), keys);
    },
    async *list(bucket, prefix) {
      for await (const found of client.listObjectsV2(name(bucket), prefix, true)) {
        if (found.name) yield { key: found.name, size: found.size ?? 0, modifiedAt: found.lastModified ?? new Date(0) };
      }
    },
    async removePrefix(bucket, prefix) {
      const keys: string[] = [];
      for await (const { key } of objects.list(bucket, prefix)) keys.push(key);
      await objects.remove(bucket, keys);
    },
    async prepare(buckets) {
      for (const bucket of buckets) {
        if (!(await client.bucketExists(name(bucket)))) await client.makeBucket(name(bucket));
        await keepExpiry(client, name(bucket), EXPIRY[bucket]);
      }
    },
  };
  return objects;
}

/** What the store itself deletes after some days, because our sweeps have missed it. */
const EXPIRY: Partial<Record<Bucket, Expiry>> = {
  'foyer-transcode': { days: 1, prefix: '' },
  'foyer-live': { days: 2, prefix: 'segments/' },
};

interface Expiry {
  days: number;
  prefix: string;
}

/** Existing rules of a bucket belong to its admin; without permission to set rules, only our sweeps delete. */
async function keepExpiry(client: Client, bucket: string, expiry: Expiry | undefined): Promise<void> {
  if (!expiry) return;
  const { days, prefix } = expiry;
  try {
    await client.getBucketLifecycle(bucket);
  } catch (error) {
    if ((error as { code?: string }).code !== 'NoSuchLifecycleConfiguration') return;
    const rule = { ID: 'foyer-expiry', Status: 'Enabled', Filter: { Prefix: prefix }, Expiration: { Days: days } };
    await client.setBucketLifecycle(bucket, { Rule: [rule] }).catch(() => undefined);
  }
}

/**
 * Spools a stream of unknown length to a file: minio would buffer half a gigabyte of it and end the process when it
 * fails.
 */
async function spooled(body: Readable, send: (file: string) => Promise<unknown>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'foyer-put-'));
  try {
    await pipeline(body, whileSpace(folder), createWriteStream(join(folder, 'body')));
    await send(join(folder, 'body'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface S3Read {
  bucket: string;
  key: string;
  range: { start?: number; end?: number };
}

async function readS3(client: Client, { bucket, key, range }: S3Read): Promise<Readable> {
  const { start = 0, end } = range;
  try {
    if (start === 0 && end === undefined) return await client.getObject(bucket, key);
    const length = end === undefined ? 0 : end - start + 1; // 0 means to the end
    return await client.getPartialObject(bucket, key, start, length);
  } catch (error) {
    throw missing(error) ? new ObjectMissing(key) : error;
  }
}

function missing(error: unknown): boolean {
  return ['NoSuchKey', 'NotFound'].includes((error as { code?: string }).code ?? '');
}
