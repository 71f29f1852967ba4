import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pack } from 'tar-stream';
import type { Destination } from '#platform/backup/destination.ts';
import { sealedBytes } from '#platform/backup/sealing.ts';
import { type BackupManifest, manifestName, objectName, partName } from '#platform/backup-manifest.ts';

const BLOCK = 512;
const padded = (bytes: number): number => Math.ceil(bytes / BLOCK) * BLOCK;

interface Entry {
  name: string;
  bytes: number;
}

/** A file of the archive: header, content and padding to a whole block. */
interface Placed extends Entry {
  at: number;
}

export interface Archive {
  bytes: number;
  read(range: { start: number; end: number }): Readable;
}

/** The backup as one tar. The manifest determines order and lengths, so any range can be produced again. */
export function archiveOf(destination: Destination, manifest: BackupManifest, manifestBytes: number): Archive {
  const placed: Placed[] = [];
  let at = 0;
  for (const entry of entriesOf(manifest, manifestBytes)) {
    placed.push({ ...entry, at });
    at += BLOCK + padded(entry.bytes);
  }
  const mtime = new Date(manifest.finishedAt);
  return {
    bytes: at + 2 * BLOCK,
    read: (range) => Readable.from(bytesIn({ destination, placed, mtime, end: at }, range), { objectMode: false }),
  };
}

function entriesOf(manifest: BackupManifest, manifestBytes: number): Entry[] {
  const { id, encryption } = manifest;
  const parts = manifest.tables.flatMap((table) =>
    table.parts.map((part) => ({ name: partName(id, part), bytes: part.storedBytes })),
  );
  const objects = new Map(
    manifest.objects.map((object) => [
      objectName(object, encryption),
      encryption ? sealedBytes(object.bytes) : object.bytes,
    ]),
  );
  const named = [...objects].map(([name, bytes]) => ({ name, bytes })).sort((a, b) => (a.name < b.name ? -1 : 1));
  return [...parts, ...named, { name: manifestName(id), bytes: manifestBytes }];
}

interface Source {
  destination: Destination;
  placed: readonly Placed[];
  mtime: Date;
  /** Where the files end and the two empty blocks begin. */
  end: number;
}

async function* bytesIn(source: Source, { start, end }: { start: number; end: number }): AsyncGenerator<Buffer> {
  for (const entry of source.placed) {
    if (entry.at + BLOCK + padded(entry.bytes) <= start) continue;
    if (entry.at > end) return;
    yield* cut(await headOf(entry, source.mtime), entry.at, { start, end });
    yield* content(source, entry, { start, end });
  }
  yield* cut(Buffer.alloc(2 * BLOCK), source.end, { start, end });
}

/** The part of `bytes`, which start at `at`, that lies in the range. */
function* cut(bytes: Buffer, at: number, { start, end }: { start: number; end: number }): Generator<Buffer> {
  const piece = bytes.subarray(Math.max(0, start - at), Math.max(0, end + 1 - at));
  if (piece.length > 0) yield piece;
}

async function* content(
  { destination }: Source,
  { name, bytes, at }: Placed,
  range: { start: number; end: number },
): AsyncGenerator<Buffer> {
  const body = at + BLOCK;
  const start = Math.max(0, range.start - body);
  const end = Math.min(bytes - 1, range.end - body);
  if (start <= end) {
    let left = end - start + 1;
    for await (const chunk of (await destination.read(name, { start, end })) as AsyncIterable<Buffer>) {
      left -= chunk.length;
      yield chunk;
    }
    if (left !== 0) throw new Error(`${name} is not as long as the manifest says`);
  }
  yield* cut(Buffer.alloc(padded(bytes) - bytes), body + bytes, range);
}

async function headOf({ name, bytes }: Entry, mtime: Date): Promise<Buffer> {
  const tar = pack();
  tar.entry({ name, size: bytes, mtime, mode: 0o644, type: 'file' }).on('error', () => undefined);
  await once(tar, 'readable');
  const head = tar.read() as Buffer;
  tar.destroy();
  return head;
}
