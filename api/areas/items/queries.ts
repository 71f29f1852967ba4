import { filterQuery } from '#kernel/filter.ts';
import { commaList, Id } from '#kernel/schemas.ts';
import { itemFields } from './fields/fields.ts';
import { ItemType } from './items.schemas.ts';

/** Query members that many operations of this area share. */

export const typesQuery = commaList(ItemType, 30).optional();
export const itemFilter = filterQuery(itemFields, 'field:op:value;… (SPEC 2); fields: listLibraryFields');
export const idList = commaList(Id, 200).optional();

/** What cursors of listLibraryItems are bound to beside sort, filter and profile: other operations hand out such cursors too. */
export function listScope(libraryId: string, types: readonly string[], folder?: { id: string; deep: boolean }): string {
  return `listLibraryItems|${libraryId}|${types.join()}|${folder ? `${folder.id}|${folder.deep}` : ''}`;
}
