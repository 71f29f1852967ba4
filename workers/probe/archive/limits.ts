/** Limits of an archive that is read for its description (area Scanning). */
export const MOST_ENTRIES = 20_000;
export const MOST_RATIO = 100;
/** Unpacked bytes of one entry that describes the rest. */
export const ENTRY_BYTES = 16 << 20;

/** The archive could harm a process that unpacks it; it is reported as an `unsafe-archive` issue. */
export class UnsafeArchive extends Error {}

export interface ArchiveEntry {
  /** Inside the archive, with slashes. */
  name: string;
  size: number;
  packed: number;
}

/** Throws UnsafeArchive for an entry that leads out of the archive, and for one that unpacks to too much. */
export function judge({ name, size, packed }: ArchiveEntry): void {
  const parts = name.split(/[\\/]/);
  if (parts.includes('..') || /^(?:[\\/]|[a-z]:)/i.test(name)) throw new UnsafeArchive('an entry leads out of it');
  if (packed > 0 && size > 1 << 20 && size / packed > MOST_RATIO) throw new UnsafeArchive('it unpacks to too much');
}
