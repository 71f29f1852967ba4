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

/** The account and the use it takes are one transaction: a refusal takes none. */
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

/** One 404 for codes that are unknown, used, expired or revoked, and for those whose maker may invite nobody any more. */
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

/** Of the invite's single permissions what its maker may give now, without those of the role that the maker lacks. */
function givable(inviter: Principal, { role, template }: InviteRow): RequestedPermissions {
  const wishes = template.permissions ?? {};
  const gives = (name: (typeof permissions)[number]): boolean =>
    may(inviter, name) && grantable(role, name) && (inviter.role === 'owner' || !OWNERS_TO_GIVE.includes(name));
  const granted = permissions.filter((name) => wishes[name] === true && gives(name));
  const withheld = rolePermissions[role].filter((name) => wishes[name] === false || !may(inviter, name));
  return Object.fromEntries([
    ...granted.map((name) => [name, true]),
    ...withheld.filter((name) => name !== 'library:view').map((name) => [name, false]),
  ]);
}

/** The invite's access within what its maker sees now. */
async function accessFrom({ db, who }: Call, { template, libraries, role }: InviteRow): Promise<AccessParts> {
  const { permissions: _given, ...parts } = template;
  const seen = (await db('libraries').modify(onlyVisibleLibraries, who).pluck('id')) as string[];
  const asked = libraries ?? { mode: 'default' as const, ids: [] };
  const ids = asked.ids.filter((id) => seen.includes(id));
  const limited = !who.sees.all && asked.mode === 'default';
  const own = who.sees.ageLimit;
  const wished = parts.ageLimit ?? (role === 'child' && parts.ageLimit === undefined ? 12 : undefined);
  return {
    ...parts,
    ...(own !== undefined && { ageLimit: Math.min(own, wished ?? own) }),
    libraries: limited ? { mode: 'only', ids: seen } : { mode: asked.mode, ids },
  };
}
