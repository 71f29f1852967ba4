import type { Knex } from 'knex';
import { itemsMatching } from '#areas/items/public.ts';
import type { Principal } from '#identity/principal.ts';
import type { Call, Deps } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import type { OwnState, StateSelection } from './progress.schemas.ts';
import { clearPositions, leavesOfAll, markLeaves, setFavorites, unmarkLeaves } from './progress.store.ts';
import { emitState } from './state-event.ts';

/** Larger selections run as a job. */
const AT_ONCE = 500;
/** Share by which the number of matching items may differ from the one that the caller saw. */
const TOLERANCE = 0.01;

/** As a request or its job names the items. */
export interface Selection {
  libraryId: string;
  filter?: string | undefined;
  type?: readonly string[] | undefined;
  except: readonly string[];
}

export interface Viewing {
  db: Db;
  who: Principal;
  now: Date;
  deps: Pick<Deps, 'settings'>;
}

/** Sets the caller's own state of all selected items. Throws 409 when the selection is not what the caller saw. */
export async function setSelected(
  call: Call,
  select: StateSelection,
  set: OwnState,
): Promise<{ matched: number; jobId?: string }> {
  const matched = await countSelected(call, select);
  if (Math.abs(matched - select.expect) > Math.ceil(select.expect * TOLERANCE))
    throw conflict('count-changed', `${matched} items match now`, { matched });
  if (matched > AT_ONCE) {
    const { profileId } = call.who;
    return {
      matched,
      jobId: await call.enqueue('playback.mark', { profileId, select, set, at: call.now.toISOString() }),
    };
  }
  const ids = await selectedIds(call, select, { most: AT_ONCE + 1 });
  const changed = await setOwnState(call, ids, { set, at: call.now });
  await emitState(call, { what: whatOf(set), itemIds: changed });
  return { matched };
}

async function matching(
  viewing: Viewing,
  { libraryId, filter, type, except }: Selection,
): Promise<{ query: Knex.QueryBuilder }> {
  const typed = type?.length ? `type:in:${type.join()}` : undefined;
  const { query } = await itemsMatching(viewing, libraryId, [typed, filter].filter(Boolean).join(';'));
  return { query: query.whereRaw('i.id <> all(?::uuid[])', [[...except]]) };
}

async function countSelected(viewing: Viewing, select: Selection): Promise<number> {
  const { query } = await matching(viewing, select);
  const [row] = await viewing.db.from(query.select('i.id').as('some')).count<{ count: number }[]>('* as count');
  return Number(row?.count ?? 0);
}

/** Ids of selected items by id, at most `most`. */
export async function selectedIds(
  viewing: Viewing,
  select: Selection,
  { most, after }: { most: number; after?: string | undefined },
): Promise<string[]> {
  const { query } = await matching(viewing, select);
  if (after) query.where('i.id', '>', after);
  return (await query.orderBy('i.id').limit(most).pluck('i.id')) as string[];
}

/** Favourites are set on the items, watched marks and positions on the playable items in them. Returns the changed ids. */
export async function setOwnState(
  { db, who }: Pick<Viewing, 'db' | 'who'>,
  ids: readonly string[],
  { set, at, countPlay = false }: { set: OwnState; at: Date; countPlay?: boolean },
): Promise<string[]> {
  const { profileId } = who;
  const leaves = await leavesOfAll(db, who, ids);
  if (set.watched === true) await markLeaves(db, { profileId, leaves, at, countPlay });
  if (set.watched === false) await unmarkLeaves(db, { profileId, leaves, at });
  if (set.clearProgress) await clearPositions(db, profileId, leaves);
  if (set.favorite !== undefined) await setFavorites(db, profileId, { ids, favorite: set.favorite });
  return [...ids, ...leaves];
}

export const whatOf = ({ watched, favorite, clearProgress }: OwnState): ('watched' | 'favorite' | 'progress')[] => [
  ...(watched === undefined ? [] : (['watched', 'progress'] as const)),
  ...(clearProgress ? (['progress'] as const) : []),
  ...(favorite === undefined ? [] : (['favorite'] as const)),
];
