import { createHash } from 'node:crypto';
import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import { type Page, readCursor, writeCursor } from '#kernel/page.ts';
import type { LibraryRow } from '../listing/shelves.store.ts';
import type { LibraryChange } from '../listing.schemas.ts';
import { findChanges, findStateChanges, type Since } from './changes.store.ts';

const KEPT_MS = 30 * 86_400_000;
const NO_ID = '00000000-0000-0000-0000-000000000000';

/**
 * Changes in a library since a cursor, one entry an item, in order of the library's sequence; with `state`, then
 * changes of the caller's own state. Every page has a cursor from which the next request continues.
 */
export async function libraryChanges(
  call: Call,
  library: LibraryRow,
  options: { since?: string | undefined; state: boolean; limit: number },
): Promise<{ items: LibraryChange[]; page: Page }> {
  const scope = `listLibraryChanges|${library.id}|${call.who.profileId}`;
  const cursor = (since: Since): string =>
    writeCursor(call.deps.keys, scope, {
      values: [since.seq, since.at.getTime(), since.stateAt, since.stateId, visibilityOf(call)],
      id: since.id,
    });
  if (options.since === undefined) {
    const now: Since = {
      seq: library.change_seq,
      id: LAST_ID,
      at: call.now,
      stateAt: call.now.toISOString(),
      stateId: NO_ID,
    };
    return { items: [], page: { cursor: cursor(now), hasMore: false } };
  }
  const { values, id } = readCursor(call.deps.keys, scope, options.since);
  const since: Since = {
    seq: Number(values[0]),
    id,
    at: new Date(Number(values[1])),
    stateAt: String(values[2]),
    stateId: String(values[3]),
  };
  if (call.now.getTime() - since.at.getTime() > KEPT_MS) {
    throw conflict('cursor-expired', 'Changes are kept for 30 days; read the list again');
  }
  if (values[4] !== undefined && values[4] !== visibilityOf(call)) {
    throw conflict('cursor-expired', 'The visibility rules of the caller have changed; read the list again');
  }
  return read(call, library, { since, options, cursor });
}

/** Hash of the account's visibility rules. A change of these rules has no entry for each item. */
function visibilityOf({ who }: Call): string {
  const { ageLimit = null, hideUnrated, labels = null } = who.sees;
  return createHash('sha256')
    .update(JSON.stringify([ageLimit, hideUnrated, labels]))
    .digest('base64url')
    .slice(0, 16);
}

/** The greatest id: all entries with this sequence number were read. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

async function read(
  call: Call,
  library: LibraryRow,
  {
    since,
    options,
    cursor,
  }: { since: Since; options: { state: boolean; limit: number }; cursor: (since: Since) => string },
): Promise<{ items: LibraryChange[]; page: Page }> {
  const changes = await findChanges(call, library.id, { since, limit: options.limit + 1 });
  const kept = changes.slice(0, options.limit);
  const last = kept.at(-1);
  const reached: Since = last ? { ...since, seq: last.seq, id: last.itemId } : since;
  const room = options.limit - kept.length;
  const states =
    options.state && changes.length <= options.limit
      ? await findStateChanges(call, library, { since, limit: room + 1 })
      : [];
  const own = states.slice(0, room);
  const lastOwn = own.at(-1);
  const more = changes.length > options.limit || states.length > room;
  const to: Since = { ...reached, ...(lastOwn ? { stateAt: lastOwn.stateAt, stateId: lastOwn.change.itemId } : {}) };
  return {
    items: [...kept, ...own.map((one) => one.change)],
    page: { cursor: cursor(more ? to : { ...to, at: call.now }), hasMore: more },
  };
}
