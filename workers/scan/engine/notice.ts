import { notify } from '#areas/notifications/public.ts';
import type { Db } from '#platform/db.ts';

/** Notifies those who may scan about a scan of this library, in the caller's transaction. */
export async function notifyScanners(db: Db, kind: 'scan-failed' | 'scan-guard', libraryId: string): Promise<void> {
  const library = await db('libraries').where({ id: libraryId }).first('name');
  await notify(db, {
    kind,
    target: { kind: 'library', id: libraryId },
    libraryId,
    data: { name: library?.name ?? '' },
  });
}
