import type { z } from 'zod';
import { requirePermission } from '#identity/principal.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid, notFound } from '#kernel/errors.ts';
import { existing } from '#platform/db.ts';
import { owesSecondFactor } from '../sign-in/sign-in.ts';
import type { AnswerQuickConnect } from './quick-connect.schemas.ts';
import type { QuickConnectRow } from './quick-connect.store.ts';

type Answer = z.output<typeof AnswerQuickConnect>;
interface Target {
  account_id: string;
  profile_id: string;
}

/** Approves for the caller, one of its profiles, or a child or guest that the caller manages; or denies. */
export async function answerQuickConnectRow(call: Call, code: string, body: Answer): Promise<QuickConnectRow> {
  const { db, who } = call;
  await refuseOwing(call);
  const target = await targetOf(call, body);
  const row = await db('quick_connects')
    .where({ code: code.toUpperCase() })
    .whereRaw('expires_at > now()')
    .forUpdate()
    .first();
  if (!row) throw notFound();
  const state = body.decision === 'approve' ? 'approved' : 'denied';
  if (row.state !== 'pending') return refuseOther(row, { state, ...target }, who.accountId);
  const [answered] = await db('quick_connects')
    .where({ id: row.id })
    .update({
      state,
      answered_by: who.accountId,
      answered_at: db.fn.now(),
      ...(state === 'approved' && { ...target, expires_at: db.raw(`now() + interval '5 minutes'`) }),
    })
    .returning('*');
  if (!answered) throw new Error('no row');
  await audit(call, `quick-connect-${state}`, { forAccountId: target.account_id, device: row.device_name });
  return answered;
}

/** Repeating the same decision succeeds; another one is 409 `already-decided`. */
function refuseOther(row: QuickConnectRow, wanted: Target & { state: string }, by: string): QuickConnectRow {
  const alike =
    row.state === 'denied' || (row.account_id === wanted.account_id && row.profile_id === wanted.profile_id);
  if (row.state === wanted.state && row.answered_by === by && alike) return row;
  throw conflict('already-decided', 'This was decided already');
}

/** 403 for a session that must change its password or add a second factor first. */
async function refuseOwing(call: Call): Promise<void> {
  const row = existing(
    await call.db('accounts').where({ id: call.who.accountId }).first('must_change_password', 'role', 'factors'),
  );
  if (row.must_change_password) throw new ApiError('FORBIDDEN', 'Change the password first', { by: 'password-change' });
  if (owesSecondFactor(call, row))
    throw new ApiError('FORBIDDEN', 'Add a second factor first', { by: 'two-factor-setup' });
}

async function targetOf(call: Call, { userId, profileId }: Answer): Promise<Target> {
  const { db, who } = call;
  if (userId !== undefined) {
    if (profileId !== undefined) throw invalid(['body', 'profileId'], 'exclusive', 'not together with userId');
    return managedTarget(call, userId);
  }
  requireAllowed(who, 'quickConnect');
  const id = profileId ?? who.profileId;
  if (!who.mainProfile && id !== who.profileId)
    throw new ApiError('FORBIDDEN', 'A profile approves for itself only', { by: 'profile' });
  const own = await db('profiles').where({ id, account_id: who.accountId }).first('id');
  if (!own) throw notFound();
  return { account_id: who.accountId, profile_id: id };
}

async function managedTarget({ db, who }: Call, userId: string): Promise<Target> {
  requirePermission(who, 'user:manage');
  const row = await db('accounts as a')
    .join('profiles as p', 'p.account_id', 'a.id')
    .where({ 'a.id': userId, 'p.main': true, 'a.is_system': false })
    .whereNull('a.deleted_at')
    .first<{ role: string; profile_id: string } | undefined>('a.role', 'p.id as profile_id');
  if (!row) throw notFound();
  if (row.role !== 'child' && row.role !== 'guest')
    throw new ApiError('FORBIDDEN', 'Only for accounts of children and guests', { by: 'role' });
  return { account_id: userId, profile_id: row.profile_id };
}
