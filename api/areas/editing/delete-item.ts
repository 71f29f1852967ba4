import { getVisibleItem } from '#areas/items/public.ts';
import { dropEdition, trashItems } from '#areas/libraries/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { announce, announceDeleted } from './announce.ts';

/** Moves an item with its children to the trash, or takes one edition from it; its last edition is the item. */
export async function deleteItemOf(call: Call, id: string, fileId: string | undefined): Promise<void> {
  const { db, who } = call;
  const item = await getVisibleItem(db, who, id);
  if (fileId !== undefined) {
    const own = await db('media_files').where({ id: fileId, item_id: item.id, ignored: false }).first('id');
    if (!own) throw notFound();
    if (await dropEdition(db, item.id, fileId)) {
      await audit(call, 'item.edition-deleted', { itemId: item.id, fileId });
      return announce(db, [{ id: item.id, changed: ['files'] }]);
    }
  }
  const trashed = await trashItems(db, [item.id], who.accountId || null);
  await audit(call, 'item.deleted', { itemId: item.id, title: item.title, children: trashed.length - 1 });
  await announceDeleted(
    db,
    trashed.filter((one) => one.id === item.id),
  );
}
