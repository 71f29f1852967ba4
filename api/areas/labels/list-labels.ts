import { getVisibleItem } from '#areas/items/public.ts';
import { requirePermission } from '#identity/principal.ts';
import { visibleLibraryIds } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { type Page, pageOf, parseSort } from '#kernel/page.ts';
import { findAccess } from './access.store.ts';
import { type Label, type LabelsQuery, labelSorts } from './labels.schemas.ts';
import { type LabelRow, labelsOfItem, selectLabels, toLabel } from './labels.store.ts';

/** A page of the labels that the caller may see; with `itemId`, those that the item carries. */
export async function listVisible(call: Call, query: LabelsQuery): Promise<{ items: Label[]; page: Page }> {
  const { db, who, deps } = call;
  const { cursor, limit, sort, include, q, restricted, itemId, libraryId } = query;
  if (include) requirePermission(who, 'user:manage');
  if (libraryId !== undefined) await requireLibrary(call, libraryId);
  const from = itemId === undefined ? undefined : await carriedBy(call, itemId);
  const rows = selectLabels(db, who, { q, restricted, libraryId, numbers: from && [...from.keys()] });
  const listed = await pageOf<LabelRow, LabelRow>(db, rows, {
    keys: deps.keys,
    terms: parseSort(sort, labelSorts, 'name'),
    cursor,
    limit,
    scope: JSON.stringify(['listLabels', q, restricted, itemId, libraryId, who.profileId]),
    idColumn: 'l.id',
    toItem: (row) => row,
  });
  const access = include && (await findAccess(db, listed.items));
  const items = listed.items.map((row) => ({
    ...toLabel(row),
    ...inherited(from?.get(row.number)),
    ...(access ? { access: access.get(row.number) } : {}),
  }));
  return { ...listed, items };
}

const inherited = (from: string | null | undefined) => (from ? { inheritedFrom: from } : {});

/** Labels of a visible item by number, each with the container that it is inherited from. */
async function carriedBy({ db, who }: Call, itemId: string): Promise<Map<number, string | null>> {
  await getVisibleItem(db, who, itemId);
  return new Map((await labelsOfItem(db, itemId)).map(({ number, from }) => [number, from]));
}

async function requireLibrary({ db, who }: Call, id: string): Promise<void> {
  if ((await visibleLibraryIds(db, who, [id])).length === 0) throw notFound();
}
