import type { ManagedBy } from './config.ts';

/**
 * Types of columns, by `table.column`, that say more than the schema: the shape of JSON, the words of a text. The owner of a
 * table declares them beside its store (`declare module '#platform/column-types.ts'`). JSON that nobody declares is `unknown`.
 */
export interface ColumnTypes {
  'accounts.managed_by': ManagedBy;
  'api_keys.managed_by': ManagedBy;
  'libraries.managed_by': ManagedBy;
  'storages.managed_by': ManagedBy;
  'themes.managed_by': ManagedBy;
}
