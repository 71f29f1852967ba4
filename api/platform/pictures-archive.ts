// Unpacks a ZIP of pictures in the sandboxed process, entry by entry by its index. A name is a label, never a path.
import yauzl, { type Entry, type ZipFile } from 'yauzl';
import { IconRefused } from './pictures-icon.ts';
import type { UnpackedEntry, UnpackLimits } from './pictures-protocol.ts';

export interface Unpacked {
  entries: UnpackedEntry[];
  bytes: Buffer;
}

/** Decoded, and not judged as a path: it is none. */
const nameOf = ({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry): string =>
  yauzl.getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false);

const isFolder = (name: string): boolean => /[/\\]$/.test(name);
/** Names that programs add to an archive themselves. */
const isAside = (name: string): boolean =>
  name.split(/[/\\]/).some((part) => /^\.[^.]/.test(part) || part === '__MACOSX');

/** All files of the archive. Throws `IconRefused` of `archive-limits` or `corrupt`. */
export async function unpackedZip(bytes: Buffer, limits: UnpackLimits): Promise<Unpacked> {
  try {
    const file = await yauzl.fromBufferPromise(bytes, { lazyEntries: true, decodeStrings: false });
    if (file.entryCount > limits.entries) refuse('archive-limits', 'too many entries');
    return await unpackedEntries(file, limits);
  } catch (error) {
    if (error instanceof IconRefused) throw error;
    return refuse('corrupt', (error as Error).message);
  }
}

async function unpackedEntries(file: ZipFile, limits: UnpackLimits): Promise<Unpacked> {
  const entries: UnpackedEntry[] = [];
  const parts: Buffer[] = [];
  let total = 0;
  let index = -1;
  for await (const entry of file.eachEntry()) {
    index += 1;
    const name = nameOf(entry);
    if (isFolder(name) || isAside(name)) continue;
    judge(entry, limits);
    const tooLarge = entry.uncompressedSize > limits.entryBytes;
    const content = tooLarge ? Buffer.alloc(0) : await contentOf(file, entry);
    total += content.length;
    if (total > limits.bytes) refuse('archive-limits', 'too large when unpacked');
    entries.push({ index, name: name.slice(0, 500), length: content.length, tooLarge });
    parts.push(content);
  }
  return { entries, bytes: Buffer.concat(parts) };
}

function refuse(fault: 'archive-limits' | 'corrupt', detail: string): never {
  throw new IconRefused(fault, detail);
}

/** yauzl refuses a stream that is longer than its entry says, so the stated sizes hold. */
function judge(entry: Entry, { ratio, bytes }: UnpackLimits): void {
  if (entry.isEncrypted()) refuse('corrupt', 'an entry is encrypted');
  if (entry.uncompressedSize > bytes) refuse('archive-limits', 'too large when unpacked');
  if (entry.uncompressedSize > ratio * Math.max(entry.compressedSize, 1))
    refuse('archive-limits', 'packed too tightly');
}

async function contentOf(file: ZipFile, entry: Entry): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of await file.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
