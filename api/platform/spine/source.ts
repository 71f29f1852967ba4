// Where the bytes of a pack come from.
import { constants, open } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { Objects } from '../objects.ts';
import type { Outbound, OutboundOptions } from '../outbound.ts';
import type { Ranges } from './pack.ts';

/** Bytes of a piece in which a pack lies in the object store; the last one is shorter. */
export const PIECE_BYTES = 8 * 2 ** 20;
const BUCKET = 'foyer-spine';

export const pieceKey = (id: string, number: number): string => `${id}/${String(number).padStart(5, '0')}`;

/** A pack in pieces. */
export function piecesOf(objects: Objects, id: string): Ranges {
  return async (start, end) => {
    const parts: Buffer[] = [];
    for (let at = start; at < end; ) {
      const number = Math.floor(at / PIECE_BYTES);
      const [first, last] = [at - number * PIECE_BYTES, Math.min(end - number * PIECE_BYTES, PIECE_BYTES) - 1];
      const found = await objects.stat(BUCKET, pieceKey(id, number));
      if (!found || found.size <= first) break;
      const part = await buffer(
        await objects.get(BUCKET, pieceKey(id, number), { start: first, end: Math.min(last, found.size - 1) }),
      );
      parts.push(part);
      at += part.length;
      if (part.length < last - first + 1) break;
    }
    return Buffer.concat(parts);
  };
}

export const putPiece = async (
  objects: Objects,
  { id, number }: { id: string; number: number },
  bytes: Buffer,
): Promise<void> => objects.put(BUCKET, pieceKey(id, number), bytes);

export const hasPiece = async (objects: Objects, id: string, number: number): Promise<boolean> =>
  (await objects.stat(BUCKET, pieceKey(id, number))) !== undefined;

export const dropPieces = async (objects: Objects, id: string): Promise<void> => objects.removePrefix(BUCKET, `${id}/`);

const KEPT_MS = 24 * 3_600_000;

/** Removes pieces of uploads and fetches that no import took, after a day. */
export async function dropOldPieces(objects: Objects, kept: string | undefined): Promise<void> {
  const old: string[] = [];
  for await (const { key, modifiedAt } of objects.list(BUCKET, ''))
    if (key.split('/')[0] !== kept && modifiedAt.getTime() < Date.now() - KEPT_MS) old.push(key);
  await objects.remove(BUCKET, old);
}

/** The path is no file that can be read; with `storageFailed` its storage does not answer. */
export class FileUnreadable extends Error {
  readonly storageFailed: boolean;
  constructor(message: string, storageFailed: boolean) {
    super(message);
    this.storageFailed = storageFailed;
  }
}

/** Errors that come from the path itself. */
const OF_PATH = new Set(['ENOENT', 'ENOTDIR', 'EISDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG', 'ENXIO', 'EINVAL']);

function unreadable(error: unknown): unknown {
  const { code } = error as { code?: string };
  return code === undefined ? error : new FileUnreadable(`reading the file ended with ${code}`, !OF_PATH.has(code));
}

/** A file of this machine. Throws `FileUnreadable`. */
export const fileRanges = (path: string): Ranges => {
  const read = rangesOf(path);
  return async (start, end) =>
    read(start, end).catch((error: unknown) => {
      throw unreadable(error);
    });
};

const rangesOf =
  (path: string): Ranges =>
  async (start, end) => {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK); // a pipe would wait for its writer
    try {
      if (!(await file.stat()).isFile()) throw new FileUnreadable('the path is no file', false);
      const { bytesRead, buffer: bytes } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
      return bytes.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  };

/** The address does not serve the pack. */
export class SourceUnavailable extends Error {}

/** A pack at an address, by requests for ranges. Throws `SourceUnavailable` and `OutboundRefused`. */
export function addressRanges(outbound: Outbound, url: string, options: OutboundOptions): Ranges {
  return async (start, end) => {
    const answer = await outbound(url, {
      ...options,
      headers: { range: `bytes=${start}-${end - 1}` },
      maxBytes: end - start,
    });
    if (answer.status !== 206) throw new SourceUnavailable(`the address answers ${answer.status} to a range`);
    return answer.body;
  };
}
