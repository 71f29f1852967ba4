import { countAttempt, newcomerOptions, SignIn } from '#areas/auth/public.ts';
import { audit } from '#kernel/audit.ts';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { ownAddress } from '#kernel/own-address.ts';
import { page, pageOf, parseSort } from '#kernel/page.ts';
import { IdParams, iso } from '#kernel/schemas.ts';
import { requireRank } from '../rank.ts';
import { accept, openInvite } from './accept-invite.ts';
import { invitePerson } from './invite-person.ts';
import {
  AcceptInvite,
  CheckedInvite,
  CheckInvite,
  Invite,
  InviteDraft,
  InvitesQuery,
  inviteSorts,
} from './invites.schemas.ts';
import { endInvite, getInvite, type InviteRow, selectInvites, toInvite } from './invites.store.ts';

const LONGEST_PASSWORD = 256;

export const listInvites = defineEndpoint({
  operationId: 'listInvites',
  method: 'get',
  path: '/invites',
  summary: 'List invites',
  description:
    'Newest first unless `sort` is given. Ended invites stay in the list for 90 days. The links are not shown again.',
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
  summary: 'Create an invite',
  description:
    'The answer shows the link once. With `email` the invite works once and is mailed when a mail server is set up. It expires after seven days by default and 90 at most. Role, permissions and libraries are limited to what the caller may give. At most 200 invites are open (409 `too-many-invites`).',
  access: { permission: 'user:manage' },
  body: InviteDraft,
  answer: json(201, Invite),
  unrepeated: ['url'],
  errors: ['CONFLICT'],

  async handle({ body }, call) {
    const { invite, path } = await invitePerson(call, body);
    call.reply.header('Cache-Control', 'no-store');
    return { ...toInvite(invite), url: ownAddress(call) + path };
  },
});

export const revokeInvite = defineEndpoint({
  operationId: 'revokeInvite',
  method: 'delete',
  path: '/invites/:id',
  summary: 'Revoke an invite',
  description: 'The link stops working; accounts created with it stay. Revoking it again is 204.',
  access: { permission: 'user:manage' },
  params: IdParams,
  answer: none(),

  async handle({ params }, call) {
    const invite = await getInvite(call.db, params.id);
    if (invite.created_by !== call.who.accountId) requireRank(call.who, invite.role);
    if (await endInvite(call.db, invite.id)) await audit(call, 'invite.revoked', { inviteId: invite.id });
  },
});

export const checkInvite = defineEndpoint({
  operationId: 'checkInvite',
  method: 'post',
  path: '/invites/check',
  summary: 'Check the code of an invite',
  description:
    'Returns who invites and with which role, the password rules, and options for a passkey. It uses the invite up in no way. Unknown, used, expired and revoked codes are the same 404.',
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
  summary: 'Accept an invite and sign in',
  description:
    'Creates the account with the role and the access of the invite, and signs in. The email address is verified when the invite was mailed to it. It is 409 `username-taken`, which leaves the invite unused. Unknown, used, expired and revoked codes are the same 404.',
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
