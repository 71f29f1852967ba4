import { requirePermission } from '#identity/principal.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, invalid, notFound } from '#kernel/errors.ts';
import { forgetPlays } from '../plays.store.ts';
import type { ForgetQuery } from '../stats.schemas.ts';

/** Throws 400 unless exactly one of ids, itemId, before and all says what goes. */
function refuseUnclear({ ids, itemId, before, all }: ForgetQuery): void {
  const given = [ids, itemId, before, all || undefined].filter((one) => one !== undefined);
  if (given.length !== 1) throw invalid(['query'], 'exactly_one', 'exactly one of ids, itemId, before and all');
}

/** Profiles of the account whose history goes. Throws 403, 404. */
async function profilesOf({ db, who }: Call, userId: string | undefined): Promise<string[]> {
  if (userId === undefined) {
    if (who.role === 'child') throw new ApiError('FORBIDDEN', 'A child cannot delete its history', { by: 'child' });
    return [who.profileId];
  }
  requirePermission(who, 'user:manage');
  const profiles = await db('profiles as p')
    .join('accounts as a', 'a.id', 'p.account_id')
    .where({ 'a.id': userId, 'a.role': 'child' })
    .select('p.id');
  if (profiles.length === 0) throw notFound();
  return profiles.map(({ id }: { id: string }) => id);
}

/** Deletes entries of the caller's profile, or of a child. The history of another adult cannot be deleted. */
export async function forgetHistory(call: Call, query: ForgetQuery): Promise<void> {
  const { ids, itemId, before, userId } = query;
  refuseUnclear(query);
  const profileIds = await profilesOf(call, userId);
  await forgetPlays(call.db, { profileIds, ids, itemId, ...(before && { before: new Date(before) }) });
  if (userId) await audit(call, 'history.deleted', { userId });
}
