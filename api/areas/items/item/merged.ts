import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { findVisibleItem, type VisibleItem } from './items.store.ts';

const FOLLOWED = `interval '1 year'`;

/**
 * The item of a path's id. What was merged into another item is that one for a year; Content-Location then names the address
 * that `addressOf` makes of an id. 404 for what does not exist or is hidden.
 */
export async function itemAt(
  call: Call,
  id: string,
  addressOf: (id: string) => string = (own) => `/items/${own}`,
): Promise<VisibleItem> {
  const { db, who, reply } = call;
  const item = await findVisibleItem(db, who, id);
  if (item) return item;
  const merge = await db('item_merges')
    .where({ old_id: id })
    .whereRaw(`merged_at > now() - ${FOLLOWED}`)
    .first('into_id');
  const into = merge && (await findVisibleItem(db, who, merge.into_id));
  if (!into) throw notFound();
  reply.header('Content-Location', `/api/v1${addressOf(into.id)}`);
  return into;
}
