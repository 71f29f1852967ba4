import { notify } from '#areas/notifications/public.ts';
import { requireConfirmed, requireGrownUp, requireMain } from '#identity/person.ts';
import { may, requirePermission } from '#identity/principal.ts';
import { audit } from '#kernel/audit.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { ApiError, conflict, notFound } from '#kernel/errors.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { ApiKey, ApiKeyChange, ApiKeyDraft, ApiKeysQuery, apiKeySorts, NewApiKey } from './api-keys.schemas.ts';
import {
  type ApiKeyRow,
  getKey,
  lockKey,
  revokeKey as markRevoked,
  selectKeys,
  toApiKey,
  updateKey,
} from './api-keys.store.ts';
import { createKey, refuseExpiry, refuseScopes } from './create-key.ts';

export const listApiKeys = defineEndpoint({
  operationId: 'listApiKeys',
  method: 'get',
  path: '/api-keys',
  summary: 'List API keys',
  description:
    'Lists the caller’s own keys, newest first; `userId` selects another account or `all` and needs `user:manage`. Ended keys stay in the list for 30 days. No secret is ever included. An API key, a child or guest account, and a profile other than the main one get 403.',
  access: { person: true },
  query: ApiKeysQuery,
  answer: page(ApiKey),

  async handle({ query }, call) {
    requireHolder(call);
    const { db, who, deps } = call;
    const { cursor, limit, sort, userId = who.accountId, state } = query;
    if (userId !== who.accountId) requirePermission(who, 'user:manage');
    const accountId = userId === 'all' ? undefined : userId;
    return pageOf<ApiKeyRow, ApiKey>(db, selectKeys(db, { accountId, state }), {
      keys: deps.keys,
      terms: parseSort(sort, apiKeySorts, '-createdAt'),
      cursor,
      limit,
      scope: JSON.stringify(['listApiKeys', userId, state]),
      idColumn: 'k.id',
      toItem: toApiKey,
    });
  },
});

export const createApiKey = defineEndpoint({
  operationId: 'createApiKey',
  method: 'post',
  path: '/api-keys',
  summary: 'Create an API key',
  description:
    'Needs a confirmed session. The answer shows the secret once. Scopes that the account does not have are 403 with `details.scopes`. An account has at most 50 active keys (409 `too-many-keys`). A key that is bound to another profile has at most the permissions and the visibility of that profile.',
  access: { person: true },
  body: ApiKeyDraft,
  answer: json(201, NewApiKey),
  unrepeated: ['secret'],
  errors: ['CONFLICT', 'NOT_FOUND'], // for an unknown profileId

  async handle({ body }, call) {
    requireHolder(call);
    requireConfirmed(call.who, call.now);
    const { id, secret } = await createKey(call, body);
    call.reply.header('Cache-Control', 'no-store');
    return { ...toApiKey(await getKey(call.db, id)), secret };
  },
});

export const updateApiKey = defineEndpoint({
  operationId: 'updateApiKey',
  method: 'patch',
  path: '/api-keys/:id',
  summary: 'Change an API key of the caller',
  description:
    'Takes effect with the next request. Adding a scope, a later expiry and a higher limit need a confirmed session. An expired or revoked key stays ended (409 `not-active`), and the key of the operator is 409 `managed-by-resource`. The secret does not change.',
  access: { person: true },
  params: IdParams,
  body: ApiKeyChange,
  answer: json(200, ApiKey),
  errors: ['CONFLICT'],

  async handle({ params, body }, call) {
    requireHolder(call);
    const row = await lockKey(call.db, params.id);
    if (!row || !holds(call, row)) throw notFound();
    refuseManaged(row);
    if (row.state !== 'active')
      throw conflict('not-active', 'An expired or revoked key stays ended: create another one');
    if (widens(row, body)) requireConfirmed(call.who, call.now);
    if (body.scopes) refuseScopes(call, body.scopes);
    if (body.expiresAt !== undefined) refuseExpiry(call, body.expiresAt);
    await updateKey(call.db, row.id, body);
    await audit(call, 'api-key.changed', { keyId: row.id, before: row.scopes, after: body.scopes ?? row.scopes });
    return toApiKey(await getKey(call.db, row.id));
  },
});

export const revokeApiKey = defineEndpoint({
  operationId: 'revokeApiKey',
  method: 'delete',
  path: '/api-keys/:id',
  summary: 'Revoke an API key',
  description:
    'Takes effect with the next request; event streams and downloads of the key are closed within seconds. With `user:manage` the keys of other accounts can be revoked too, except those of the owner, and the holder of the key is notified. Revoking it again is 204.',
  access: { person: true },
  params: IdParams,
  answer: none(),
  errors: ['CONFLICT'],

  async handle({ params }, call) {
    requireHolder(call);
    const row = await lockKey(call.db, params.id);
    if (!row || !mayRevoke(call, row)) throw notFound();
    refuseManaged(row);
    if (!(await markRevoked(call.db, row.id))) return;
    await audit(call, 'api-key.revoked', { keyId: row.id, scopes: row.scopes });
    if (!isOwn(call, row)) await notifyHolder(call, row);
  },
});

/** 403 for other than the main profile, and for roles that cannot hold keys. */
function requireHolder({ who }: Call): void {
  requireGrownUp(who);
  requireMain(who);
}

const isOwn = ({ who }: Call, row: ApiKeyRow): boolean => row.account_id === who.accountId;

async function notifyHolder({ db, who }: Call, { id, account_id: accountId, name }: ApiKeyRow): Promise<void> {
  const to = { accountIds: [accountId] };
  await notify(db, {
    kind: 'api-key-changed',
    to,
    target: { kind: 'api-key', id },
    actorId: who.accountId,
    data: { name },
  });
}

/** Own keys; for the owner also the key of the operator, whose answer has `managedBy`. */
const holds = (call: Call, row: ApiKeyRow): boolean => isOwn(call, row) || (row.operator && call.who.role === 'owner');

const mayRevoke = (call: Call, row: ApiKeyRow): boolean =>
  holds(call, row) || (may(call.who, 'user:manage') && row.role !== 'owner' && !row.operator);

function refuseManaged({ operator, managed_by: managedBy }: ApiKeyRow): void {
  if (!operator) return;
  throw new ApiError('CONFLICT', 'The operator rotates its own key', {
    reason: 'managed-by-resource',
    fields: ['scopes', 'expiresAt'],
    ...(managedBy && { managedBy }),
  });
}

/** Whether the change adds a scope, raises the limit or extends the expiry. */
function widens(row: ApiKeyRow, change: ApiKeyChange): boolean {
  const scope = change.scopes?.some((wanted) => !row.scopes.includes(wanted)) ?? false;
  const limit = (change.requestsPerMinute ?? 0) > row.per_minute;
  return scope || limit || expiresLater(row.expires_at, change.expiresAt);
}

function expiresLater(before: Date | null, wanted: string | null | undefined): boolean {
  if (wanted === undefined || before === null) return false;
  return wanted === null || Date.parse(wanted) > before.getTime();
}
