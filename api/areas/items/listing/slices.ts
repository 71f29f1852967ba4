import type { Call } from '#kernel/endpoint.ts';
import { type Page, readCursor, writeCursor } from '#kernel/page.ts';

const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * A page of a list that is read as a whole. The cursor keeps the last entry, so the next page continues at its place
 * even when the entry is gone.
 */
export function sliceOf<P, T extends P>(
  { deps }: Pick<Call, 'deps'>,
  all: readonly T[],
  options: {
    limit: number;
    cursor?: string | undefined;
    scope: string;
    keyOf: (entry: P) => string;
    /** The fields that the order needs, and no others, because cursors are short. */
    placeOf: (entry: T) => P;
    order: (a: P, b: P) => number;
  },
): { items: T[]; page: Page } {
  const begin =
    options.cursor === undefined
      ? 0
      : placeAfter(all, readCursor(deps.keys, options.scope, options.cursor).values, options);
  const items = all.slice(begin, begin + options.limit);
  const end = items.at(-1);
  const more = begin + options.limit < all.length && end !== undefined;
  return {
    items,
    page: {
      cursor: more
        ? writeCursor(deps.keys, options.scope, {
            values: [options.keyOf(end), JSON.stringify(options.placeOf(end))],
            id: NO_ID,
          })
        : null,
      hasMore: more,
      ...(options.cursor === undefined ? { total: all.length } : {}),
    },
  };
}

function placeAfter<P>(
  all: readonly P[],
  [key, entry]: readonly unknown[],
  { keyOf, order }: { keyOf: (entry: P) => string; order: (a: P, b: P) => number },
): number {
  const at = all.findIndex((one) => keyOf(one) === key);
  if (at >= 0 || typeof entry !== 'string') return at + 1;
  const last = JSON.parse(entry) as P; // signed by this server
  const next = all.findIndex((one) => order(one, last) > 0);
  return next < 0 ? all.length : next;
}
