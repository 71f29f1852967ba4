import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from 'koa';
import type { Client } from '#identity/client.ts';
import { type Identified, identify, presented } from '#identity/credentials.ts';
import { deviceOfKey, recordLastUse } from '#identity/devices.ts';
import { anyone, type Principal, requirePermission } from '#identity/principal.ts';
import { mayWatch, resumesAt } from '#identity/viewing-hours.ts';
import type { Access, Deps, Endpoint } from './endpoint.ts';
import { ApiError } from './errors.ts';
import { countKeyRequest } from './rate-limit.ts';

interface Admission {
  ctx: Context;
  client: Client;
  deps: Deps;
}

/** Identifies the caller and checks, in this order: 401, 429, viewing hours, permission. */
export async function admit(endpoint: Endpoint, admission: Admission): Promise<Principal> {
  const { ctx, client, deps } = admission;
  const credential = presented(ctx.req.headers, client.secure);
  if (!credential) throw new ApiError('UNAUTHENTICATED', 'Sign in first', {});
  const found = await identify(deps.db, deps.keys, credential);
  await countKey(found, admission);
  if (!endpoint.anyHour) refuseOutsideHours(found, deps);
  const cookie = credential.kind === 'token' && credential.cookie;
  refuseForged(endpoint, cookie, client);
  refuseKind(endpoint, found.who, cookie);
  allow(endpoint.access, found.who);
  if (found.mustChangePassword && !endpoint.anyHour) {
    throw new ApiError('FORBIDDEN', 'Change the password first', { by: 'password-change' });
  }
  if (!endpoint.anyHour) refuseWithoutSecondFactor(found, deps);
  const who = found.who.keyId === undefined ? found.who : await withDevice(found.who, found.who.keyId, admission);
  recordLastUse(deps.db, who, client.address);
  return who;
}

const PATIENCE_MS = 1000;

/**
 * Public operations count a valid API key too, and their responses carry its limit; an invalid key is ignored.
 * They wait for the database one second at most, because some are served while it is unavailable.
 */
export async function admitAnyone(admission: Admission): Promise<Principal> {
  const { ctx, client, deps } = admission;
  const credential = presented(ctx.req.headers, client.secure);
  if (credential?.kind !== 'key') return anyone;
  const found = identify(deps.db, deps.keys, credential).catch(() => undefined);
  const known = await Promise.race([found, sleep(PATIENCE_MS, undefined, { ref: false })]);
  if (known) await countKey(known, admission);
  return anyone;
}

const KEY_SHAPE = /\bfoyer_[\w-]{43}(?![\w-])/;

/** 401 for an API key in a query, because URLs appear in logs and histories. The log entry omits its value. */
export function refuseKeyInQuery({ querystring, state, req }: Context, { log }: Deps): void {
  if (!KEY_SHAPE.test(querystring)) return;
  const { operation, requestId } = state as { operation: string; requestId: string };
  log.warn({ operation, requestId, address: req.socket.remoteAddress }, 'an API key came in a query: revoke it');
  throw new ApiError('UNAUTHENTICATED', 'A key is sent as Authorization: Bearer, never in a query', {});
}

/** The device of an API key comes from the `X-Client-Id` of the request; a session has its own. */
async function withDevice(who: Principal, keyId: string, { client, deps }: Admission): Promise<Principal> {
  const deviceId = client.id && (await deviceOfKey(deps.db, { keyId, accountId: who.accountId }, client));
  return deviceId ? { ...who, deviceId } : who;
}

async function countKey(found: Identified, { ctx, deps, client }: Admission): Promise<void> {
  if (found.perMinute === undefined || !found.who.keyId) return;
  deps.keyUses.note(found.who.keyId, client);
  const limiter = { redis: deps.redis, replicas: deps.config.replicas };
  const { limit, remaining, resetSec } = await countKeyRequest(limiter, found.who.keyId, found.perMinute);
  ctx.set('X-RateLimit-Limit', String(limit));
  ctx.set('X-RateLimit-Remaining', String(Math.max(0, remaining)));
  ctx.set('X-RateLimit-Reset', String(resetSec));
  if (remaining < 0)
    throw new ApiError('RATE_LIMITED', 'The limit of this key is reached', { retryAfterSec: resetSec });
}

/** 403 for an account whose role requires a second factor, until it has one. */
function refuseWithoutSecondFactor({ who, secondFactor }: Identified, { settings }: Deps): void {
  if (secondFactor || who.operator) return;
  const required: readonly string[] = settings.get('auth.twoFactor.requiredRoles');
  if (required.includes(who.role)) {
    throw new ApiError('FORBIDDEN', 'Add a second factor first', { by: 'two-factor-setup' });
  }
}

function refuseOutsideHours({ viewingHours, timeZone: own }: Identified, { settings }: Deps): void {
  const timeZone = own ?? settings.get('server.timeZone');
  const now = new Date();
  if (mayWatch(viewingHours, timeZone, now)) return;
  const resumes = resumesAt(viewingHours, timeZone, now);
  throw new ApiError('PERMISSION_TIME_RESTRICTED', 'Outside the viewing hours', {
    resumesAt: resumes?.toISOString() ?? null,
  });
}

/** 403 for a changing request by cookie without X-Client-Id: another site can send the cookie, but not the header. */
function refuseForged(endpoint: Endpoint, cookie: boolean, client: Client): void {
  if (cookie && endpoint.method !== 'get') requireClientId(client);
}

/** 403 without X-Client-Id, for changes by cookie. */
export function requireClientId(client: Client): void {
  if (!client.id) throw new ApiError('FORBIDDEN', 'X-Client-Id is missing', { header: 'X-Client-Id' });
}

function refuseKind(endpoint: Endpoint, who: Principal, cookie: boolean): void {
  const kind = who.kind === 'key' ? 'key' : cookie ? 'cookie' : 'bearer';
  const person = 'person' in endpoint.access || 'owner' in endpoint.access;
  const accepted = endpoint.credentials ?? (person ? ['cookie', 'bearer'] : ['cookie', 'bearer', 'key']);
  if (!(accepted as readonly string[]).includes(kind)) {
    throw new ApiError('FORBIDDEN', 'This kind of credential is not accepted here', {
      by: kind === 'key' ? 'api-key' : 'credential',
    });
  }
}

function allow(access: Access, who: Principal): void {
  if ('permission' in access) requirePermission(who, access.permission);
  if ('owner' in access && who.role !== 'owner') throw new ApiError('FORBIDDEN', 'Only the owner may', { by: 'owner' });
}
