import type { ManagedBy } from './config.ts';

/**
 * Types of columns, by `table.column`, that are narrower than the schema: the shape of JSON, the values of a text. The
 * owner of a table declares them next to its store (`declare module '#platform/column-types.ts'`). JSON without a
 * declaration is `unknown`.
 */
export interface ColumnTypes {
  'accounts.managed_by': ManagedBy;
  'api_keys.managed_by': ManagedBy;
  'libraries.managed_by': ManagedBy;
  'storages.managed_by': ManagedBy;
  'themes.managed_by': ManagedBy;
  'library_types.managed_by': ManagedBy;
  'custom_fields.managed_by': ManagedBy;
}
