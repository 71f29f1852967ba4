import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import type { ItemSummary } from '../items.schemas.ts';
import { childOrder } from '../listing/sorts.ts';
import type { TreeNode } from '../listing.schemas.ts';
import type { VisibleItem } from './items.store.ts';
import { type SummaryRow, summaryRows } from './summaries.store.ts';

const MOST = 5000;

/** The container and its descendants, in one query, because rows have parent and grandparent. */
export async function treeOf(call: Call, item: VisibleItem, depth: number): Promise<TreeNode> {
  const { db, who } = call;
  const rows: SummaryRow[] = await summaryRows(db, who)
    .whereNull('i.extra_of')
    .whereRaw(`(i.id = ? or ${depth > 1 ? '(i.parent_id = ? or i.grandparent_id = ?)' : 'i.parent_id = ?'})`, [
      item.id,
      ...(depth > 1 ? [item.id, item.id] : [item.id]),
    ])
    .orderByRaw(`i.id <> ?, (i.parent_id = ?) desc nulls last, ${childOrder(false).column}, i.id`, [item.id, item.id])
    .limit(MOST + 2);
  const summaries = rows.slice(0, MOST + 1).map((row) => row.summary);
  const root = summaries.find((one) => one.id === item.id);
  if (!root) throw notFound();
  const children = Map.groupBy(summaries, (one) => one.parentId);
  const tree = toNode(root, { children, depth });
  return rows.length > MOST + 1 ? { ...tree, truncated: true } : tree;
}

function toNode(
  item: ItemSummary,
  { children, depth }: { children: Map<string | undefined, ItemSummary[]>; depth: number },
): TreeNode {
  const below = depth > 0 ? (children.get(item.id) ?? []) : [];
  const { id, type, baseType, title, index, indexEnd, airsBefore, runtimeMs, releasedOn, userState, availability } =
    item;
  const thumb = item.artwork.thumb ?? item.artwork.poster;
  return {
    ...{ id, type, baseType, title, index, indexEnd, airsBefore, runtimeMs, releasedOn, userState, availability },
    childCount: item.childCount,
    thumb,
    ...(below.length > 0 ? { children: below.map((one) => toNode(one, { children, depth: depth - 1 })) } : {}),
  };
}
