// The key of a query is [operationId, input]; input is path and query parameters as one object without absent fields.
import type { Operations } from '../../../../api/client/index.ts';

export type Name = keyof Operations & string;
export type Key = readonly [Name, Readonly<Record<string, unknown>>];

export interface Parts {
  params?: object | undefined;
  query?: object | undefined;
}

export function keyOf(name: Name, { params, query }: Parts = {}): Key {
  const all = Object.entries({ ...params, ...query }).filter(([, value]) => value !== undefined && value !== null);
  return [name, Object.fromEntries(all.sort(([a], [b]) => (a < b ? -1 : 1)))];
}
