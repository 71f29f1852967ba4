import type { Call } from '#kernel/endpoint.ts';
import { type Page, readCursor, writeCursor } from '#kernel/page.ts';

const NO_ID = '00000000-0000-0000-0000-000000000000';

/** A page of a list that is read whole anyway: the cursor names the last entry, so one that went away begins anew. */
export function sliceOf<T>(
  { deps }: Pick<Call, 'deps'>,
  all: readonly T[],
  ask: { limit: number; cursor?: string | undefined; scope: string; keyOf(entry: T): string },
): { items: T[]; page: Page } {
  const last = ask.cursor === undefined ? undefined : readCursor(deps.keys, ask.scope, ask.cursor).values[0];
  const begin = last === undefined ? 0 : all.findIndex((entry) => ask.keyOf(entry) === last) + 1;
  const items = all.slice(begin, begin + ask.limit);
  const end = items.at(-1);
  const more = begin + ask.limit < all.length && end !== undefined;
  return {
    items,
    page: {
      cursor: more ? writeCursor(deps.keys, ask.scope, { values: [ask.keyOf(end)], id: NO_ID }) : null,
      hasMore: more,
      ...(ask.cursor === undefined ? { total: all.length } : {}),
    },
  };
}
