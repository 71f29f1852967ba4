// Reads media by what `openMedia` of Storage returns: a path, or the address of a range reader in this process.
import { createReadStream, createWriteStream, type ReadStream } from 'node:fs';
import { lstat, mkdtemp, open, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { ReadableStream } from 'node:stream/web';
import { boundedReads } from './bounded-reads.ts';

/** The address of every range reader of a process: only its own children reach it. */
export const RANGE_HOST = '127.0.0.1';

/** Whether it is an address of a range reader instead of a path. */
export const isAddress = (place: string): boolean => place.startsWith(`http://${RANGE_HOST}:`);

/** An open file that is read at any offset. */
export interface Bytes {
  size: number;
  /** Fewer bytes than `length` only at the end. */
  read(at: number, length: number): Promise<Buffer>;
  close(): Promise<void>;
}

const fault = (code: string): Error => Object.assign(new Error(code), { code });

/** Throws errors with a code, as the file system does. */
export async function openBytes(place: string | Buffer): Promise<Bytes> {
  if (typeof place === 'string' && isAddress(place)) return openAddress(place);
  const file = await open(place, 'r');
  try {
    const { size } = await file.stat();
    return {
      size,
      read: async (at, length) => {
        const bytes = Buffer.allocUnsafe(length);
        let got = 0;
        while (got < length) {
          const { bytesRead } = await file.read(bytes, got, length - got, at + got);
          if (bytesRead === 0) break;
          got += bytesRead;
        }
        return bytes.subarray(0, got);
      },
      close: () => file.close(),
    };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openAddress(address: string): Promise<Bytes> {
  const { size } = await statMedia(address);
  return {
    size,
    read: async (at, length) => {
      const end = Math.min(at + length, size) - 1;
      return at > end ? Buffer.alloc(0) : ranged(address, { start: at, end });
    },
    close: async () => undefined,
  };
}

async function ranged(address: string, { start, end }: { start: number; end: number }): Promise<Buffer> {
  const response = await fetch(address, { headers: { range: `bytes=${start}-${end}` } }).catch(() => undefined);
  if (response?.status !== 206) throw fault('EIO');
  return Buffer.from(
    await response.arrayBuffer().catch(() => {
      throw fault('EIO');
    }),
  );
}

export interface MediaStat {
  size: number;
  mtimeMs: number;
}

/** Throws ENOENT for an address that is not served. With `link` a link is described itself. */
export async function statMedia(place: string, { link = false } = {}): Promise<MediaStat & { isLink: boolean }> {
  if (!isAddress(place)) {
    const found = await (link ? lstat(place) : stat(place));
    return { size: found.size, mtimeMs: found.mtimeMs, isLink: found.isSymbolicLink() };
  }
  const response = await fetch(place, { method: 'HEAD' }).catch(() => undefined);
  if (!response?.ok) throw fault('ENOENT');
  const { headers } = response;
  return {
    size: Number(headers.get('content-length')),
    mtimeMs: Number(headers.get('x-modified-ms')),
    isLink: false,
  };
}

/** The whole file, which the caller knows to be small. */
export async function readMedia(place: string): Promise<Buffer> {
  if (!isAddress(place)) return readFile(place);
  const { size } = await statMedia(place);
  return size === 0 ? Buffer.alloc(0) : ranged(place, { start: 0, end: size - 1 });
}

interface Part {
  start?: number;
  end?: number;
  /** The library folder of the file: one whose mount hangs does not take all threads. */
  folderId?: string;
}

/** The bytes from `start` to `end`, both included; the whole file without them. */
export function streamMedia(place: string, { folderId, ...range }: Part = {}): ReadStream | Readable {
  const fs = folderId !== undefined && { fs: boundedReads(folderId) };
  if (!isAddress(place)) return createReadStream(place, { ...range, highWaterMark: 1 << 20, ...fs });
  return Readable.from(chunksOf(place, range), { objectMode: false });
}

async function* chunksOf(
  address: string,
  { start, end }: { start?: number; end?: number },
): AsyncGenerator<Uint8Array> {
  const headers = start === undefined && end === undefined ? {} : { range: `bytes=${start ?? 0}-${end ?? ''}` };
  const response = await fetch(address, { headers });
  if (!response.ok || !response.body) throw fault('EIO');
  yield* Readable.fromWeb(response.body as ReadableStream) as AsyncIterable<Uint8Array>;
}

/** A path or an address as ffmpeg takes it. */
export const ffmpegInput = (place: string): string => (isAddress(place) ? place : `file:${place}`);

/** The protocols that ffmpeg needs to read it, and no others. */
export const ffmpegProtocols = (place: string): string => (isAddress(place) ? 'http,tcp' : 'file,pipe');

/** Largest file of which a copy is made. */
const COPY_BYTES = 1 << 30;

/** A path for programs that read no addresses: the file itself, or a copy that is removed afterwards. */
export async function withLocal<T>(place: string, work: (path: string) => Promise<T>): Promise<T> {
  if (!isAddress(place)) return work(place);
  if ((await statMedia(place)).size > COPY_BYTES) throw fault('EFBIG');
  const folder = await mkdtemp(join(tmpdir(), 'foyer-media-'));
  try {
    const copy = join(folder, basename(place));
    await pipeline(streamMedia(place), createWriteStream(copy));
    return await work(copy);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
