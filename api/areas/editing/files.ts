import { replaceChapters, setEdition } from '#areas/libraries/public.ts';
import { type Issue, invalidAll } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import type { ItemEdit } from './editing.schemas.ts';

async function refuseForeign(db: Db, itemId: string, { member, ids }: { member: string; ids: readonly string[] }) {
  const own = new Set((await db('media_files').where({ item_id: itemId }).pluck('id')) as string[]);
  const unknown = ids.filter((id) => !own.has(id));
  if (unknown.length === 0) return;
  const fault = { code: 'unknown_file', message: 'the item has no such file' };
  throw invalidAll(unknown.map((id): Issue => ({ path: ['body', member, id], ...fault })));
}

/** Labels editions by their files; null returns a label to the file's name. Throws 400 for files of other items. */
export async function setEditions(
  db: Db,
  itemId: string,
  editions: NonNullable<ItemEdit['edition']>,
): Promise<boolean> {
  const ids = Object.keys(editions);
  await refuseForeign(db, itemId, { member: 'edition', ids });
  for (const id of ids) await setEdition(db, id, editions[id] ?? null);
  return ids.length > 0;
}

/**
 * Replaces the chapters of files; null returns to those in the file. Throws 400 for files of other items and for chapters
 * that are out of order or begin after the end.
 */
export async function setChapters(
  db: Db,
  itemId: string,
  chapters: NonNullable<ItemEdit['chapters']>,
): Promise<boolean> {
  const ids = Object.keys(chapters);
  await refuseForeign(db, itemId, { member: 'chapters', ids });
  const files = await db('media_files').whereIn('id', ids).select('id', 'duration_ms');
  const ends = new Map(files.map((row) => [row.id, row.duration_ms ?? Number.MAX_SAFE_INTEGER]));
  for (const [id, list] of Object.entries(chapters)) {
    const end = ends.get(id) ?? 0;
    refuseDisorder(id, list ?? [], end);
    await replaceChapters(db, { fileId: id, chapters: list, endMs: end });
  }
  return ids.length > 0;
}

interface Chapter {
  title: string;
  startMs: number;
}

function refuseDisorder(id: string, list: readonly Chapter[], end: number): void {
  const issues = list.flatMap(({ startMs }, at): Issue[] => {
    const path = ['body', 'chapters', id, at, 'startMs'];
    if (startMs >= end) return [{ path, code: 'after_end', message: 'begins after the end of the file' }];
    const previous = list[at - 1];
    return previous && previous.startMs >= startMs
      ? [{ path, code: 'out_of_order', message: 'begins before the chapter above it' }]
      : [];
  });
  if (issues.length > 0) throw invalidAll(issues);
}
