import type { z } from 'zod';
import { createAccount, displayNameOf } from '#areas/accounts/public.ts';
import { createReset, hashPassword, refuseWeak, resetWasSent } from '#areas/auth/public.ts';
import { mailReady, writeMail } from '#areas/email/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import { ownAddress } from '#kernel/own-address.ts';
import { writeAccess } from './access.ts';
import { requireRank } from './rank.ts';
import { checkedPermissions } from './requested-permissions.ts';
import type { NewUser, UserDraft } from './users.schemas.ts';
import { getUserRow } from './users.store.ts';
import { toUserDetail } from './users.view.ts';

const MOST_ACCOUNTS = 10_000;
const RESET_HOURS = 24;

export async function makeUser(call: Call, draft: UserDraft): Promise<z.input<typeof NewUser>> {
  const { db, who } = call;
  requireRank(who, draft.role);
  const permissions = checkedPermissions(call, { role: draft.role }, draft.permissions);
  refusePast(call, draft.expiresAt);
  await refuseTooMany(call);
  const { password, username, email, displayName, role, language, note } = draft;
  if (password !== undefined) refuseWeak(call, password, { names: [username, email], field: 'password' });
  const account = await createAccount(db, {
    ...{ username, displayName, role, email, language, note, permissions },
    passwordHash: password === undefined ? null : await hashPassword(password),
    mustChangePassword: password !== undefined && draft.mustChangePassword,
    expiresAt: draft.expiresAt ?? guestExpiry(call, role),
    invitedBy: who.accountId,
  });
  await writeAccess(call, { id: account.id, role, isNew: true }, draft.access ?? {});
  await audit(call, 'user.created', { userId: account.id, username, role, permissions, access: draft.access ?? {} });
  const detail = await toUserDetail(call, await getUserRow(db, account.id));
  // A child signs in by quick connect and needs no password.
  if (password !== undefined || (role === 'child' && !draft.sendInvite)) return detail;
  return { ...detail, resetUrl: await firstLink(call, draft, account.id) };
}

async function firstLink(call: Call, draft: UserDraft, accountId: string): Promise<string> {
  const link = await resetLink(call, accountId, RESET_HOURS);
  if (draft.sendInvite) await mailLink(call, draft, { accountId, path: link.path, expiresAt: link.expiresAt });
  return link.url;
}

interface MailedLink {
  accountId: string;
  path: string;
  expiresAt: string;
}

/** Mails the link when a mail server is set up; otherwise the creator hands it over. */
async function mailLink({ db, deps, who }: Call, draft: UserDraft, link: MailedLink): Promise<void> {
  if (!mailReady(deps) || draft.email === undefined) return;
  const inviter = await displayNameOf(db, who.accountId);
  await writeMail(db, deps, {
    ...{ kind: 'password-set', text: 'password-set', to: draft.email, language: draft.language },
    ...link,
    values: { inviter, name: draft.username, until: link.expiresAt },
  });
  await resetWasSent(db, link.accountId);
}

/** A link to set a password; the token is in the fragment, so that no log contains it. */
export async function resetLink(
  call: Call,
  accountId: string,
  hours: number,
): Promise<{ url: string; path: string; expiresAt: string }> {
  const { token, expiresAt } = await createReset(call.db, accountId, hours);
  const path = `/reset#token=${token}`;
  return { url: ownAddress(call) + path, path, expiresAt };
}

/** Default expiry of guests, by `users.guestDays`. */
export function guestExpiry({ deps, now }: Call, role: string): string | undefined {
  const days = role === 'guest' ? deps.settings.get('users.guestDays') : null;
  return days === null ? undefined : new Date(now.getTime() + days * 86_400_000).toISOString();
}

export function refusePast({ now }: Call, expiresAt: string | null | undefined): void {
  if (expiresAt && Date.parse(expiresAt) <= now.getTime())
    throw invalid(['body', 'expiresAt'], 'too_small', 'must be in the future; disable the account instead');
}

/** Counts under a lock, so that concurrent requests cannot exceed the limit together. */
export async function refuseTooMany({ db }: Call): Promise<void> {
  await db.raw('select pg_advisory_xact_lock(hashtextextended(?, 12))', ['accounts']);
  const [row] = await db('accounts').whereNull('deleted_at').count<{ count: number }[]>('* as count');
  if ((row?.count ?? 0) > MOST_ACCOUNTS) throw conflict('too-many-accounts', `At most ${MOST_ACCOUNTS} accounts`);
}
