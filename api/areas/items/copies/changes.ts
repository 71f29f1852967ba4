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
 * What changed in a library since a cursor, one entry an item, in order of the library's own sequence; then, when asked,
 * what changed of the caller's own state. The cursor always comes back: the next call goes on from it.
 */
export async function libraryChanges(
  call: Call,
  library: LibraryRow,
  wish: { since?: string | undefined; state: boolean; limit: number },
): Promise<{ items: LibraryChange[]; page: Page }> {
  const scope = `listLibraryChanges|${library.id}|${call.who.profileId}`;
  const cursor = (since: Since): string =>
    writeCursor(call.deps.keys, scope, {
      values: [since.seq, since.at.getTime(), since.stateAt, since.stateId, sightOf(call)],
      id: since.id,
    });
  if (wish.since === undefined) {
    const now: Since = {
      seq: library.change_seq,
      id: LAST_ID,
      at: call.now,
      stateAt: call.now.toISOString(),
      stateId: NO_ID,
    };
    return { items: [], page: { cursor: cursor(now), hasMore: false } };
  }
  const { values, id } = readCursor(call.deps.keys, scope, wish.since);
  const since: Since = {
    seq: Number(values[0]),
    id,
    at: new Date(Number(values[1])),
    stateAt: String(values[2]),
    stateId: String(values[3]),
  };
  if (call.now.getTime() - since.at.getTime() > KEPT_MS) {
    throw conflict('cursor-expired', 'Changes are kept for 30 days; list anew');
  }
  if (values[4] !== undefined && values[4] !== sightOf(call)) {
    throw conflict('cursor-expired', 'What may be seen has changed since; list anew');
  }
  return read(call, library, { since, wish, cursor });
}

/** What of a library is seen, in short: nothing tells item by item what rules of an account hide or show. */
function sightOf({ who }: Call): string {
  const { ageLimit = null, hideUnrated, labels = null } = who.sees;
  return createHash('sha256')
    .update(JSON.stringify([ageLimit, hideUnrated, labels]))
    .digest('base64url')
    .slice(0, 16);
}

/** No id is greater: the sequence up to and with its number was read. */
const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff';

async function read(
  call: Call,
  library: LibraryRow,
  { since, wish, cursor }: { since: Since; wish: { state: boolean; limit: number }; cursor: (since: Since) => string },
): Promise<{ items: LibraryChange[]; page: Page }> {
  const changes = await findChanges(call, library.id, { since, limit: wish.limit + 1 });
  const kept = changes.slice(0, wish.limit);
  const last = kept.at(-1);
  const reached: Since = last ? { ...since, seq: last.seq, id: last.itemId } : since;
  const room = wish.limit - kept.length;
  const states =
    wish.state && changes.length <= wish.limit ? await findStateChanges(call, library, { since, limit: room + 1 }) : [];
  const own = states.slice(0, room);
  const lastOwn = own.at(-1);
  const more = changes.length > wish.limit || states.length > room;
  const to: Since = { ...reached, ...(lastOwn ? { stateAt: lastOwn.stateAt, stateId: lastOwn.change.itemId } : {}) };
  return {
    items: [...kept, ...own.map((one) => one.change)],
    page: { cursor: cursor(more ? to : { ...to, at: call.now }), hasMore: more },
  };
}
