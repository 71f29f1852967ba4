// What providers found: bound to the account and the item, and deleted after a day.
import { notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Found } from '../providers/provider.ts';
import type { ProviderOutcome } from './find.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'subtitle_searches.candidates': Finding[];
    'subtitle_searches.providers': ProviderOutcome[];
  }
}

/** A subtitle at a provider, with its score. */
export interface Finding extends Found {
  provider: string;
  providerName: string;
  score: number;
}

export type Search = Row<'subtitle_searches'>;

export interface NewSearch {
  accountId: string;
  itemId: string;
  question: string;
  counted: boolean;
  languages: readonly string[];
  candidates: readonly Finding[];
  providers: readonly ProviderOutcome[];
  /** Absent is now. */
  queriedAt?: Date;
}

/** Saves a search with its findings. */
export async function insertSearch(db: Db, search: NewSearch): Promise<Search> {
  const [row] = await db('subtitle_searches')
    .insert({
      ...{ id: newId(), account_id: search.accountId, item_id: search.itemId, question: search.question },
      ...{ counted: search.counted, languages: [...search.languages] },
      ...{ candidates: JSON.stringify(search.candidates), providers: JSON.stringify(search.providers) },
      queried_at: search.queriedAt ?? db.fn.now(),
    })
    .returning('*');
  if (!row) throw new Error('the search was not saved');
  return row;
}

/** Adds what the providers answered to a search that was saved before the requests. */
export async function fillSearch(
  db: Db,
  id: string,
  { candidates, providers }: Pick<NewSearch, 'candidates' | 'providers'>,
): Promise<Search> {
  const [row] = await db('subtitle_searches')
    .where({ id })
    .update({
      ...{ candidates: JSON.stringify(candidates), providers: JSON.stringify(providers), queried_at: db.fn.now() },
    })
    .returning('*');
  if (!row) throw notFound(); // the item was removed meanwhile
  return row;
}

/** Removes a search that no provider answered, so that it does not count. */
export async function deleteSearch(db: Db, id: string): Promise<void> {
  await db('subtitle_searches').where({ id }).delete();
}

/** An equal search whose requests to the providers are at most 10 minutes old, and which every provider answered. */
export async function findEqualSearch(db: Db, question: string): Promise<Search | undefined> {
  return db('subtitle_searches')
    .where({ question })
    .whereRaw(`queried_at > now() - interval '10 minutes'`)
    .whereRaw(`jsonb_array_length(providers) > 0 and not providers @> '[{"ok": false}]'`)
    .orderBy('queried_at', 'desc')
    .first('*');
}

const ID = /^([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})\.(\d{1,3})$/;

/** The id under which a finding is fetched. */
export const findingId = (search: Pick<Search, 'id'>, place: number): string => `${search.id}.${place}`;

export interface Reach {
  itemId: string;
  withinMinutes: number;
  /** Absent is any account's. */
  accountId?: string;
}

/** A finding for the item, not older than the time. */
export async function findFinding(db: Db, id: string, reach: Reach): Promise<Finding | undefined> {
  const [, searchId, place] = ID.exec(id) ?? [];
  if (searchId === undefined) return undefined;
  const row = await db('subtitle_searches')
    .where({ id: searchId, item_id: reach.itemId, ...(reach.accountId && { account_id: reach.accountId }) })
    .whereRaw(`made_at > now() - ? * interval '1 minute'`, [reach.withinMinutes])
    .first('candidates');
  return row?.candidates[Number(place)];
}

/** Searches of an account that count, in the last hour. */
export interface Hour {
  made: number;
  /** When the oldest of them no longer counts. */
  freeAt: Date | null;
}

export async function countSearches(db: Db, accountId: string): Promise<Hour> {
  const { rows } = await db.raw<{ rows: { made: number; free_at: Date | null }[] }>(
    `select count(*)::int as made, min(made_at) + interval '1 hour' as free_at from subtitle_searches
     where account_id = ? and counted and made_at > now() - interval '1 hour'`,
    [accountId],
  );
  return { made: rows[0]?.made ?? 0, freeAt: rows[0]?.free_at ?? null };
}

const LEASE_SEC = 20;

/** Begins the only search of an account. Returns the lease, or undefined while another one runs. */
export async function takeLease(db: Db, accountId: string): Promise<string | undefined> {
  const token = newId();
  const { rows } = await db.raw<{ rows: { token: string }[] }>(
    `insert into subtitle_leases as l (account_id, token, until) values (:account, :token, now() + :sec * interval '1 s')
     on conflict (account_id) do update set token = excluded.token, until = excluded.until where l.until <= now()
     returning token`,
    { account: accountId, token, sec: LEASE_SEC },
  );
  return rows[0]?.token;
}

/** Ends a search. Another lease stays. */
export async function endLease(db: Db, accountId: string, token: string): Promise<void> {
  await db('subtitle_leases').where({ account_id: accountId, token }).delete();
}

/** True while a search of the account runs. */
export async function isSearching(db: Db, accountId: string): Promise<boolean> {
  const row = await db('subtitle_leases').where({ account_id: accountId }).whereRaw('until > now()').first('token');
  return row !== undefined;
}

/** Deletes searches whose findings can no longer be fetched. */
export async function trimSearches(db: Db): Promise<number> {
  return db('subtitle_searches').whereRaw(`made_at < now() - interval '25 hours'`).delete();
}
