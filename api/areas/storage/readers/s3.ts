import type { Client } from 'minio';
import { bucketClient } from '#platform/objects.ts';
import type { S3Settings } from '../kinds/settings.ts';
import type { StorageReason } from '../storages.schemas.ts';
import { agentOf, judgeOf, networkFault, type Reach } from './addresses.ts';
import {
  Absent,
  joined,
  type Listed,
  type Listing,
  Occupied,
  type Options,
  StorageFault,
  type StorageReader,
  Unsent,
} from './reader.ts';
import { dropParts, placeObject } from './s3-place.ts';

const SILENT_MS = 30_000;

interface Place {
  client: Client;
  bucket: string;
  key: (path: string) => string;
}

/** A bucket, or a prefix of one. */
export function s3Reader(reach: Reach, settings: S3Settings, secrets: Record<string, string>): StorageReader {
  const url = new URL(settings.endpoint);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const tls = url.protocol === 'https:';
  const agent = agentOf(judgeOf(reach, host), { tls, silentMs: SILENT_MS });
  const client = bucketClient({
    endPoint: host,
    port: Number(url.port || (tls ? 443 : 80)),
    useSSL: tls,
    accessKey: settings.accessKeyId,
    secretKey: secrets['secretAccessKey'] ?? '',
    region: settings.region,
    pathStyle: settings.pathStyle,
    transportAgent: agent,
    retryOptions: { disableRetry: true },
  });
  const place = { client, bucket: settings.bucket, key: (path: string) => joined(settings.prefix, path) };
  return { ...readsOf(place), ...writesOf(place), space: async () => undefined, close: async () => agent.destroy() };
}

function readsOf(place: Place): Pick<StorageReader, 'list' | 'stat' | 'read'> {
  return {
    list: (path, { most }) => listOf(place, path, most),
    stat: (path) => statOf(place, path),
    read: (path, range, options) => readOf(place, path, { ...range, ...options }),
  };
}

async function listOf({ client, bucket, key }: Place, path: string, most: number): Promise<Listing> {
  const prefix = folderOf(key(path));
  const entries: Listed[] = [];
  let marked = false;
  const found = client.listObjectsV2(bucket, prefix, false);
  try {
    for await (const one of found as AsyncIterable<Item>) {
      if (entries.length >= most) return { entries, cut: true };
      marked ||= one.name === prefix;
      const entry = entryOf(prefix, one);
      if (entry) entries.push(entry);
    }
  } catch (error) {
    throw faultOf(error);
  } finally {
    found.destroy();
  }
  if (entries.length === 0 && !marked && path !== '') throw new Absent('no such folder');
  return { entries, cut: false };
}

async function statOf({ client, bucket, key }: Place, path: string): Promise<Listed | undefined> {
  if (path === '') return folder('');
  try {
    const found = await client.statObject(bucket, key(path));
    const modifiedMs = found.lastModified.getTime();
    return { name: nameOf(path), kind: 'file', size: found.size, modifiedMs, readable: true };
  } catch (error) {
    if (!isAbsent(error)) throw faultOf(error);
  }
  const below = await firstOf(client.listObjectsV2(bucket, folderOf(key(path)), false)).catch((error: unknown) => {
    throw faultOf(error);
  });
  return below ? folder(nameOf(path)) : undefined;
}

interface Range extends Options {
  start: number;
  length: number;
}

async function readOf({ client, bucket, key }: Place, path: string, { start, length, signal }: Range): Promise<Buffer> {
  if (length === 0) return Buffer.alloc(0);
  try {
    const stream = await client.getPartialObject(bucket, key(path), start, length);
    signal?.addEventListener('abort', () => stream.destroy(), { once: true });
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk);
      size += chunk.length;
      if (size >= length) break;
    }
    return Buffer.concat(chunks).subarray(0, length);
  } catch (error) {
    if (codeOf(error) === 'InvalidRange') return Buffer.alloc(0);
    throw isAbsent(error) ? new Absent('no such file') : faultOf(error);
  }
}

function writesOf({ client, bucket, key }: Place): Pick<StorageReader, 'write' | 'place' | 'dropParts' | 'remove'> {
  return {
    async place(path, file, options) {
      const target = { client, bucketName: bucket, objectName: key(path) };
      await placeObject(target, { ...file, ...options }).catch((error: unknown) => {
        throw error instanceof Occupied || error instanceof Unsent ? error : faultOf(error);
      });
    },
    async dropParts(path, id) {
      await dropParts({ client, bucketName: bucket, objectName: key(path) }, id).catch((error: unknown) => {
        throw faultOf(error);
      });
    },
    async write(path, content, { replace = false } = {}) {
      try {
        if (!replace && (await isThere(client, bucket, key(path)))) throw new Occupied('an object is there already');
        await client.putObject(bucket, key(path), content);
      } catch (error) {
        throw error instanceof Occupied ? error : faultOf(error);
      }
    },
    remove: (path) =>
      client.removeObject(bucket, key(path)).catch((error: unknown) => {
        throw faultOf(error);
      }),
  };
}

async function isThere(client: Client, bucket: string, key: string): Promise<boolean> {
  return client.statObject(bucket, key).then(
    () => true,
    (error: unknown) => {
      if (isAbsent(error)) return false;
      throw error;
    },
  );
}

async function firstOf(stream: AsyncIterable<unknown> & { destroy: () => void }): Promise<boolean> {
  for await (const _one of stream) return true;
  return false;
}

const folderOf = (key: string): string => (key === '' ? '' : `${key}/`);
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1);
const folder = (name: string): Listed => ({ name, kind: 'directory', size: 0, modifiedMs: 0, readable: true });

interface Item {
  name?: string;
  prefix?: string;
  size?: number;
  lastModified?: Date;
}

const NO_NAME = new Set(['', '.', '..']);

/** An object whose name ends with a slash marks a folder and is no entry of its own. */
function entryOf(prefix: string, { name: key, prefix: below, size = 0, lastModified }: Item): Listed | undefined {
  const name = (below ?? key ?? '').slice(prefix.length).replace(/\/$/, '');
  if (NO_NAME.has(name) || name.includes('/')) return undefined;
  if (below !== undefined) return folder(name);
  return { name, kind: 'file', size, modifiedMs: lastModified?.getTime() ?? 0, readable: true };
}

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');
const isAbsent = (error: unknown): boolean => ['NotFound', 'NoSuchKey'].includes(codeOf(error));

const REASONS: Record<string, StorageReason> = {
  NoSuchBucket: 'bucket-missing',
  InvalidAccessKeyId: 'authentication-failed',
  SignatureDoesNotMatch: 'authentication-failed',
  AccessDenied: 'permission-denied',
  XMinioStorageFull: 'full',
};

function faultOf(error: unknown): unknown {
  if (error instanceof StorageFault) return error;
  const network = networkFault(error);
  if (network) return network;
  const code = codeOf(error);
  const reason = REASONS[code] ?? 'host-unreachable';
  const stage = reason === 'authentication-failed' ? ({ stage: 'authenticate' } as const) : {};
  return new StorageFault(reason, `the bucket answers ${code || 'with an error'}`, stage);
}
