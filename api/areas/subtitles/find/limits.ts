import { isEditingAdmin } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import type { SubtitleAllowance } from '../allowance/allowance.schemas.ts';
import { readAllowance } from '../allowance/allowance.ts';
import { countSearches, endLease, takeLease } from './searches.store.ts';

/** Searches an hour of everyone but administrators. */
export const SEARCHES_AN_HOUR = 30;
const LEASE_SEC = 20;

const tooMany = (message: string, retryAfterSec: number): ApiError =>
  new ApiError('RATE_LIMITED', message, { retryAfterSec: Math.max(1, Math.ceil(retryAfterSec)) });

/** Throws 429 when no use is left today or the searches of the hour are made. Returns the allowance and the searches that are left before this one. */
export async function requireSearches(call: Call): Promise<{ allowance: SubtitleAllowance; left: number } | undefined> {
  const allowance = await readAllowance(call);
  if (!allowance) return undefined;
  const secondsTo = (at: Date): number => (at.getTime() - call.now.getTime()) / 1000;
  if (allowance.left === 0) throw tooMany('The uses of today are spent', secondsTo(new Date(allowance.resetsAt)));
  const { made, freeAt } = await countSearches(call.db, call.who.accountId);
  if (made >= SEARCHES_AN_HOUR) throw tooMany('The searches of this hour are made', secondsTo(freeAt ?? call.now));
  return { allowance, left: SEARCHES_AN_HOUR - made };
}

/** One search of an account at a time, on all pods; administrators have no limit. Throws 429. */
export async function oneAtATime<T>(call: Call, search: () => Promise<T>): Promise<T> {
  if (isEditingAdmin(call.who)) return search();
  const { db } = call.deps;
  const lease = await takeLease(db, call.who.accountId);
  if (lease === undefined) throw tooMany('A search of yours is still running', LEASE_SEC);
  try {
    return await search();
  } finally {
    await endLease(db, call.who.accountId, lease);
  }
}
