import type { Permission } from '#identity/permissions.ts';
import { may } from '#identity/principal.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid, notFound } from '#kernel/errors.ts';
import type { ApiKeyDraft } from './api-keys.schemas.ts';
import { countActive, findOwnProfile, insertKey, MOST_ACTIVE } from './api-keys.store.ts';

const MINUTE_MS = 60_000;
const TEN_YEARS_MS = 10 * 365.25 * 86_400_000;

/** Creates a key for the account of the caller. Throws 409 `too-many-keys`, and 404 for a profile of another account. */
export async function createKey(call: Call, draft: ApiKeyDraft): Promise<{ id: string; secret: string }> {
  refuseScopes(call, draft.scopes);
  refuseExpiry(call, draft.expiresAt);
  const { db, who, client } = call;
  const profileId = draft.profileId ? await boundProfile(call, draft.profileId) : null;
  if ((await countActive(db, who.accountId)) >= MOST_ACTIVE) throw conflict('too-many-keys', 'Revoke one first');
  const made = await insertKey(db, {
    accountId: who.accountId,
    profileId,
    name: draft.name,
    scopes: draft.scopes,
    perMinute: draft.requestsPerMinute,
    expiresAt: draft.expiresAt,
    from: { deviceName: client.name ?? null, address: client.address },
  });
  await audit(call, 'api-key.created', { keyId: made.id, scopes: draft.scopes });
  return made;
}

/** A key of the main profile is bound to no profile. */
async function boundProfile({ db, who }: Call, id: string): Promise<string | null> {
  const profile = await findOwnProfile(db, who.accountId, id);
  if (!profile) throw notFound();
  return profile.main ? null : id;
}

/** 403 with every scope that the account does not have. */
export function refuseScopes({ who }: Call, scopes: readonly Permission[]): void {
  const lacking = scopes.filter((scope) => !may(who, scope));
  if (lacking.length === 0) return;
  throw new ApiError('FORBIDDEN', 'The account does not have these scopes', { scopes: lacking });
}

/** 400 for an expiry that is less than a minute or more than ten years ahead. */
export function refuseExpiry({ now }: Call, expiresAt: string | null): void {
  if (expiresAt === null) return;
  const ahead = Date.parse(expiresAt) - now.getTime();
  if (ahead < MINUTE_MS) throw invalid(['body', 'expiresAt'], 'too_small', 'at least a minute ahead');
  if (ahead > TEN_YEARS_MS) throw invalid(['body', 'expiresAt'], 'too_big', 'at most ten years ahead');
}
