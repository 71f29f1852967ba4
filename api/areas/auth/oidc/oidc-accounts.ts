import type { Knex } from 'knex';
import {
  createAccount,
  emitReached,
  foldUsername,
  isSameName,
  librariesReached,
  roleColumns,
  Username,
  updateAccount,
} from '#areas/accounts/public.ts';
import { narrowKeys } from '#areas/api-keys/public.ts';
import type { Role } from '#identity/permissions.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Claims } from './oidc.schemas.ts';

export interface Identity {
  issuer: string;
  claims: Claims;
}

export interface Found extends Pick<Row<'accounts'>, 'id' | 'role' | 'age_limit'> {
  unusable: boolean;
}

const FOUND = ['a.id', 'a.role', 'a.age_limit'] as const;
const UNUSABLE = '(a.disabled or coalesce(a.expires_at < now(), false)) as unusable';
const people = (db: Db) => db('accounts as a').where({ 'a.is_system': false }).whereNull('a.deleted_at');

/** Finds the account by issuer and subject, else links or creates one by the settings. Throws 403 `no-account`. Needs a transaction. */
export async function accountFor(call: Call, identity: Identity): Promise<Found> {
  const { db, deps } = call;
  const linked = await linkedAccount(db, identity);
  if (linked) return linked;
  const matched = await matching(call, identity);
  if (matched) {
    await insertIdentity(call, matched.id, identity);
    return matched;
  }
  if (!deps.settings.get('auth.oidc.createAccounts'))
    throw new ApiError('FORBIDDEN', 'There is no account for this identity', { by: 'no-account' });
  return newcomer(call, identity);
}

export async function linkedAccount(db: Db, { issuer, claims }: Identity): Promise<Found | undefined> {
  return people(db)
    .join('sign_in_methods as m', 'm.account_id', 'a.id')
    .where({ 'm.kind': 'oidc', 'm.issuer': issuer, 'm.subject': claims.sub })
    .first(...FOUND, db.raw(UNUSABLE));
}

/** Matches by verified address or name, without accounts that have another identity of this issuer. */
async function matching({ db, deps }: Call, { issuer, claims }: Identity): Promise<Found | undefined> {
  const by = deps.settings.get('auth.oidc.linkBy');
  const query = people(db)
    .whereNotExists(
      db('sign_in_methods as m')
        .whereRaw('m.account_id = a.id')
        .where({ 'm.kind': 'oidc', 'm.issuer': issuer })
        .select('m.id'),
    )
    .first(...FOUND, db.raw(UNUSABLE));
  if (by === 'verified-email' && claims.email && claims.email_verified)
    return query.whereRaw('a.email_verified and lower(a.email) = ?', [claims.email.toLowerCase()]);
  if (by === 'username' && claims.preferred_username) return ofName(query, claims.preferred_username);
  return undefined;
}

/** Matches the name in any letter case, otherwise exactly, because a look-alike at the provider is another person. */
async function ofName(query: Knex.QueryBuilder, name: string): Promise<Found | undefined> {
  const found = (await query.where({ 'a.username_folded': foldUsername(name) }).select('a.username')) as
    | (Found & { username: string })
    | undefined;
  return found && isSameName(found.username, name) ? found : undefined;
}

export async function insertIdentity(call: Call, accountId: string, { issuer, claims }: Identity): Promise<string> {
  const id = newId();
  const name = claims.email ?? claims.preferred_username ?? claims.name ?? null;
  await call
    .db('sign_in_methods')
    .insert({ id, account_id: accountId, kind: 'oidc', name, issuer, subject: claims.sub });
  const asThem = { ...call, who: { ...call.who, accountId } };
  await audit(asThem, 'sign-in-method-added', { kind: 'oidc', issuer });
  return id;
}

async function newcomer(call: Call, identity: Identity): Promise<Found> {
  const { db, deps, now } = call;
  const { claims } = identity;
  const role = mappedRole(call, claims) ?? deps.settings.get('auth.oidc.defaultRole');
  const days = role === 'guest' ? deps.settings.get('users.guestDays') : null;
  const email = claims.email_verified ? await freeEmail(db, claims.email) : undefined;
  const account = await createAccount(db, {
    username: await freeName(db, claims),
    displayName: claims.name?.trim().slice(0, 60) || undefined,
    role,
    email,
    emailVerified: email !== undefined,
    passwordHash: null,
    expiresAt: days === null ? undefined : new Date(now.getTime() + days * 86_400_000).toISOString(),
  });
  await insertIdentity(call, account.id, identity);
  await emitReached(call, account.id, new Set());
  return { id: account.id, role, age_limit: null, unusable: false };
}

async function freeEmail(db: Db, email: string | undefined): Promise<string | undefined> {
  if (!email) return undefined;
  const taken = await db('accounts').whereRaw('lower(email) = ?', [email.toLowerCase()]).first('id');
  return taken ? undefined : email;
}

const MOST_LIKE_NAMES = 1000;

/** A free username from the name at the provider, with a number when it is taken. */
async function freeName(db: Db, { preferred_username: name, email, sub }: Claims): Promise<string> {
  const candidates = [name, email?.split('@')[0], sub].map((one) =>
    (one ?? '')
      .replace(/[^\p{L}\p{M}\p{N}._@ -]+/gu, '')
      .replace(/ +/g, ' ')
      .slice(0, 58),
  );
  const base = candidates.map((one) => Username.safeParse(one)).find(({ success }) => success)?.data ?? 'member';
  for (let number = 1; number < MOST_LIKE_NAMES; number += 1) {
    const username = number === 1 ? base : `${base}-${number}`;
    if (
      !(await db('accounts')
        .where({ username_folded: foldUsername(username) })
        .first('id'))
    )
      return username;
  }
  return `${base}-${newId().slice(-5)}`;
}

const RANKS = ['admin', 'member', 'child', 'guest'] as const;

/** The highest role that the groups of the person map to, never owner; undefined without a map or a claim. */
function mappedRole({ deps }: Call, claims: Claims): Role | undefined {
  const name = deps.settings.get('auth.oidc.groupsClaim');
  const map = deps.settings.get('auth.oidc.roleMap');
  const groups = name === null ? undefined : claims[name];
  if (groups === undefined || Object.keys(map).length === 0) return undefined;
  const roles = [groups]
    .flat()
    .map((group) => (typeof group === 'string' && Object.hasOwn(map, group) ? map[group] : undefined));
  return RANKS.find((role) => roles.includes(role)) ?? deps.settings.get('auth.oidc.defaultRole');
}

/** Applies the role of the groups at each sign-in; the owner stays the owner. */
export async function applyRole(call: Call, account: Found, claims: Claims): Promise<void> {
  const { db } = call;
  const role = mappedRole(call, claims);
  if (!role || account.role === 'owner' || role === account.role) return;
  const before = await librariesReached(db, account.id);
  await updateAccount(
    db,
    { id: account.id },
    {
      ...roleColumns(account, role),
      access_version: db.raw('access_version + 1'),
      revision: db.raw('revision + 1'),
      updated_at: db.fn.now(),
    },
  );
  await narrowKeys(call, account.id, role);
  await emitReached(call, account.id, before);
  const asThem = { ...call, who: { ...call.who, accountId: account.id } };
  await audit(asThem, 'user.changed', {
    userId: account.id,
    before: { role: account.role },
    after: { role },
    by: 'oidc',
  });
}
