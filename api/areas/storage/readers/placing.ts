// Files that a storage gets whole: through a draft in the same folder, which is read back and then renamed.
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { BLOCK_BYTES, joined, type NewFile, type Placing, type StorageReader, Unsent } from './reader.ts';

/** The calls of a kind of storage that can rename. */
export interface DraftWays extends Pick<StorageReader, 'stat' | 'read' | 'remove'> {
  makeFolder(path: string): Promise<void>;
  /** Writes a file and replaces one that is there. */
  put(path: string, body: Readable, file: NewFile & Placing): Promise<void>;
  /** Throws `Occupied` instead of replacing a file. */
  move(from: string, to: string): Promise<void>;
}

export async function placeByDraft(ways: DraftWays, path: string, given: NewFile & Placing): Promise<void> {
  const directory = parentOf(path);
  const draft = joined(directory, given.draftName);
  await makeFolders(ways, directory);
  try {
    await sent(given, (body) => ways.put(draft, body, given));
    await requireSame(ways, draft, given);
    given.signal?.throwIfAborted();
    await appearing(given);
    await ways.move(draft, path);
  } catch (error) {
    await ways.remove(draft).catch(() => undefined);
    throw error;
  }
}

export const parentOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

async function makeFolders(ways: DraftWays, directory: string): Promise<void> {
  const missing: string[] = [];
  for (let at = directory; at !== '' && !(await ways.stat(at)); at = parentOf(at)) missing.unshift(at);
  for (const path of missing)
    await ways.makeFolder(path).catch(async (error: unknown) => {
      if ((await ways.stat(path))?.kind !== 'directory') throw error; // another process made it
    });
}

/** Throws `Unsent` when the file is not to appear. */
export async function appearing({ appears }: NewFile): Promise<void> {
  await appears?.().catch((error: unknown) => {
    throw new Unsent('the file is not wanted any more', { cause: error });
  });
}

/** Runs `send` with the body of the file. Throws `Unsent` when the body breaks. */
export async function sent<T>(file: NewFile & Placing, send: (body: Readable) => Promise<T>): Promise<T> {
  const source = await file.open();
  const broken: unknown[] = [];
  const body = Readable.from(piecesOf(source, file, broken), { objectMode: false });
  try {
    return await send(body);
  } catch (error) {
    throw broken.length > 0 ? new Unsent('the file cannot be read', { cause: broken[0] }) : error;
  } finally {
    body.destroy();
    source.destroy();
  }
}

async function* piecesOf(source: Readable, { moved }: Placing, broken: unknown[]): AsyncGenerator<Buffer> {
  const pieces = (source as AsyncIterable<Buffer>)[Symbol.asyncIterator]();
  for (;;) {
    const next = await pieces.next().catch((error: unknown) => {
      broken.push(error);
      throw error;
    });
    if (next.done) return;
    moved?.();
    yield next.value;
  }
}

async function requireSame(ways: DraftWays, draft: string, { size, sha256, ...way }: NewFile & Placing): Promise<void> {
  if ((await ways.stat(draft))?.size !== size) throw new Unsent('the storage holds another size than was sent');
  const hash = createHash('sha256');
  for (let at = 0; at < size; ) {
    way.signal?.throwIfAborted();
    const block = await ways.read(draft, { start: at, length: Math.min(BLOCK_BYTES, size - at) }, way);
    if (block.length === 0) break;
    hash.update(block);
    at += block.length;
    way.moved?.();
  }
  if (hash.digest('hex') !== sha256) throw new Unsent('the storage holds other bytes than were sent');
}
