import yauzl, { type Entry } from 'yauzl';
import { type ArchiveEntry, ENTRY_BYTES, judge, MOST_ENTRIES, UnsafeArchive } from './limits.ts';

/** A ZIP file of which only the directory and single entries are read. */
export interface Zip {
  entries: readonly ArchiveEntry[];
  /** Bytes of an entry of at most 16 MiB; undefined if there is none of the name. Throws UnsafeArchive. */
  read(name: string): Promise<Buffer | undefined>;
  close(): void;
}

/** Throws UnsafeArchive, or what yauzl says of a file that is no ZIP. */
export async function openZip(path: string): Promise<Zip> {
  const file = await yauzl.openPromise(path, { lazyEntries: true, autoClose: false, validateEntrySizes: true });
  try {
    if (file.entryCount > MOST_ENTRIES) throw new UnsafeArchive('too many entries');
    const found = new Map<string, Entry>();
    for await (const entry of file.eachEntry()) {
      judge(entryOf(entry));
      found.set(entry.fileName, entry);
    }
    return {
      entries: [...found.values()].map(entryOf),
      close: () => file.close(),
      async read(name) {
        const entry = found.get(name);
        if (!entry) return undefined;
        if (entry.uncompressedSize > ENTRY_BYTES) throw new UnsafeArchive('a description is too large');
        const chunks: Buffer[] = [];
        for await (const chunk of await file.openReadStreamPromise(entry)) chunks.push(chunk as Buffer);
        return Buffer.concat(chunks);
      },
    };
  } catch (error) {
    file.close();
    throw error;
  }
}

const entryOf = ({ fileName, uncompressedSize, compressedSize }: Entry): ArchiveEntry => ({
  name: fileName,
  size: uncompressedSize,
  packed: compressedSize,
});
