import { notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { type FileRow, findFileRows } from '../files/files.store.ts';
import type { Chapter } from '../media.schemas.ts';
import { listChapters } from './relations.store.ts';

/** Chapters of an item's preferred file, or of `fileId`. The parts of an edition have one continuous timeline. */
export async function chaptersOf(
  db: Db,
  itemId: string,
  fileId?: string,
): Promise<{ fileId: string | null; items: Chapter[] }> {
  const files = await findFileRows(db, [itemId], {});
  const file = fileId === undefined ? files[0] : files.find((one) => one.id === fileId);
  if (!file && fileId !== undefined) throw notFound();
  if (!file) return { fileId: null, items: [] };
  const items: Chapter[] = [];
  let clock = 0;
  for (const part of partsOf(file, files)) {
    for (const chapter of await listChapters(db, part.id)) items.push(moved(chapter, clock, items.length));
    clock += part.duration_ms ?? 0;
  }
  return { fileId: file.id, items };
}

function moved(chapter: Chapter, byMs: number, index: number): Chapter {
  return byMs === 0 ? chapter : { ...chapter, index, startMs: chapter.startMs + byMs, endMs: chapter.endMs + byMs };
}

/** All parts of the file's edition in order, or the file alone. */
function partsOf(file: FileRow, files: readonly FileRow[]): FileRow[] {
  if (file.part === null) return [file];
  return files
    .filter((one) => one.part !== null && one.edition === file.edition)
    .sort((a, b) => (a.part ?? 0) - (b.part ?? 0));
}
