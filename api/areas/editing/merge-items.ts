import { joinCollections } from '#areas/collections/public.ts';
import { joinValues, redirectValues } from '#areas/custom-fields/public.ts';
import { getVisibleItem, type ItemDetail, itemDetail, type VisibleItem } from '#areas/items/public.ts';
import { joinLabels } from '#areas/labels/public.ts';
import { type Combined, combineItems, countCombined, raiseChangesOfItems } from '#areas/libraries/public.ts';
import { joinStates } from '#areas/playback/public.ts';
import { moveClips } from '#areas/streaming/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, type Issue, invalid, invalidAll } from '#kernel/errors.ts';
import { announce, announceDeleted } from './announce.ts';
import type { MergeRequest } from './editing.schemas.ts';

const MOST_CHILDREN = 5000;

interface Merged extends Combined {
  item: ItemDetail;
  dryRun: boolean;
}

/** Makes items part of another one. Throws 409 `type-differs` and `too-large`, 400 for unknown items. */
export async function mergeItemsInto(call: Call, { intoId, itemIds, dryRun }: MergeRequest): Promise<Merged> {
  const counts = await call.transact(async (inside) => {
    const { into, others } = await chosen(inside, { intoId, itemIds });
    await raiseChangesOfItems(inside.db, [intoId, ...itemIds]);
    const counted = await countCombined(inside.db, itemIds);
    if (counted.children > MOST_CHILDREN)
      throw conflict('too-large', `At most ${MOST_CHILDREN} children are merged at once`, {
        children: counted.children,
      });
    if (!dryRun) await combine(inside, into, others);
    return counted;
  });
  const item = await itemDetail(call, await getVisibleItem(call.db, call.who, intoId), { include: [] });
  return { item, ...counts, dryRun };
}

async function chosen(
  { db, who }: Call,
  { intoId, itemIds }: Pick<MergeRequest, 'intoId' | 'itemIds'>,
): Promise<{ into: VisibleItem; others: VisibleItem[] }> {
  const into = await found404(getVisibleItem(db, who, intoId));
  if (!into) throw invalid(['body', 'intoId'], 'unknown_item', 'the item does not exist');
  const others: VisibleItem[] = [];
  const issues: Issue[] = [];
  for (const [at, id] of itemIds.entries()) {
    const path = ['body', 'itemIds', at];
    if (id === intoId) issues.push({ path, code: 'itself', message: 'an item is not merged into itself' });
    else {
      const found = await found404(getVisibleItem(db, who, id));
      if (found) others.push(found);
      else issues.push({ path, code: 'unknown_item', message: 'the item does not exist' });
    }
  }
  if (issues.length > 0) throw invalidAll(issues);
  const differing = others.filter((one) => one.type !== into.type || one.libraryId !== into.libraryId || one.extraOf);
  if (differing.length > 0 || into.extraOf)
    throw conflict('type-differs', 'Only items of one type and one library are merged', {
      itemIds: differing.map(({ id }) => id),
    });
  return { into, others };
}

async function found404(item: Promise<VisibleItem>): Promise<VisibleItem | undefined> {
  return item.catch((error: unknown) => {
    if (error instanceof ApiError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  });
}

/** Makes items part of another one, with what people left in them. The change numbers are raised. */
export async function combine(call: Call, into: VisibleItem, others: readonly VisibleItem[]): Promise<void> {
  const { db } = call;
  const ids = others.map(({ id }) => id);
  const rows = await db('items').whereIn('id', ids).select('id', 'library_id', 'type', 'title', 'age_years', 'labels');
  await combineItems(db, { intoId: into.id, otherIds: ids }, async (pairs) => {
    await joinStates(db, pairs);
    await joinLabels(db, pairs);
    await joinCollections(db, pairs);
    await joinValues(db, pairs);
    await redirectValues(db, pairs);
    await moveClips(db, pairs);
  });
  await audit(call, 'items.merged', { intoId: into.id, items: others.map(({ id, title }) => ({ id, title })) });
  await announceDeleted(db, rows);
  await announce(db, [{ id: into.id, changed: ['files', 'children'] }]);
}
