import type { VisibleItem } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { dropChoice, imagesById, writeChoice } from '../images.store.ts';
import type { ArtworkKind } from '../kinds.ts';
import { noteWithoutPictures } from '../pending.store.ts';
import { requireFitting } from './add-to-item.ts';
import { settle } from './writing.ts';

interface Choosing {
  kind: ArtworkKind;
  imageIds: readonly string[];
  lock: boolean;
}

/** Throws 400 for a kind of another type, for several images of a kind that shows one, and for images of other items. */
export async function chooseArtwork(call: Call, item: VisibleItem, { kind, imageIds, lock }: Choosing): Promise<void> {
  requireFitting(item, kind, ['params', 'kind']);
  if (imageIds.length > 1 && kind !== 'backdrop') {
    throw invalid(['body', 'imageIds'], 'too_big', 'only backdrops may be several');
  }
  await refuseForeign(call, item, imageIds);
  await writeChoice(call.db, {
    owner: { kind: 'item', id: item.id },
    kind,
    imageIds: [...new Set(imageIds)],
    locked: lock,
  });
  await settle(call, [item.id]);
}

/** The images must belong to the item, to one above it or to one below it. */
async function refuseForeign({ db }: Call, item: VisibleItem, ids: readonly string[]): Promise<void> {
  const rows = await imagesById(db, ids);
  const related = [item.id, item.parentId, item.grandparentId].filter((id) => id !== null);
  const owners = rows.filter(({ owner_kind: kind }) => kind === 'item').map(({ owner_id: id }) => id);
  const below = await db('items')
    .whereIn('id', owners)
    .whereRaw('(parent_id = ? or grandparent_id = ?)', [item.id, item.id])
    .pluck('id');
  const allowed = new Set([...related, ...below]);
  const known = new Set(rows.filter(({ owner_id: id }) => allowed.has(id)).map(({ id }) => id));
  const at = ids.findIndex((id) => !known.has(id));
  if (at >= 0)
    throw invalid(['body', 'imageIds', at], 'unknown_image', 'no image of this item, its parent or its children');
}

export async function resetArtwork(
  call: Call,
  item: VisibleItem,
  { kind, discard }: { kind: ArtworkKind; discard: boolean },
): Promise<void> {
  const { db } = call;
  await dropChoice(db, item.id, kind);
  if (discard) {
    await db('images')
      .where({ owner_kind: 'item', owner_id: item.id, kind })
      .whereIn('source', ['upload', 'url'])
      .whereRaw('not exists (select from artwork_choices c where c.image_ids @> array[images.id])')
      .delete();
  }
  await settle(call, [item.id]);
  await noteWithoutPictures(db, item.libraryId, [item.id]);
  await call.enqueue(
    'artwork.fetch',
    { libraryId: item.libraryId },
    {
      ...{ key: `artwork.fetch:${item.libraryId}`, libraryId: item.libraryId, priority: 30 },
      target: { kind: 'item', id: item.id, title: item.title },
    },
  );
}
