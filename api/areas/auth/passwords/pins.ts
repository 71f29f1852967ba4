import { countWrongPin, updateProfile } from '#areas/accounts/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { passwordMatches } from './passwords.ts';

const WRONG = 5;
const BLOCKED_SECONDS = 900;

/**
 * Counts one of five attempts in 15 minutes before comparing the PIN, so that concurrent requests get no extra attempts; 429 while
 * blocked. A right PIN resets the count.
 */
export async function checkPin(
  { db }: Call,
  profile: { id: string; pin_hash: string | null },
  pin: string,
): Promise<void> {
  const counted = await countTry(db, profile.id);
  if (counted.blocked_s !== null)
    throw new ApiError('RATE_LIMITED', 'Too many wrong PINs', { retryAfterSec: counted.blocked_s });
  if (!(await passwordMatches(profile.pin_hash, pin))) throw wrongPin(counted.left);
  await openPins(db, { id: profile.id });
}

export function wrongPin(triesLeft: number): ApiError {
  return new ApiError('FORBIDDEN', 'The PIN is wrong', { by: 'pin', triesLeft });
}

async function countTry(db: Db, id: string): Promise<{ left: number; blocked_s: number | null }> {
  const counted = await countWrongPin(db, id, { most: WRONG, blockedSec: BLOCKED_SECONDS });
  if (!counted) throw new Error('no row');
  return counted;
}

/** Resets the attempts that block the PINs. */
export async function openPins(db: Db, where: { id: string } | { account_id: string }): Promise<void> {
  await updateProfile(db, where, { pin_wrong: [], pin_blocked_until: null });
}
