import { mailReady, writeMail } from '#areas/email/public.ts';
import { audit } from '#kernel/audit.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import { iso } from '#kernel/schemas.ts';
import { refuseUngivable } from '../access.ts';
import { requireRank } from '../rank.ts';
import { checkedPermissions } from '../requested-permissions.ts';
import type { InviteDraft } from './invites.schemas.ts';
import { countOpen, getInvite, type InviteRow, insertInvite, markMailed } from './invites.store.ts';

const MOST_OPEN = 200;
const DAY_MS = 86_400_000;

/** Creates an invite, with the path of its link, and mails it. Throws 403 for rights that the caller may not give. */
export async function invitePerson(call: Call, draft: InviteDraft): Promise<{ invite: InviteRow; path: string }> {
  const { db, who } = call;
  requireRank(who, draft.role);
  const { template = {}, email, libraries, role } = draft;
  const permissions = checkedPermissions(call, { role }, template.permissions ?? {});
  await refuseUngivable(call, { role, isNew: true }, { ...template, libraries });
  if ((await countOpen(db)) >= MOST_OPEN) throw conflict('too-many-invites', 'Revoke one first');
  const { id, code } = await insertInvite(db, {
    ...{ role, email, libraries, displayName: draft.displayName, message: draft.message },
    template: { ...template, ...(template.permissions && { permissions }) },
    maxUses: email === undefined ? draft.maxUses : 1,
    createdBy: who.accountId,
    expiresAt: expiryOf(call, draft.expiresAt),
  });
  await audit(call, 'invite.created', { inviteId: id, role, email, libraries, template });
  const path = `/invite#code=${code}`;
  if (email !== undefined) await mailInvite(call, id, path);
  return { invite: await getInvite(db, id), path };
}

/** Mails the link when a mail server is set up; the mail waits for `server.publicUrl` until the invite expires. */
async function mailInvite(call: Call, id: string, path: string): Promise<void> {
  const { db, deps } = call;
  const { email, inviter_name: inviter, message, expires_at: expiresAt } = await getInvite(db, id);
  if (email === null || !mailReady(deps)) return;
  await markMailed(db, id);
  await writeMail(db, deps, {
    ...{ kind: 'invitation', text: 'invitation', to: email, path, expiresAt },
    values: { inviter, message: message ?? '', until: iso(expiresAt) },
  });
}

function expiryOf({ now }: Call, wanted: string | undefined): Date {
  if (wanted === undefined) return new Date(now.getTime() + 7 * DAY_MS);
  const ahead = Date.parse(wanted) - now.getTime();
  if (ahead <= 0) throw invalid(['body', 'expiresAt'], 'too_small', 'must be in the future');
  if (ahead > 90 * DAY_MS) throw invalid(['body', 'expiresAt'], 'too_big', 'must be at most 90 days in the future');
  return new Date(wanted);
}
