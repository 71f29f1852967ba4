// Titles that are items of this server which the caller may see.
import type { Knex } from 'knex';
import { findItemSummaries, type ItemSummary, onlyUnwatched, visibleItems } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';

type Viewer = Pick<Call, 'db' | 'who'>;

/** SQL: `items as i` is the title of the row id in `column`. */
const sameTitle = (column: string): string => `i.extra_of is null and i.type in ('movie', 'show') and (
  i.external_ids @> any(array(select jsonb_build_object(d.scheme, d.value) from discover_ids d
    where d.title_id = ${column} and d.kind = i.type and d.scheme <> 'item'))
  or i.id = any(array(select d.value::uuid from discover_ids d
    where d.title_id = ${column} and d.kind = i.type and d.scheme = 'item')))`;

/** Items of the title in `column` that the caller sees, for a condition. */
const sameItems = ({ db, who }: Viewer, column: string): Knex.QueryBuilder =>
  visibleItems(db, who).whereRaw(sameTitle(column)).select(db.raw('1'));

/** Leaves out titles that are here. */
export function onlyElsewhere(query: Knex.QueryBuilder, viewer: Viewer, column: string): void {
  void query.whereNotExists(sameItems(viewer, column));
}

/** Leaves out titles that are here and watched as a whole. */
export function onlyUnseen(query: Knex.QueryBuilder, viewer: Viewer, column: string): void {
  const unwatched = sameItems(viewer, column).modify(onlyUnwatched, viewer.who);
  void query.where((any) => {
    void any.whereNotExists(sameItems(viewer, column)).orWhereExists(unwatched);
  });
}

/** The visible item of each title that is here; the oldest of several. */
export async function itemsOfTitles(viewer: Viewer, titleIds: readonly string[]): Promise<Map<string, ItemSummary>> {
  const { db, who } = viewer;
  if (titleIds.length === 0) return new Map();
  const rows = (await visibleItems(db, who)
    .joinRaw(`join discover_titles t on ${sameTitle('t.id')}`)
    .whereRaw('t.id = any(?::uuid[])', [[...titleIds]])
    .orderBy('i.id')
    .select({ title_id: 't.id', item_id: 'i.id' })) as { title_id: string; item_id: string }[];
  const first = new Map(rows.toReversed().map((row) => [row.title_id, row.item_id]));
  const summaries = await findItemSummaries(db, who, [...first.values()]);
  return new Map(
    [...first].flatMap(([titleId, itemId]) => {
      const item = summaries.get(itemId);
      return item ? [[titleId, item] as const] : [];
    }),
  );
}
