import { nextDue, noteWithoutPictures } from '#areas/artwork/public.ts';
import type { Db } from '#platform/db.ts';
import type { Work } from '../work.ts';

interface Changed {
  libraryId: string;
  itemIds: readonly string[];
}

/** Has the pictures of added and changed items looked for, once the caller's transaction is committed. */
export async function queuePictures(
  work: Pick<Work, 'enqueue'>,
  db: Db,
  { libraryId, itemIds }: Changed,
): Promise<void> {
  if (itemIds.length === 0) return;
  await noteWithoutPictures(db, libraryId, itemIds);
  await work.enqueue(db, 'artwork.fetch', {
    payload: { libraryId },
    options: {
      ...{ key: `artwork.fetch:${libraryId}`, cause: 'scan', libraryId, target: { kind: 'library', id: libraryId } },
    },
  });
}

/** Has frames and mosaics made for items that have no other picture. */
export async function queueFrames(work: Work, libraryId: string | undefined): Promise<void> {
  if (!(await nextDue(work.db, { libraryId, stages: ['frames', 'mosaic'] }))) return;
  await work.enqueue(work.db, 'artwork.frames', {
    payload: { ...(libraryId !== undefined && { libraryId }) },
    options: {
      ...{ key: `artwork.frames:${libraryId ?? 'all'}`, priority: 90, cause: 'scan' },
      ...(libraryId !== undefined && { libraryId, target: { kind: 'library', id: libraryId } }),
    },
  });
}
