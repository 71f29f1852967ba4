import { filterQuery } from '#kernel/filter.ts';
import { commaList, Id } from '#kernel/schemas.ts';
import { itemFields } from './fields/fields.ts';
import { ItemType } from './items.schemas.ts';

export const typesQuery = commaList(ItemType, 30).optional();
export const itemFilter = filterQuery(itemFields, 'field:op:value;…, with the fields of listLibraryFields', 'custom.');
/** A filter that takes some of the fields. */
export const itemFilterOf = (names: readonly (keyof typeof itemFields)[]) =>
  filterQuery(
    Object.fromEntries(Object.entries(itemFields).filter(([name]) => names.includes(name))),
    `field:op:value;…, with the fields ${names.join(', ')}`,
  );
export const idList = commaList(Id, 200).optional();

/**
 * Scope of listLibraryItems cursors, in addition to sort, filter and profile. Other operations return such cursors too.
 */
export function listScope(libraryId: string, types: readonly string[], folder?: { id: string; deep: boolean }): string {
  return `listLibraryItems|${libraryId}|${types.join()}|${folder ? `${folder.id}|${folder.deep}` : ''}`;
}
