// Auth and API keys: what is one's own, what only the main profile may, and what wants a proof of who it is.
import { all, listed, type Row } from './row.ts';
import type { Caller } from './world.ts';

const NOBODY = '01900000-0000-7000-8000-00000000dead';
const soon = (): string => new Date(Date.now() + 3_600_000).toISOString();
const MAIN: Partial<Record<Caller, string>> = { 'profile of the member': '403 profile' };
const LATE = { 'late member': '403 confirm' };
const STRANGERS = all('404', 'owner', 'admin', 'another member', 'parent', 'child', 'guest');
export const authRows: Row[] = [
  {
    op: 'getMe',
    says: 'Profiles of the account are listed for all its profiles (the picker), limits only for main.',
    ask: async (world) => {
      const { profileId } = world.people['profile of the member'];
      await world.ask('member', 'updateProfile', { params: { id: profileId }, body: { limits: { ageLimit: 6 } } });
      return {};
    },
    answers: { member: 'limits', 'profile of the member': 'no limits', 'another member': 'no limits' },
    read: ({ profiles }: { profiles: { limits?: object }[] }) =>
      profiles.some(({ limits }) => limits) ? 'limits' : 'no limits',
  },
  {
    op: 'listSessions',
    says: 'Own account, all profiles for main, else those of the profile.',
    ask: async (world) => ({ headers: { 'x-of': await world.session('member') } }),
    answers: {
      member: 'told of',
      ...all('not told of', 'profile of the member', 'owner', 'admin', 'another member', 'child'),
    },
    read: listed,
  },
  {
    op: 'endSession',
    says: 'Own sessions, 404 for others.',
    ask: async (world) => ({ params: { id: await world.session('member') } }),
    answers: { ...all('ok', 'member', 'late member'), 'profile of the member': '404', ...STRANGERS },
  },
  {
    op: 'endSession',
    says: 'Own sessions, 404 for others.',
    when: 'of a profile',
    ask: async (world) => ({ params: { id: await world.session('profile of the member') } }),
    answers: { ...all('ok', 'member', 'profile of the member'), ...STRANGERS },
  },
  {
    op: 'endOtherSessions',
    says: 'Main profile. With apiKeys also revokes all keys of the account',
    ask: () => ({ query: { keepCurrent: true } }),
    answers: MAIN,
  },
  {
    op: 'listSignInMethods',
    says: 'Main profile. No secrets, ever.',
    ask: () => ({}),
    answers: { member: 'ok', ...MAIN },
  },
  ...(['startTotp', 'createRecoveryCodes'] as const).map(
    (op): Row => ({
      op,
      says: 'Main profile, confirmed.',
      ask: () => ({}),
      answers: { member: op === 'startTotp' ? 'ok' : '409 two-factor-off', ...MAIN, ...LATE },
    }),
  ),
  {
    op: 'startPasskeyRegistration',
    says: 'Main profile, confirmed. residentKey required',
    ask: () => ({}),
    answers: { member: '409 insecure-origin', ...MAIN, ...LATE },
  },
  {
    op: 'removeSignInMethod',
    says: 'Main profile, confirmed. TOTP takes its recovery codes along',
    ask: () => ({ params: { id: NOBODY } }),
    answers: { member: '404', ...MAIN, ...LATE },
  },
  {
    op: 'updateMe',
    says: 'Main profile. username and email need confirmed; children cannot change username, email and discoverable (403).',
    ask: (_world, caller) => ({ body: { username: `new name ${caller.length} ${Date.now()}` } }),
    answers: { ...all('ok', 'guest', 'another admin'), child: '403 role', ...MAIN, ...LATE },
  },
  {
    op: 'updateMe',
    says: 'children cannot change username, email and discoverable (403).',
    when: 'email',
    ask: () => ({ body: { email: 'somebody@example.org' } }),
    answers: { child: '403 role', ...MAIN, ...LATE },
  },
  {
    op: 'updateMe',
    says: 'children cannot change username, email and discoverable (403).',
    when: 'discoverable',
    ask: () => ({ body: { discoverable: true } }),
    answers: { ...all('ok', 'member', 'late member', 'guest'), child: '403 role', ...MAIN },
  },
  {
    op: 'changePassword',
    says: 'Main profile. A wrong current one is 400',
    ask: () => ({ body: { newPassword: 'quite a long new one', currentPassword: 'wrong' } }),
    answers: MAIN,
  },
  {
    op: 'createProfile',
    says: 'Accounts of role child and guest have main only (403).',
    ask: (_world, caller) => ({ body: { name: `of ${caller}` } }),
    answers: { ...all('ok', 'another member', 'another admin'), ...all('403 role', 'child', 'guest'), ...MAIN },
  },
  {
    op: 'updateProfile',
    says: 'Main changes all of its account; another profile its own name, color, language, time zone, country and avatar.',
    when: 'its own name',
    ask: (world) => ({ params: { id: world.people['profile of the member'].profileId }, body: { color: 'red' } }),
    answers: { ...all('ok', 'member', 'late member', 'profile of the member'), ...STRANGERS },
  },
  {
    op: 'updateProfile',
    says: 'Main changes all of its account; another profile its own name, color, language, time zone, country and avatar.',
    when: 'its limits',
    ask: (world) => ({ params: { id: world.people['profile of the member'].profileId }, body: { limits: null } }),
    answers: { ...all('ok', 'member', 'late member'), ...MAIN, ...STRANGERS },
  },
  {
    op: 'updateProfile',
    says: 'Main changes all of its account; another profile its own name, color, language, time zone, country and avatar.',
    when: 'another of the account',
    ask: async (world) => ({ params: { id: await world.profile('member') }, body: { color: 'red' } }),
    answers: { ...all('ok', 'member', 'late member'), ...MAIN, ...STRANGERS },
  },
  {
    op: 'updateProfile',
    says: "private and keepHistory are not a child account's to change (403 details.by role).",
    ask: (world, caller) => ({ params: { id: world.people[caller].profileId }, body: { keepHistory: true } }),
    answers: { ...all('ok', 'member', 'guest', 'admin'), child: '403 role', ...MAIN },
  },
  {
    op: 'updateProfile',
    says: "Setting or removing main's PIN needs confirmed.",
    ask: (world, caller) => ({ params: { id: world.people[caller].profileId }, body: { pin: null } }),
    answers: { ...all('ok', 'member', 'child', 'admin'), ...LATE, 'late admin': '403 confirm', ...MAIN },
  },
  {
    op: 'deleteProfile',
    says: 'Main profile, confirmed. Its watch state, ratings, queues and notes go by job `profile.purge`',
    ask: async (world) => ({ params: { id: await world.profile('member') } }),
    answers: { member: 'ok', ...MAIN, ...LATE, ...STRANGERS },
  },
  {
    op: 'selectProfile',
    says: 'Puts this session into the profile',
    ask: (world) => ({ params: { id: world.people['profile of the member'].profileId } }),
    answers: { ...all('404', 'owner', 'admin', 'another member', 'parent', 'child', 'guest') },
  },
  {
    op: 'setProfileAvatar',
    says: "Own account's profiles; `user:manage` for those of role child and guest.",
    when: 'of a child',
    ask: (world) => ({ params: { id: world.people.child.profileId }, ...PICTURE }),
    answers: { ...all('ok', 'child', 'owner', 'admin', 'parent'), ...all('404', 'member', 'another member', 'guest') },
  },
  {
    op: 'setProfileAvatar',
    says: "Own account's profiles; `user:manage` for those of role child and guest.",
    when: 'of a member',
    ask: (world) => ({ params: { id: world.people.member.profileId }, ...PICTURE }),
    answers: {
      member: 'ok',
      ...all('403 role', 'owner', 'admin', 'parent'),
      ...all('404', 'another member', 'child', 'guest'),
      ...MAIN,
    },
  },
  {
    op: 'answerQuickConnect',
    says: 'a profile other than main may approve only for itself.',
    ask: async (world) => ({
      params: { code: await world.quickConnect() },
      body: { decision: 'approve', profileId: world.people.member.profileId },
    }),
    answers: { member: 'ok', ...MAIN, ...all('404', 'owner', 'another member', 'child') },
  },
  {
    op: 'answerQuickConnect',
    says: "userId lets a parent set up a child's tablet without a password; any other role is 403.",
    when: 'for a child',
    ask: async (world) => ({
      params: { code: await world.quickConnect() },
      body: { decision: 'approve', userId: world.people.child.accountId },
    }),
    answers: { ...all('ok', 'owner', 'admin', 'parent'), ...all('403 user:manage', 'member', 'child', 'guest') },
  },
  {
    op: 'answerQuickConnect',
    says: "userId lets a parent set up a child's tablet without a password; any other role is 403.",
    when: 'for a member',
    ask: async (world) => ({
      params: { code: await world.quickConnect() },
      body: { decision: 'approve', userId: world.people.member.accountId },
    }),
    answers: { ...all('403 role', 'owner', 'admin', 'parent'), member: '403 user:manage' },
  },
  {
    op: 'answerQuickConnect',
    says: 'With the restriction `quickConnect` (Users) on deny nobody approves for that account but by userId.',
    when: 'for oneself',
    ask: async (world, caller) => {
      await world.restrict(caller, 'quickConnect');
      return { params: { code: await world.quickConnect() }, body: { decision: 'approve' } };
    },
    answers: { ...all('403 quickConnect', 'another member', 'guest'), member: 'ok' },
  },
  {
    op: 'answerQuickConnect',
    says: 'With the restriction `quickConnect` (Users) on deny nobody approves for that account but by userId.',
    when: 'by userId',
    ask: async (world) => {
      await world.restrict('guest', 'quickConnect');
      const body = { decision: 'approve', userId: world.people.guest.accountId };
      return { params: { code: await world.quickConnect() }, body };
    },
    answers: { ...all('ok', 'owner', 'admin', 'parent'), guest: '403 user:manage' },
  },
  {
    op: 'logout',
    says: 'An API key is 403; it is ended in API keys.',
    ask: () => ({}),
    answers: all('403 credential', "the member's key", "the admin's key", 'operator'),
  },
];

/** One pixel. */
const PICTURE = {
  body: Buffer.from('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=', 'base64'),
  headers: { 'content-type': 'image/gif' },
};

const HOLDERS: Partial<Record<Caller, string>> = { ...MAIN, ...all('403 role', 'child', 'guest') };

export const keyRows: Row[] = [
  {
    op: 'listApiKeys',
    says: "Own ones without userId; the secret is in no answer. Another account's without `user:manage` is 403.",
    ask: (world) => ({ query: { userId: world.people.member.accountId } }),
    answers: {
      ...all('ok', 'member', 'owner', 'admin', 'parent'),
      ...all('403 user:manage', 'another member', 'editor'),
      ...HOLDERS,
    },
  },
  {
    op: 'listApiKeys',
    says: 'userId?(of another account, or all, with user:manage)',
    when: 'all',
    ask: () => ({ query: { userId: 'all' } }),
    answers: { ...all('ok', 'owner', 'admin', 'parent'), member: '403 user:manage', ...HOLDERS },
  },
  {
    op: 'createApiKey',
    says: 'Confirmed session (Auth). Scopes the account lacks are 403 `FORBIDDEN` with details.scopes listing just those',
    ask: () => ({ body: { name: 'script', scopes: ['library:view'], expiresAt: soon() } }),
    answers: { ...all('ok', 'member', 'owner'), ...LATE, 'late owner': '403 confirm', ...HOLDERS },
  },
  {
    op: 'createApiKey',
    says: 'Scopes the account lacks are 403 `FORBIDDEN` with details.scopes listing just those',
    when: 'more than the account may',
    ask: () => ({ body: { name: 'script', scopes: ['library:view', 'item:edit', 'user:manage'], expiresAt: soon() } }),
    answers: {
      admin: 'ok',
      member: '403 item:edit,user:manage',
      editor: '403 user:manage',
      parent: '403 item:edit',
    },
  },
  {
    op: 'createApiKey',
    says: 'profileId?(own)',
    ask: (world) => ({
      body: {
        name: 'script',
        scopes: ['library:view'],
        expiresAt: soon(),
        profileId: world.people['profile of the member'].profileId,
      },
    }),
    answers: { member: 'ok', ...all('404', 'owner', 'admin', 'another member') },
  },
  {
    op: 'updateApiKey',
    says: 'Own keys only, by the same rules as making one',
    ask: async (world) => ({ params: { id: await world.key('member') }, body: { name: 'other' } }),
    answers: {
      ...all('ok', 'member', 'late member'),
      ...all('404', 'owner', 'admin', 'parent', 'another member'),
      ...HOLDERS,
    },
  },
  {
    op: 'updateApiKey',
    says: 'adding a scope, a later expiry or a higher limit needs a confirmed session.',
    when: 'a scope',
    ask: async (world) => ({
      params: { id: await world.key('member') },
      body: { scopes: ['library:view', 'playlist:own'] },
    }),
    answers: { member: 'ok', ...LATE },
  },
  {
    op: 'updateApiKey',
    says: 'adding a scope, a later expiry or a higher limit needs a confirmed session.',
    when: 'an expiry',
    ask: async (world) => ({ params: { id: await world.key('member') }, body: { expiresAt: null } }),
    answers: { member: 'ok', ...LATE },
  },
  {
    op: 'updateApiKey',
    says: 'adding a scope, a later expiry or a higher limit needs a confirmed session.',
    when: 'a limit',
    ask: async (world) => ({ params: { id: await world.key('member') }, body: { requestsPerMinute: 9000 } }),
    answers: { member: 'ok', ...LATE },
  },
  {
    op: 'updateApiKey',
    says: 'by the same rules as making one',
    when: 'more than the account may',
    ask: async (world) => ({ params: { id: await world.key('member') }, body: { scopes: ['item:edit'] } }),
    answers: { member: '403 item:edit' },
  },
  {
    op: 'revokeApiKey',
    says: "Own ones, or anyone's but the owner's with `user:manage`; 404 else.",
    ask: async (world) => ({ params: { id: await world.key('member') } }),
    answers: {
      ...all('ok', 'member', 'late member', 'owner', 'admin', 'parent'),
      ...all('404', 'another member', 'editor'),
      ...HOLDERS,
    },
  },
  {
    op: 'revokeApiKey',
    says: "Own ones, or anyone's but the owner's with `user:manage`; 404 else.",
    when: "the owner's",
    ask: async (world) => ({ params: { id: await world.key('owner') } }),
    answers: { ...all('ok', 'owner'), ...all('404', 'admin', 'parent', 'member') },
  },
  ...(['updateApiKey', 'revokeApiKey'] as const).map(
    (op): Row => ({
      op,
      says: 'The owner sees it in the list with managedBy; changing or revoking it here is 409 `managed-by-resource`.',
      ask: async (world) => ({
        params: { id: await world.operatorKeyId() },
        ...(op === 'updateApiKey' && { body: { name: 'other' } }),
      }),
      answers: { owner: '409 managed-by-resource', ...all('404', 'admin', 'parent', 'member') },
    }),
  ),
];
