import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Trickplay } from '../streaming.schemas.ts';

/** Key of a sheet in the bucket `foyer-derived`. */
export const trickplayKey = (fileId: string, width: number, sheet: number): string =>
  `trickplay/${fileId}/${width}-${sheet}.webp`;

export async function findTrickplay(db: Db, fileId: string): Promise<Trickplay | undefined> {
  const rows = await db('trickplay').where({ file_id: fileId }).orderBy('width').select('*');
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
export async function saveTrickplay(db: Db, row: Omit<Row<'trickplay'>, 'made_at'>): Promise<void> {
  await db('trickplay')
    .insert({ ...row, made_at: new Date() })
    .onConflict(['file_id', 'width'])
    .merge();
}
