import type { Knex } from 'knex';
import type { SmartRules } from '#areas/items/public.ts';
import { onlyShownCollections } from '#identity/collection-sight.ts';
import type { Principal } from '#identity/principal.ts';
import { conflict } from '#kernel/errors.ts';
import { breaks, type Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { sortTitle } from '#platform/sort-title.ts';
import type { Row } from '#platform/typed-query.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'collections.rules': SmartRules | null;
    'collections.pinned': ('library' | 'home')[];
  }
}

/** A collection with the name of its owner. */
export interface CollectionRow extends Row<'collections'> {
  owner_name: string | null;
}

/** Collections of an account. */
const MOST = 1000;

/**
 * Collections as `c` that are shared with the caller. Manual ones of others without a visible item are left out; smart ones
 * are all included. Those of catalogues need `autoMin` items in the libraries; 0 is never.
 */
export function selectCollections(db: Db, who: Principal, autoMin: number): Knex.QueryBuilder<object, CollectionRow[]> {
  const parts = `select from collection_items part join items there on there.id = part.item_id
    where part.collection_id = c.id and there.trashed_at is null`;
  return db
    .from('collections as c')
    .leftJoin('accounts as o', 'o.id', 'c.owner_id')
    .modify(onlyShownCollections, who)
    .whereRaw(`(c.source = 'person' or (? > 0 and exists (${parts} offset greatest(?::int - 1, 0))))`, [
      autoMin,
      autoMin,
    ])
    .select('c.*', 'o.display_name as owner_name') as Knex.QueryBuilder<object, CollectionRow[]>;
}

/** Locks the row, so that changes of one collection wait for each other. */
export async function lockCollection(db: Db, id: string): Promise<void> {
  await db('collections').where({ id }).forUpdate().select('id');
}

export interface CollectionInsert {
  name: string;
  overview: string | null;
  kind: 'manual' | 'smart';
  ownerId: string | null;
  sharing: Row<'collections'>['sharing'];
  rules: SmartRules | null;
  sort: string | null;
  pinned: readonly ('library' | 'home')[];
}

/** Throws 409 `duplicate-name` and `too-many-collections`. */
export async function insertCollection(
  db: Db,
  { name, ownerId, rules, pinned, ...more }: CollectionInsert,
): Promise<string> {
  await db.raw(`select pg_advisory_xact_lock(hashtextextended('collections:' || ?, 0))`, [ownerId ?? 'server']);
  const [row] = await db('collections').where({ owner_id: ownerId, source: 'person' }).count({ count: '*' });
  if (Number(row?.count ?? 0) >= MOST)
    throw conflict('too-many-collections', `At most ${MOST} collections`, { limit: MOST });
  const id = newId();
  await unlessTaken(() =>
    db('collections').insert({
      ...{ id, ...more, ...namesOf(db, name), owner_id: ownerId },
      ...{ rules: rules && JSON.stringify(rules), pinned: [...pinned] },
    }),
  );
  return id;
}

/** Columns of a name, sorted by itself without its article. */
export const namesOf = (db: Db, name: string, sortName = sortTitle(name)) => ({
  ...{ name, sort_name: sortName },
  ...{ name_folded: db.raw('foyer_fold(?)', [name]), sort_folded: db.raw('foyer_fold(?)', [sortName]) },
});

async function unlessTaken<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (breaks(error, 'collections_own_name')) throw conflict('duplicate-name', 'Another collection has this name');
    throw error;
  }
}

/** Writes columns, and the time by which kept counts are known. Throws 409 `duplicate-name`. */
export async function updateCollectionRow(db: Db, id: string, columns: Record<string, unknown>): Promise<void> {
  await unlessTaken(() =>
    db('collections')
      .where({ id })
      .update({ ...columns, updated_at: db.raw('clock_timestamp()') }),
  );
}

/** Deletes it; one of a catalogue does not come back. */
export async function deleteCollectionRow(
  db: Db,
  { id, agent_key: key }: Pick<CollectionRow, 'id' | 'agent_key'>,
): Promise<void> {
  if (key !== null) await db('collection_tombstones').insert({ agent_key: key }).onConflict('agent_key').ignore();
  await db('collections').where({ id }).delete();
}

/** Accounts that it is shared with by name. */
export async function accountsOf(db: Db, id: string): Promise<{ userId: string; displayName: string }[]> {
  const rows = await db('collection_accounts as named')
    .join('accounts as a', 'a.id', 'named.account_id')
    .where('named.collection_id', id)
    .whereNull('a.deleted_at')
    .orderBy(['a.display_name', 'a.id'])
    .select<{ id: string; display_name: string }[]>('a.id', 'a.display_name');
  return rows.map((row) => ({ userId: row.id, displayName: row.display_name }));
}

export async function writeAccounts(db: Db, id: string, accountIds: readonly string[]): Promise<void> {
  await db('collection_accounts').where({ collection_id: id }).delete();
  if (accountIds.length > 0)
    await db('collection_accounts').insert(accountIds.map((account) => ({ collection_id: id, account_id: account })));
}

/** Names another label in rules, after two became one. */
export async function renameLabelInRules(db: Db, from: string, to: string): Promise<void> {
  await db.raw(
    `update collections set rules = replace(rules::text, ?, ?)::jsonb, updated_at = clock_timestamp() where rules::text like ?`,
    [from, to, `%${from}%`],
  );
}

/**
 * Passes the collections of an account on before it is deleted: shared ones to the heir, or to the server without one. Private
 * ones go. A name that is taken there gets a number.
 */
export async function passOnCollections(db: Db, accountId: string, heirId: string | null): Promise<void> {
  await db('collections').where({ owner_id: accountId, sharing: 'private' }).delete();
  const rows = await db('collections').where({ owner_id: accountId }).select('id', 'name', 'sort_name');
  for (const row of rows) {
    const name = await freeName(db, heirId, row.name);
    await db('collections')
      .where({ id: row.id })
      .update({ ...namesOf(db, name, row.sort_name), owner_id: heirId, updated_at: db.raw('clock_timestamp()') });
  }
}

async function freeName(db: Db, ownerId: string | null, name: string): Promise<string> {
  const isTaken = async (one: string): Promise<boolean> =>
    (await db('collections')
      .where({ owner_id: ownerId, source: 'person' })
      .whereRaw('name_folded = foyer_fold(?)', [one])
      .first('id')) !== undefined;
  let free = name;
  for (let n = 2; await isTaken(free); n++) free = `${name.slice(0, 110)} (${n})`;
  return free;
}
