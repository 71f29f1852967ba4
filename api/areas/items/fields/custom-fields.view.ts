import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';

const COLUMNS = [
  ...(['id', 'key', 'label', 'kind', 'item_types', 'library_ids', 'options', 'audience', 'in_filter'] as const),
  ...(['in_sort', 'in_facets', 'index_state'] as const),
];

/** A custom field as lists of items need it; the area Custom fields owns the definitions. */
export type Definition = Pick<Row<'custom_fields'>, (typeof COLUMNS)[number]>;

/** Every definition that is not deleted, in their order. */
export async function listDefinitions(db: Db): Promise<Definition[]> {
  return db('custom_fields')
    .whereNull('deleted_at')
    .orderByRaw('group_name nulls first, position, label, id')
    .select(COLUMNS);
}

export interface ValueRow {
  item_id: string;
  field_id: string;
  text_value: string | null;
  number_value: number | null;
  day: string | null;
  bool_value: boolean | null;
  ref_id: string | null;
}

/** Values of these items, several choices in their order. */
export async function listValues(db: Db, itemIds: readonly string[]): Promise<ValueRow[]> {
  return db('custom_values')
    .whereRaw('item_id = any(?::uuid[])', [[...itemIds]])
    .orderBy(['item_id', 'field_id', 'place'])
    .select('item_id', 'field_id', 'text_value', 'number_value', 'bool_value', 'ref_id')
    .select(db.raw('date_value::text as day'));
}
