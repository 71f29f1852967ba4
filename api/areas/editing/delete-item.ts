import { getVisibleItem } from '#areas/items/public.ts';
import { dropEdition, refuseMoves, trashFiles, trashItems } from '#areas/libraries/public.ts';
import { may, type Principal } from '#identity/principal.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { announce, announceDeleted } from './announce.ts';

interface Deleting {
  files: 'keep' | 'trash';
  fileId?: string | undefined;
}

/** Throws 403 when files are to move and the caller may not manage libraries. */
export function refuseMovers(who: Principal, deleting: Pick<Deleting, 'files'> | undefined): void {
  if (deleting?.files !== 'trash' || may(who, 'library:manage')) return;
  throw new ApiError('FORBIDDEN', 'Moving files needs library:manage', { permission: 'library:manage' });
}

/**
 * Moves an item with its children to the trash, or takes one edition from it; its last edition is the item. Throws 403 and 409
 * when its files may not be moved.
 */
export async function deleteItemOf(call: Call, id: string, { files, fileId }: Deleting): Promise<void> {
  const { db, who, enqueue } = call;
  refuseMovers(who, { files });
  const item = await getVisibleItem(db, who, id);
  if (files === 'trash') await refuseMoves(db, item);
  if (fileId !== undefined) {
    const own = await db('media_files').where({ id: fileId, item_id: item.id, ignored: false }).first('id');
    if (!own) throw notFound();
    if (await dropEdition(db, item.id, fileId)) {
      if (files === 'trash') await trashFiles(db, { editionOf: fileId }, enqueue);
      await audit(call, 'item.edition-deleted', { itemId: item.id, fileId });
      return announce(db, [{ id: item.id, changed: ['files'] }]);
    }
  }
  const trashed = await trashItems(db, [item.id], who.accountId || null);
  if (files === 'trash') await trashFiles(db, { itemIds: trashed.map((one) => one.id) }, enqueue);
  const { title } = item;
  await audit(call, 'item.deleted', { itemId: item.id, title, children: trashed.length - 1, files });
  await announceDeleted(
    db,
    trashed.filter((one) => one.id === item.id),
  );
}
