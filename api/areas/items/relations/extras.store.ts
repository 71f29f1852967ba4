import type { z } from 'zod';
import type { Call } from '#kernel/endpoint.ts';
import type { VisibleItem } from '../item/items.store.ts';
import { listSummaries, visibleItems } from '../item/summaries.store.ts';
import { type Extra, ExtraKind } from '../items.schemas.ts';

/** Local extras of an item, by kind and title. A season has its own extras, then those of its show. */
export async function listExtras(
  { db, who }: Pick<Call, 'db' | 'who'>,
  item: VisibleItem,
  { kind }: { kind?: string | undefined },
): Promise<z.output<typeof Extra>[]> {
  const owners = item.type === 'season' && item.parentId ? [item.id, item.parentId] : [item.id];
  const query = visibleItems(db, who)
    .whereRaw('i.extra_of = any(?::uuid[])', [owners])
    .orderByRaw('array_position(?::uuid[], i.extra_of), i.extra_kind, i.sort_title, i.id', [owners])
    .limit(500)
    .select('i.id', 'i.extra_kind');
  if (kind !== undefined) query.where('i.extra_kind', kind);
  const rows: { id: string; extra_kind: string | null }[] = await query;
  const kinds = new Map(rows.map((row) => [row.id, ExtraKind.safeParse(row.extra_kind).data ?? ('other' as const)]));
  const items = await listSummaries(db, who, [...kinds.keys()]);
  return items.map((one) => ({ ...one, extraKind: kinds.get(one.id) ?? 'other' }));
}
