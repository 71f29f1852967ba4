import type { Call } from '#kernel/endpoint.ts';
import { type Page, readCursor, writeCursor } from '#kernel/page.ts';

const NO_ID = '00000000-0000-0000-0000-000000000000';

/** A page of a list that is read whole anyway: the cursor keeps the last entry, so that the page goes on behind its place also once it went away. */
export function sliceOf<P, T extends P>(
  { deps }: Pick<Call, 'deps'>,
  all: readonly T[],
  ask: {
    limit: number;
    cursor?: string | undefined;
    scope: string;
    keyOf: (entry: P) => string;
    /** What the order goes by, and no more: cursors are short. */
    placeOf: (entry: T) => P;
    order: (a: P, b: P) => number;
  },
): { items: T[]; page: Page } {
  const begin = ask.cursor === undefined ? 0 : behind(all, readCursor(deps.keys, ask.scope, ask.cursor).values, ask);
  const items = all.slice(begin, begin + ask.limit);
  const end = items.at(-1);
  const more = begin + ask.limit < all.length && end !== undefined;
  return {
    items,
    page: {
      cursor: more
        ? writeCursor(deps.keys, ask.scope, { values: [ask.keyOf(end), JSON.stringify(ask.placeOf(end))], id: NO_ID })
        : null,
      hasMore: more,
      ...(ask.cursor === undefined ? { total: all.length } : {}),
    },
  };
}

function behind<P>(
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
