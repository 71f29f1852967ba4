import { ApiError } from '#kernel/errors.ts';
import type { Principal } from './principal.ts';

/** 403 in a profile other than the main one, which alone manages account, keys and profiles. */
export function requireMain(who: Principal): void {
  if (who.mainProfile) return;
  throw new ApiError('FORBIDDEN', 'Only the main profile may', { by: 'profile' });
}

/** 403 unless the session is in the main profile and confirmed; for changes of sign-in methods. */
export function requireConfirmedMain(who: Principal, now: Date): void {
  requireMain(who);
  requireConfirmed(who, now);
}

/** Id of the session of the request. Throws 403 for API keys, which have none. */
export function sessionOf(who: Principal): string {
  if (who.sessionId !== undefined) return who.sessionId;
  throw new ApiError('FORBIDDEN', 'This kind of credential is not accepted here', { by: 'api-key' });
}

/** 403 for child and guest accounts. */
export function requireGrownUp(who: Principal): void {
  if (who.role !== 'child' && who.role !== 'guest') return;
  throw new ApiError('FORBIDDEN', 'Accounts of this role may not', { by: 'role' });
}

/** 403 unless the session was confirmed within the last ten minutes. */
export function requireConfirmed(who: Principal, now: Date): void {
  if (who.confirmedUntil && who.confirmedUntil > now) return;
  throw new ApiError('FORBIDDEN', 'Confirm that it is you', { by: 'confirm', methods: [...(who.confirmBy ?? [])] });
}
