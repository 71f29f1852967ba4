import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { findVisibleItem, type VisibleItem } from './items.store.ts';

const FOLLOWED = `interval '1 year'`;

/**
 * The item of an id in a path. For a year, the id of a merged item returns the item that it was merged into, and
 * Content-Location names the address that `addressOf` makes. Throws 404 for an unknown or hidden item.
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
