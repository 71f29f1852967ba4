import { isEditingAdmin } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import type { SubtitleAllowance } from './allowance.schemas.ts';
import { type Allowance, countUses, type Spent, spendUse, type Use } from './uses.store.ts';

/** The caller's uses a day; undefined for those who spend nothing. */
export function allowanceOf({ who, deps: { settings } }: Pick<Call, 'who' | 'deps'>): Allowance | undefined {
  if (isEditingAdmin(who)) return undefined;
  const own = who.limits.subtitleDaily;
  return { limit: own ?? settings.get('subtitles.dailyAllowance'), timeZone: settings.get('server.timeZone') };
}

/** The uses that the caller has today; undefined for those who spend nothing. */
export async function readAllowance(call: Pick<Call, 'who' | 'deps' | 'db'>): Promise<SubtitleAllowance | undefined> {
  const allowance = allowanceOf(call);
  if (!allowance) return undefined;
  return shown(await countUses(call.db, call.who.accountId, allowance.timeZone), allowance);
}

function shown({ used, resetsAt }: Spent, { limit }: Allowance): SubtitleAllowance {
  return { limit, used, left: Math.max(0, limit - used), resetsAt: iso(resetsAt) };
}

/**
 * Spends a use in the transaction that starts the work. Returns its id; undefined for those who spend nothing. Throws
 * 429 when none is left today.
 */
export async function spendFor(call: Call, use: Omit<Use, 'accountId'>): Promise<string | undefined> {
  const allowance = allowanceOf(call);
  if (!allowance) return undefined;
  const spent = await spendUse(call.db, { ...use, accountId: call.who.accountId }, allowance);
  if ('id' in spent) return spent.id;
  const retryAfterSec = Math.max(1, Math.ceil((spent.resetsAt.getTime() - call.now.getTime()) / 1000));
  throw new ApiError('RATE_LIMITED', 'The uses of today are spent', { retryAfterSec });
}
