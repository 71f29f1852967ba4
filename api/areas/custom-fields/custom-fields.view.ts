import { may } from '#identity/principal.ts';
import { visibleLibraryIds } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { CustomField } from './custom-fields.schemas.ts';
import { type FieldRow, findFieldRow, listFieldRows } from './custom-fields.store.ts';
import { isChoice } from './kinds.ts';
import { readable } from './values.store.ts';

const present = <T extends object>(value: T) =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null && one !== undefined)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };

/** A definition as in the API; the count of values when the request names it. */
export function toField(row: FieldRow, { counts }: { counts: boolean } = { counts: false }): CustomField {
  return {
    ...{ id: row.id, key: row.key, label: row.label, kind: row.kind, itemTypes: row.item_types },
    ...present({
      description: row.description || null,
      libraryIds: row.library_ids,
      options: isChoice(row.kind) ? row.options : null,
      ...{ unit: row.unit, min: row.min, max: row.max, decimals: row.decimals, maxLength: row.max_length },
      ...{ targetTypes: row.target_types, default: row.default_value, group: row.group_name },
      managedBy: row.managed_by,
    }),
    ...{ required: row.required, audience: row.audience, editableBy: row.editable_by },
    ...{ inFilter: row.in_filter, inSort: row.in_sort, inFacets: row.in_facets },
    ...{ inSearch: row.in_search, inLists: row.in_lists, order: row.position, indexState: row.index_state },
    ...(counts && { valueCount: row.value_count }),
    ...{ revision: row.revision, createdAt: iso(row.created_at), updatedAt: iso(row.updated_at) },
  };
}

interface Query {
  itemType?: string | undefined;
  libraryId?: string | undefined;
  counts: boolean;
}

/** Fields that the caller may see, for libraries that they may see. */
export async function readFields(call: Call, { itemType, libraryId, counts }: Query): Promise<CustomField[]> {
  const { db, who } = call;
  const rows = (await listFieldRows(db)).filter((row) => readable(row, who));
  const named = [...new Set(rows.flatMap((row) => row.library_ids ?? [])), ...(libraryId ? [libraryId] : [])];
  const visible = new Set(await visibleLibraryIds(db, who, named));
  if (libraryId !== undefined && !visible.has(libraryId)) throw notFound();
  const manages = may(who, 'settings:manage');
  return rows.flatMap((row) => {
    const libraries = row.library_ids && (manages ? row.library_ids : row.library_ids.filter((id) => visible.has(id)));
    const isHere =
      libraries === null || (libraryId === undefined ? libraries.length > 0 : libraries.includes(libraryId));
    if (!isHere || (itemType !== undefined && !row.item_types.includes(itemType))) return [];
    return [toField({ ...row, library_ids: libraries }, { counts })];
  });
}

/** Throws NOT_FOUND. */
export async function getFieldRow(call: Pick<Call, 'db'>, id: string): Promise<FieldRow> {
  const row = await findFieldRow(call.db, id);
  if (!row) throw notFound();
  return row;
}
