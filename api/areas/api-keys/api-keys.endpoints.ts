import { notify } from '#areas/notifications/public.ts';
import type { Permission } from '#identity/permissions.ts';
import { requireConfirmed, requireGrownUp, requireMain } from '#identity/person.ts';
import { may, requirePermission } from '#identity/principal.ts';
import { audit } from '#kernel/audit.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid, notFound } from '#kernel/errors.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams } from '#kernel/schemas.ts';
import { ApiKey, ApiKeyChange, ApiKeyDraft, ApiKeysQuery, apiKeySorts, NewApiKey } from './api-keys.schemas.ts';
import {
  type ApiKeyRow,
  countActive,
  findKey,
  insertKey,
  lockKey,
  MOST_ACTIVE,
  revokeKey as markRevoked,
  selectKeys,
  toApiKey,
  updateKey,
} from './api-keys.store.ts';

const MINUTE_MS = 60_000;
const TEN_YEARS_MS = 10 * 365.25 * 86_400_000;

export const listApiKeys = defineEndpoint({
  operationId: 'listApiKeys',
  method: 'get',
  path: '/api-keys',
  summary: 'List API keys',
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
  summary: 'Make an API key; its secret is shown once',
  access: { person: true },
  body: ApiKeyDraft,
  answer: json(201, NewApiKey),
  unrepeated: ['secret'],
  errors: ['CONFLICT', 'NOT_FOUND'], // the profile it is for

  async handle({ body }, call) {
    requireHolder(call);
    requireConfirmed(call.who, call.now);
    refuseScopes(call, body.scopes);
    refuseExpiry(call, body.expiresAt);
    const { db, who, client } = call;
    const profileId = body.profileId ? await ownProfile(call, body.profileId) : null;
    if ((await countActive(db, who.accountId)) >= MOST_ACTIVE) throw conflict('too-many-keys', 'Revoke one first');
    const { id, secret } = await insertKey(db, {
      accountId: who.accountId,
      profileId,
      name: body.name,
      scopes: body.scopes,
      perMinute: body.requestsPerMinute,
      expiresAt: body.expiresAt,
      from: { deviceName: client.name ?? null, address: client.address },
    });
    await audit(call, 'api-key.created', { keyId: id, scopes: body.scopes });
    call.reply.header('Cache-Control', 'no-store');
    return { ...(await readKey(call, id)), secret };
  },
});

export const updateApiKey = defineEndpoint({
  operationId: 'updateApiKey',
  method: 'patch',
  path: '/api-keys/:id',
  summary: 'Change an own API key',
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
    if (row.state !== 'active') throw conflict('not-active', 'An ended key does not come back: make another');
    if (widens(row, body)) requireConfirmed(call.who, call.now);
    if (body.scopes) refuseScopes(call, body.scopes);
    if (body.expiresAt !== undefined) refuseExpiry(call, body.expiresAt);
    await updateKey(call.db, row.id, body);
    await audit(call, 'api-key.changed', { keyId: row.id, before: row.scopes, after: body.scopes ?? row.scopes });
    return readKey(call, row.id);
  },
});

export const revokeApiKey = defineEndpoint({
  operationId: 'revokeApiKey',
  method: 'delete',
  path: '/api-keys/:id',
  summary: 'Revoke an API key; it is refused from the next request on',
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
    if (!isOwn(call, row)) await tellHolder(call, row);
  },
});

/** The main profile of an account whose role may hold keys. */
function requireHolder({ who }: Call): void {
  requireGrownUp(who);
  requireMain(who);
}

const isOwn = ({ who }: Call, row: ApiKeyRow): boolean => row.account_id === who.accountId;

async function tellHolder({ db, who }: Call, { id, account_id: accountId, name }: ApiKeyRow): Promise<void> {
  const to = { accountIds: [accountId] };
  await notify(db, {
    kind: 'api-key-changed',
    to,
    target: { kind: 'api-key', id },
    actorId: who.accountId,
    data: { name },
  });
}

/** The owner sees the operator's key, and is told who manages it. */
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

/** Scopes the account does not have, all at once. */
function refuseScopes({ who }: Call, scopes: readonly Permission[]): void {
  const lacking = scopes.filter((scope) => !may(who, scope));
  if (lacking.length === 0) return;
  throw new ApiError('FORBIDDEN', 'The account does not have these scopes', { scopes: lacking });
}

function refuseExpiry({ now }: Call, expiresAt: string | null): void {
  if (expiresAt === null) return;
  const ahead = Date.parse(expiresAt) - now.getTime();
  if (ahead < MINUTE_MS) throw invalid(['body', 'expiresAt'], 'too_small', 'at least a minute ahead');
  if (ahead > TEN_YEARS_MS) throw invalid(['body', 'expiresAt'], 'too_big', 'at most ten years ahead');
}

async function ownProfile({ db, who }: Call, id: string): Promise<string | null> {
  const row = await db('profiles').where({ id, account_id: who.accountId }).first('main');
  if (!row) throw notFound();
  return row.main ? null : id;
}

/** What lets the key do more or for longer. */
function widens(row: ApiKeyRow, change: ApiKeyChange): boolean {
  const scope = change.scopes?.some((wanted) => !row.scopes.includes(wanted)) ?? false;
  const limit = (change.requestsPerMinute ?? 0) > row.per_minute;
  return scope || limit || expiresLater(row.expires_at, change.expiresAt);
}

function expiresLater(before: Date | null, wanted: string | null | undefined): boolean {
  if (wanted === undefined || before === null) return false;
  return wanted === null || Date.parse(wanted) > before.getTime();
}

async function readKey({ db }: Call, id: string): Promise<ApiKey> {
  const row = await findKey(db, id);
  if (!row) throw notFound();
  return toApiKey(row);
}
