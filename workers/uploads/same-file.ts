// Files of the library that hold the same bytes as an upload.
import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { openMedia } from '#areas/storage/public.ts';
import { itemsOfHashes } from '#areas/uploads/public.ts';
import type { Db } from '#platform/db.ts';
import { streamMedia } from '#platform/media-bytes.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Work } from '../work.ts';

/** Files of one size that are read to compare them; more of them have a hash already, or are no photos. */
const MOST_READ = 5;

interface SameSize {
  item_id: string;
  storage_id: string;
  folder_id: string;
  path: string;
  size_bytes: number;
  modified_ms: number;
}

/** Items with a file of this hash: those with a known one, else files of the same size that are read now. */
export async function itemsWith(
  work: Work,
  { libraryId, sha256, size }: { libraryId: string; sha256: string; size: number },
): Promise<string[]> {
  const known = (await itemsOfHashes(work.db, libraryId, [sha256])).get(sha256);
  if (known) return known;
  for (const file of await sameSize(work.db, libraryId, size)) {
    const place = await openMedia(work, {
      ...{ storageId: file.storage_id, folderId: file.folder_id, path: file.path },
      ...{ sizeBytes: file.size_bytes, modifiedMs: file.modified_ms },
    });
    if (place.kind !== 'there') continue;
    const hash = createHash('sha256');
    await pipeline(streamMedia(place.absolute), hash, { signal: work.signal });
    if (hash.digest('hex') === sha256) return [file.item_id];
  }
  return [];
}

async function sameSize(db: Db, libraryId: string, size: number): Promise<SameSize[]> {
  return rowsOf<SameSize>(
    db,
    `select f.item_id, f.storage_id, f.folder_id, f.path, f.size_bytes, f.modified_ms from media_files f
     where f.size_bytes = ? and f.library_id = ? and f.missing_since is null and not f.ignored and f.item_id is not null limit ${MOST_READ}`,
    [size, libraryId],
  );
}
