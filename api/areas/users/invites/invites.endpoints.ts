import { countAttempt, newcomerOptions, SignIn } from '#areas/auth/public.ts';
import { mailReady, writeMail } from '#areas/email/public.ts';
import { audit } from '#kernel/audit.ts';
import { type Call, defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { conflict, invalid, notFound } from '#kernel/errors.ts';
import { ownAddress } from '#kernel/own-address.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams, iso } from '#kernel/schemas.ts';
import { refuseUngivable } from '../access.ts';
import { requireRank } from '../rank.ts';
import { checkedWishes } from '../requested-permissions.ts';
import { accept, openInvite } from './accept-invite.ts';
import {
  AcceptInvite,
  CheckedInvite,
  CheckInvite,
  Invite,
  InviteDraft,
  InvitesQuery,
  inviteSorts,
} from './invites.schemas.ts';
import {
  countOpen,
  endInvite,
  findInvite,
  type InviteRow,
  insertInvite,
  markMailed,
  selectInvites,
  toInvite,
} from './invites.store.ts';

const MOST_OPEN = 200;
const DAY_MS = 86_400_000;
const LONGEST_PASSWORD = 256;

export const listInvites = defineEndpoint({
  operationId: 'listInvites',
  method: 'get',
  path: '/invites',
  summary: 'List invites, ended ones for 90 days; links are not shown again',
  access: { permission: 'user:manage' },
  query: InvitesQuery,
  answer: page(Invite),

  async handle({ query: { cursor, limit, sort, state } }, { db, deps }) {
    return pageOf<InviteRow, Invite>(db, selectInvites(db, state), {
      keys: deps.keys,
      terms: parseSort(sort, inviteSorts, '-createdAt'),
      cursor,
      limit,
      scope: JSON.stringify(['listInvites', state]),
      idColumn: 'i.id',
      toItem: toInvite,
    });
  },
});

export const createInvite = defineEndpoint({
  operationId: 'createInvite',
  method: 'post',
  path: '/invites',
  summary: 'Invite somebody; the link is shown once',
  access: { permission: 'user:manage' },
  body: InviteDraft,
  answer: json(201, Invite),
  unrepeated: ['url'],
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const { db, who } = call;
    requireRank(who, body.role);
    const { template = {}, email, libraries, role } = body;
    const permissions = checkedWishes(call, { role }, template.permissions ?? {});
    await refuseUngivable(call, { role, isNew: true }, { ...template, libraries });
    if ((await countOpen(db)) >= MOST_OPEN) throw conflict('too-many-invites', 'Revoke one first');
    const { id, code } = await insertInvite(db, {
      ...{ role, email, libraries, displayName: body.displayName, message: body.message },
      template: { ...template, ...(template.permissions && { permissions }) },
      maxUses: email === undefined ? body.maxUses : 1,
      createdBy: who.accountId,
      expiresAt: expiryOf(call, body.expiresAt),
    });
    await audit(call, 'invite.created', { inviteId: id, role, email, libraries, template });
    const path = `/invite#code=${code}`;
    if (email !== undefined) await mailInvite(call, id, path);
    call.reply.header('Cache-Control', 'no-store');
    return { ...toInvite(await getInvite(call, id)), url: ownAddress(call) + path };
  },
});

export const revokeInvite = defineEndpoint({
  operationId: 'revokeInvite',
  method: 'delete',
  path: '/invites/:id',
  summary: 'Revoke an invite; accounts already made stay',
  access: { permission: 'user:manage' },
  params: IdParams,
  answer: none(),

  async handle({ params }, call) {
    const invite = await getInvite(call, params.id);
    if (invite.created_by !== call.who.accountId) requireRank(call.who, invite.role);
    if (await endInvite(call.db, invite.id)) await audit(call, 'invite.revoked', { inviteId: invite.id });
  },
});

export const checkInvite = defineEndpoint({
  operationId: 'checkInvite',
  method: 'post',
  path: '/invites/check',
  summary: 'Who invites and as what, before anything is asked; takes no use',
  access: { anyone: true, because: 'the code of the invite is the credential' },
  body: CheckInvite,
  answer: json(200, CheckedInvite),
  errors: ['NOT_FOUND', 'RATE_LIMITED'],

  counts: (call) => countAttempt(call, 'login'),

  async handle({ body }, call) {
    const { settings } = call.deps;
    const { invite } = await openInvite(call, body.code);
    const passkeyOptions = await newcomerOptions(call, invite.display_name ?? settings.get('server.name'));
    return {
      serverName: settings.get('server.name'),
      invitedBy: invite.inviter_name,
      role: invite.role,
      ...(invite.display_name !== null && { displayName: invite.display_name }),
      ...(invite.message !== null && { message: invite.message }),
      expiresAt: iso(invite.expires_at),
      oidc: settings.get('auth.oidc.issuer') !== null,
      passwordRules: { minLength: settings.get('auth.password.minLength'), maxLength: LONGEST_PASSWORD },
      ...(passkeyOptions && { passkeyOptions: { ...passkeyOptions } }),
    };
  },
});

export const acceptInvite = defineEndpoint({
  operationId: 'acceptInvite',
  method: 'post',
  path: '/invites/accept',
  summary: 'Make the account one is invited to, and sign in',
  access: { anyone: true, because: 'the code of the invite is the credential' },
  body: AcceptInvite,
  answer: json(201, SignIn),
  errors: ['NOT_FOUND', 'CONFLICT', 'RATE_LIMITED'],
  emits: ['user.created', 'invite.accepted', 'library.access.granted'],

  counts: (call) => countAttempt(call, 'login'),

  async handle({ body }, call) {
    return accept(call, body);
  },
});

/** Where mail is set up; it waits for `server.publicUrl` as long as the invite is open. */
async function mailInvite(call: Call, id: string, path: string): Promise<void> {
  const { db, deps } = call;
  const { email, inviter_name: inviter, message, expires_at: expiresAt } = await getInvite(call, id);
  if (email === null || !mailReady(deps)) return;
  await markMailed(db, id);
  await writeMail(db, deps, {
    ...{ kind: 'invitation', text: 'invitation', to: email, path, expiresAt },
    values: { inviter, message: message ?? '', until: iso(expiresAt) },
  });
}

async function getInvite({ db }: Call, id: string): Promise<InviteRow> {
  const row = await findInvite(db, id);
  if (!row) throw notFound();
  return row;
}

function expiryOf({ now }: Call, wanted: string | undefined): Date {
  if (wanted === undefined) return new Date(now.getTime() + 7 * DAY_MS);
  const ahead = Date.parse(wanted) - now.getTime();
  if (ahead <= 0) throw invalid(['body', 'expiresAt'], 'too_small', 'a time ahead');
  if (ahead > 90 * DAY_MS) throw invalid(['body', 'expiresAt'], 'too_big', 'at most 90 days ahead');
  return new Date(wanted);
}
