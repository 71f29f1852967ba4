import type { z } from 'zod';
import { type AccessParts, createAccount } from '#areas/accounts/public.ts';
import { addNewcomerPasskey, hashPassword, refuseWeak, type SignIn, startSession } from '#areas/auth/public.ts';
import { notify } from '#areas/notifications/public.ts';
import { principalOf } from '#identity/account-row.ts';
import { permissions, rolePermissions } from '#identity/permissions.ts';
import { may, type Principal } from '#identity/principal.ts';
import { onlyVisibleLibraries } from '#identity/visibility.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { writeAccess } from '../access.ts';
import { guestExpiry, refuseTooMany } from '../create-user.ts';
import { grantable, outranks } from '../rank.ts';
import type { RequestedPermissions } from '../users.schemas.ts';
import { OWNERS_TO_GIVE } from '../users.view.ts';
import type { AcceptInvite } from './invites.schemas.ts';
import { type InviteRow, lockOpenInvite, takeUse } from './invites.store.ts';

/** Creates the account and counts the use in one transaction, so that a refusal counts none. */
export async function accept(call: Call, body: AcceptInvite): Promise<z.input<typeof SignIn>> {
  const { db, emit } = call;
  const { invite, inviter } = await openInvite(call, body.code);
  const { password, passkey, username } = body;
  if (password !== undefined) refuseWeak(call, password, { names: [username, invite.email], field: 'password' });
  await refuseTooMany(call);
  const account = await createAccount(db, {
    username,
    displayName: body.displayName ?? invite.display_name ?? undefined,
    role: invite.role,
    email: invite.email ?? undefined,
    emailVerified: invite.mailed,
    passwordHash: password === undefined ? null : await hashPassword(password),
    permissions: givable(inviter, invite),
    expiresAt: guestExpiry(call, invite.role),
    invitedBy: inviter.accountId,
    inviteId: invite.id,
  });
  await takeUse(db, invite.id, account.id);
  const asInviter = { ...call, who: inviter };
  const subject = { id: account.id, role: invite.role, isNew: true };
  await writeAccess(asInviter, subject, await accessFrom(asInviter, invite));
  await emit('invite.accepted', { inviteId: invite.id }, { userIds: [inviter.accountId, account.id] });
  await notify(db, {
    kind: 'invite-accepted',
    target: { kind: 'user', id: account.id },
    actorId: account.id,
    data: { name: body.displayName ?? invite.display_name ?? username },
    mergeKey: 'invite-accepted',
  });
  const asNewcomer = { ...call, who: { ...call.who, accountId: account.id } };
  await audit(asNewcomer, 'invite.accepted', { userId: account.id, inviteId: invite.id, username });
  if (passkey) await addNewcomerPasskey(call, account.id, passkey);
  return startSession(call, {
    accountId: account.id,
    method: 'invite',
    keep: body.keep,
    remember: body.remember,
  });
}

/** The same 404 for unknown, used, expired and revoked codes, and for an inviter without permission to invite. */
export async function openInvite(call: Call, code: string): Promise<{ invite: InviteRow; inviter: Principal }> {
  const { db } = call;
  const invite = await lockOpenInvite(db, code);
  if (!invite) throw notFound();
  const gone = await db('accounts')
    .where({ id: invite.created_by })
    .whereRaw('(disabled or deleted_at is not null or coalesce(expires_at <= now(), false))')
    .first('id');
  const inviter = gone ? undefined : await principalOf(db, invite.created_by);
  if (!inviter || !may(inviter, 'user:manage') || !outranks(inviter, invite.role)) throw notFound();
  return { invite, inviter };
}

/** Permissions of the invite that the inviter may still give; those of the role that the inviter lacks are withheld. */
function givable(inviter: Principal, { role, template }: InviteRow): RequestedPermissions {
  const requested = template.permissions ?? {};
  const gives = (name: (typeof permissions)[number]): boolean =>
    may(inviter, name) && grantable(role, name) && (inviter.role === 'owner' || !OWNERS_TO_GIVE.includes(name));
  const granted = permissions.filter((name) => requested[name] === true && gives(name));
  const withheld = rolePermissions[role].filter((name) => requested[name] === false || !may(inviter, name));
  return Object.fromEntries([
    ...granted.map((name) => [name, true]),
    ...withheld.filter((name) => name !== 'library:view').map((name) => [name, false]),
  ]);
}

/** Access of the invite within the present access of the inviter. */
async function accessFrom({ db, who }: Call, { template, libraries, role }: InviteRow): Promise<AccessParts> {
  const { permissions: _given, ...parts } = template;
  const visible = await db('libraries').modify(onlyVisibleLibraries, who).pluck('id');
  const offered = libraries ?? { mode: 'default' as const, ids: [] };
  const ids = offered.ids.filter((id) => visible.includes(id));
  const limited = !who.sees.all && offered.mode === 'default';
  const own = who.sees.ageLimit;
  const ageLimit = parts.ageLimit ?? (role === 'child' && parts.ageLimit === undefined ? 12 : undefined);
  return {
    ...parts,
    ...(own !== undefined && { ageLimit: Math.min(own, ageLimit ?? own) }),
    libraries: limited ? { mode: 'only', ids: visible } : { mode: offered.mode, ids },
  };
}
