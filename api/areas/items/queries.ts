import { z } from 'zod';
import { commaList, Id } from '#kernel/schemas.ts';
import { ItemType } from './items.schemas.ts';
import type { SortName } from './sorts.ts';

/** Query members that many operations of this area share. */

export const typesQuery = commaList(ItemType, 30).optional();
export const filterQuery = z
  .string()
  .max(2000)
  .optional()
  .describe('field:op:value;… (SPEC 2); fields: listLibraryFields');
export const idList = commaList(Id, 200).optional();

export const sortText = (names: readonly SortName[]) =>
  z
    .string()
    .max(200)
    .optional()
    .describe(`Up to three of ${names.join(', ')}; - descends`);

/** What cursors of listLibraryItems are bound to beside sort, filter and profile: other operations hand out such cursors too. */
export function listScope(libraryId: string, types: readonly string[], folder?: { id: string; deep: boolean }): string {
  return `listLibraryItems|${libraryId}|${types.join()}|${folder ? `${folder.id}|${folder.deep}` : ''}`;
}
