import { foldUsername, nameTaken, updateAccount } from '#areas/accounts/public.ts';
import { forgetPending, mailReady, resolveAddress } from '#areas/email/public.ts';
import { requireConfirmed, requireMain } from '#identity/person.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict } from '#kernel/errors.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { existing } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import { endMailedResets } from '../passwords/password-reset.ts';
import type { MeChange } from './me.schemas.ts';

const CONFIRMS_AN_HOUR = 10;
const HOUR_MS = 3_600_000;

type AccountRow = Pick<Row<'accounts'>, 'username' | 'email' | 'email_verified' | 'language' | 'managed_by'>;

/** Changes the account of the caller. Throws 403 and 409 for fields that it may not change. */
export async function changeMe(call: Call, change: MeChange): Promise<void> {
  const { db, who } = call;
  requireMain(who);
  refuseChild(call, change);
  if (change.username !== undefined || change.email !== undefined) requireConfirmed(who, call.now);
  const row = existing(
    await db('accounts')
      .where({ id: who.accountId })
      .forUpdate()
      .first('username', 'email', 'email_verified', 'language', 'managed_by'),
  );
  if (change.username !== undefined && row.managed_by)
    throw conflict('managed-by-resource', 'A resource declares this account', {
      fields: ['username'],
      managedBy: row.managed_by,
    });
  await write(call, change);
  if (change.email !== undefined) await changeAddress(call, { ...row, ...written(change) }, change.email);
  await audit(call, 'account-changed', { fields: Object.keys(change) });
}

const written = ({ username, language }: MeChange) => ({
  ...(username !== undefined && { username }),
  ...(language !== undefined && { language }),
});

function refuseChild({ who }: Call, change: MeChange): void {
  if (who.role !== 'child') return;
  const shut = (['username', 'email', 'discoverable'] as const).some((field) => change[field] !== undefined);
  if (shut) throw new ApiError('FORBIDDEN', 'Accounts of this role may not', { by: 'role' });
}

async function write({ db, who }: Call, change: MeChange): Promise<void> {
  const columns = {
    username: change.username,
    username_folded: change.username === undefined ? undefined : foldUsername(change.username),
    display_name: change.displayName,
    language: change.language,
    time_zone: change.timeZone,
    discoverable: change.discoverable,
    listed: change.listed,
  };
  const given = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
  const raised = { revision: db.raw('revision + 1'), updated_at: db.fn.now() };
  try {
    await updateAccount(db, { id: who.accountId }, { ...given, ...raised });
  } catch (error) {
    throw nameTaken(error);
  }
}

/** A new address takes effect when its link is opened; without a mail server it is stored at once, unverified. */
async function changeAddress(call: Call, row: AccountRow, address: string | null): Promise<void> {
  const { db, who, deps } = call;
  const { accountId } = who;
  const same = address !== null && row.email?.toLowerCase() === address.toLowerCase();
  if (address === null || (same && row.email_verified)) {
    await forgetPending(db, accountId);
    if (address === null) await setAddress(call, null);
    return;
  }
  if (!mailReady(deps) && (await setAddress(call, address))) return forgetPending(db, accountId);
  const limiter = { redis: deps.redis, replicas: deps.config.replicas, windowMs: HOUR_MS };
  await limitAttempts(limiter, `confirm-mail:${accountId}`, CONFIRMS_AN_HOUR);
  await resolveAddress(db, deps, { accountId, address, username: row.username, language: row.language });
}

/** False when another account has the address; the response does not reveal that. */
async function setAddress({ db, who }: Call, address: string | null): Promise<boolean> {
  const change = { email: address, email_verified: false };
  const done = await db
    .transaction(async (inside) => {
      await updateAccount(inside, { id: who.accountId }, change);
      await endMailedResets(inside, who.accountId);
      return true;
    })
    .catch((error: { code?: string }) => {
      if (error.code === '23505') return undefined;
      throw error;
    });
  return done !== undefined;
}
