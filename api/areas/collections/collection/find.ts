import type { Knex } from 'knex';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import type { Collection } from '../collections.schemas.ts';
import { isMine, mayEdit, toCollections } from './answer.ts';
import { type CollectionRow, lockCollection, selectCollections } from './collections.store.ts';
import { factsOf } from './facts.ts';

/** The collections that the caller may see, before smart ones of others are tried. */
export const sharedWith = ({ db, who, deps }: Pick<Call, 'db' | 'who' | 'deps'>) =>
  selectCollections(db, who, deps.settings.get('collections.autoMin'));

/** Undefined for an unknown collection, a hidden one, and one of others in which the caller sees nothing. */
export async function findCollectionRow(call: Call, id: string): Promise<CollectionRow | undefined> {
  const [row] = await sharedWith(call).where('c.id', id);
  return row?.kind === 'smart' && !(await showsAny(call, row)) ? undefined : row;
}

/** The collections that the caller sees among those of a condition on `collections as c`, in its order. */
export async function findCollections(
  call: Call,
  narrow: (query: Knex.QueryBuilder) => unknown,
): Promise<Collection[]> {
  const rows: CollectionRow[] = await sharedWith(call).modify(narrow);
  const shown: CollectionRow[] = [];
  for (const row of rows) if (row.kind !== 'smart' || (await showsAny(call, row))) shown.push(row);
  return toCollections(call, shown);
}

/** Throws 404 instead of undefined. */
export async function getCollectionRow(call: Call, id: string): Promise<CollectionRow> {
  const row = await findCollectionRow(call, id);
  if (!row) throw notFound();
  return row;
}

async function showsAny(call: Call, row: CollectionRow): Promise<boolean> {
  if (isMine(call.who, row) || (row.owner_id === null && mayEdit(call.who, row) && call.who.sees.all)) return true;
  return ((await factsOf(call, [row])).get(row.id)?.itemCount ?? 0) > 0;
}

/** `getCollectionRow` under a lock. Throws 403 for those who see it but may not edit it. */
export async function lockEditable(call: Call, id: string): Promise<CollectionRow> {
  await lockCollection(call.db, id);
  const row = await getCollectionRow(call, id);
  if (!mayEdit(call.who, row)) {
    const details = row.owner_id === null ? { permission: 'item:edit' as const } : { by: 'owner' };
    throw new ApiError('FORBIDDEN', 'Only its editors may change a collection', details);
  }
  return row;
}

/** Rows of Home that pinned collections make at most. */
const MOST_PINNED = 10;

/** Collections that are shown on the Home of the caller, by name. */
export async function pinnedToHome(call: Call): Promise<CollectionRow[]> {
  return sharedWith(call).whereRaw(`'home' = any(c.pinned)`).orderBy(['c.sort_folded', 'c.id']).limit(MOST_PINNED);
}
