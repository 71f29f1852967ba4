import type { z } from 'zod';
import { countAccountAttempt, passwordMatches } from '#areas/auth/public.ts';
import { notify } from '#areas/notifications/public.ts';
import { requireConfirmed } from '#identity/person.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid, notFound } from '#kernel/errors.ts';
import { breaks, existing } from '#platform/db.ts';
import type { OfferServerClaim } from './ownership.schemas.ts';
import {
  type AdminRow,
  adminIds,
  endOffer,
  expireOffers,
  findAdmin,
  findOffer,
  insertOffer,
  lastOffer,
  type OfferRow,
  type OwnerRow,
  ownerInTurn,
  recordTransfer,
  swapRoles,
} from './ownership.store.ts';

const PAGE = '/admin/ownership';

/** Requires the owner, with the password of the body or a confirmed session. Throws 403 with `by` owner for others. */
export async function proveOwner(call: Call, currentPassword: string | undefined): Promise<void> {
  const { db, who } = call;
  if (who.role !== 'owner') throw new ApiError('FORBIDDEN', 'Only the owner may', { by: 'owner' });
  if (currentPassword === undefined) {
    requireConfirmed(who, call.now);
    return;
  }
  await countAccountAttempt(call, 'password', who.accountId);
  const row = existing(await db('accounts').where({ id: who.accountId }).first('password_hash'));
  if (!(await passwordMatches(row.password_hash, currentPassword)))
    throw invalid(['body', 'currentPassword'], 'wrong_password', 'this is not the current password');
}

/** Creates the offer and notifies all admins. Ownership does not change before the offer is accepted. */
export async function offer(call: Call, body: z.output<typeof OfferServerClaim>): Promise<void> {
  const { db, who } = call;
  const owner = await ownerInTurn(db);
  if (owner?.id !== who.accountId) throw new ApiError('FORBIDDEN', 'Only the owner may', { by: 'owner' });
  refuseManaged(owner);
  const other = await findAdmin(db, body.userId);
  if (!other) throw notAnAdmin();
  await expireOffers(db);
  const { keepRole, message } = body;
  const id = await insertOffer(db, { fromId: owner.id, toId: other.id, keepRole, message }).catch((error: unknown) => {
    throw breaks(error, 'ownership_offers_one') ? conflict('offer-open', 'An offer is open already') : error;
  });
  await audit(call, 'ownership-offered', { offerId: id, to: other.id, keepRole });
  await notify(db, {
    kind: 'ownership-offer',
    to: { accountIds: await adminIds(db) },
    target: { kind: 'user', id: other.id },
    actorId: owner.id,
    data: { name: owner.display_name, to: other.display_name },
    url: PAGE,
    mergeKey: `ownership-offered ${id}`,
  });
}

function notAnAdmin(): ApiError {
  return conflict('not-an-admin', 'Only to an admin whose account is enabled');
}

/** 409 for an owner that a resource declares. */
function refuseManaged({ managed_by: managedBy }: OwnerRow): void {
  if (managedBy)
    throw conflict('managed-by-resource', 'A Kubernetes resource owns this', { fields: ['owner'], managedBy });
}

/** Transfers the ownership to the caller. Idempotent. */
export async function accept(call: Call, offerId: string): Promise<void> {
  const { db, who, now } = call;
  const owner = await ownerInTurn(db);
  const row = await findOffer(db, { id: offerId, toId: who.accountId });
  if (!owner || !row) throw notFound();
  requireConfirmed(who, now);
  if (row.state === 'accepted' && owner.id === who.accountId) return;
  await refuseEnded(call, row, owner);
  refuseManaged(owner);
  const me = await findAdmin(db, who.accountId);
  if (!me) throw notAnAdmin();
  refuseWeak(call, me);
  await recordTransfer(db, row);
  await swapRoles(db, row);
  await endOffer(db, row.id, 'accepted');
  await audit(call, 'ownership-changed', { offerId, from: row.from_id, to: row.to_id, keepRole: row.keep_role });
  await notify(db, {
    kind: 'ownership-changed',
    to: { accountIds: await adminIds(db) },
    target: { kind: 'user', id: me.id },
    actorId: me.id,
    data: { name: me.display_name },
    url: PAGE,
  });
}

async function refuseEnded({ db }: Call, row: OfferRow, owner: OwnerRow): Promise<void> {
  const open = await db('ownership_offers')
    .where({ id: row.id, state: 'offered' })
    .whereRaw('expires_at > now()')
    .first('id');
  if (!open || row.from_id !== owner.id) throw conflict('offer-ended', 'The offer is over');
}

/** An owner needs a sign-in without the OpenID provider, and a second factor where the role requires one. */
function refuseWeak({ deps }: Call, { has_password: password, factors }: AdminRow): void {
  const required: readonly string[] = deps.settings.get('auth.twoFactor.requiredRoles');
  const second = factors.includes('totp') || factors.includes('passkey');
  const signsIn = password || factors.includes('passkey');
  if (!signsIn || (required.includes('owner') && !second))
    throw conflict('sign-in-too-weak', 'Add a password or a passkey first, and a second factor where owners need one');
}

/** Ends the open offer: withdrawn by the owner or declined by the other account. Does nothing without an open offer. */
export async function cancel(call: Call): Promise<void> {
  const { db, who } = call;
  const owner = await ownerInTurn(db);
  const last = await lastOffer(db);
  const mine = owner?.id === who.accountId;
  if (!mine && last?.to_id !== who.accountId)
    throw new ApiError('FORBIDDEN', 'Only the owner and the account of the offer may do this', { by: 'owner' });
  await expireOffers(db);
  const still = last && (await db('ownership_offers').where({ id: last.id, state: 'offered' }).first('id'));
  if (!still) return;
  const state = mine ? 'withdrawn' : 'declined';
  await endOffer(db, last.id, state);
  await audit(call, `ownership-${state}`, { offerId: last.id });
  await notify(db, {
    kind: 'ownership-offer',
    to: { accountIds: await adminIds(db) },
    target: { kind: 'user', id: last.to_id },
    actorId: who.accountId,
    data: { name: last.from_name, to: last.to_name, step: state },
    url: PAGE,
    mergeKey: `ownership-${state} ${last.id}`,
  });
}
