import type { Db } from '#platform/db.ts';
import type { Objects } from '#platform/objects.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Trickplay } from '../streaming.schemas.ts';

/** Key of a sheet in the bucket `foyer-derived`. */
export const trickplayKey = (fileId: string, width: number, sheet: number): string =>
  `trickplay/${fileId}/${width}-${sheet}.webp`;

export async function findTrickplay(db: Db, fileId: string): Promise<Trickplay | undefined> {
  const rows = await db('trickplay').where({ file_id: fileId, removed_at: null }).orderBy('width').select('*');
  const [first] = rows;
  if (!first) return undefined;
  return {
    fileId,
    intervalMs: first.interval_ms,
    durationMs: first.duration_ms,
    widths: rows.map(({ width, height, columns, rows: lines, thumbs, sheets, size_bytes }) => ({
      ...{ width, height, columns, rows: lines, thumbs, sheets, mime: 'image/webp', sizeBytes: size_bytes },
    })),
    madeAt: first.made_at.toISOString(),
  };
}

/** Written by the analysis `previewThumbnails` after it stored the sheets. */
export async function saveTrickplay(db: Db, row: Omit<Row<'trickplay'>, 'made_at' | 'removed_at'>): Promise<void> {
  await db('trickplay')
    .insert({ ...row, made_at: new Date(), removed_at: null })
    .onConflict(['file_id', 'width'])
    .merge();
}

/** Hides the thumbnails of a library's files at once. Returns how many files had some. */
export async function removeTrickplay(db: Db, libraryId: string): Promise<number> {
  const files = await db('trickplay')
    .whereNull('removed_at')
    .whereIn('file_id', db('media_files').where({ library_id: libraryId }).select('id'))
    .update({ removed_at: new Date() })
    .returning('file_id');
  return new Set(files.map(({ file_id: id }) => id)).size;
}

/**
 * Ends removed thumbnails of a file that gets new ones: the objects have the same names, so no one may delete them from
 * now on.
 */
export async function forgetRemovedTrickplay(db: Db, fileId: string): Promise<void> {
  await db('trickplay').where({ file_id: fileId }).whereNotNull('removed_at').delete();
}

const BATCH = 100;

/** Deletes the objects of removed thumbnails, and then their rows. The rows are locked while their objects go. */
export async function dropRemovedTrickplay(db: Db, objects: Objects, signal: AbortSignal): Promise<number> {
  for (let dropped = 0; ; ) {
    signal.throwIfAborted();
    const count = await db.transaction(async (inside) => {
      const rows = await inside('trickplay')
        .whereNotNull('removed_at')
        .limit(BATCH)
        .forUpdate()
        .skipLocked()
        .select('file_id', 'width', 'sheets');
      const keys = rows.flatMap(({ file_id: id, width, sheets }) =>
        Array.from({ length: sheets }, (_, n) => trickplayKey(id, width, n)),
      );
      if (keys.length > 0) await objects.remove('foyer-derived', keys);
      for (const { file_id, width } of rows) await inside('trickplay').where({ file_id, width }).delete();
      return rows.length;
    });
    dropped += count;
    if (count === 0) return dropped;
  }
}
