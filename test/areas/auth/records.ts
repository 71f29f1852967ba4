// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import { ABSENT } from '#support/answers.ts';
import { all, listed, type Row } from '#support/record-row.ts';
import type { Caller } from '#support/record-world.ts';

const MAIN: Partial<Record<Caller, string>> = { 'profile of the member': '403 profile' };

const LATE = { 'late member': '403 confirm' };

const STRANGERS = all('404', 'owner', 'admin', 'another member', 'parent', 'child', 'guest');

/** One pixel. */
const PICTURE = {
  body: Buffer.from('R0lGODlhAQABAIAAAP///wAAACwAAAAAAQABAAACAkQBADs=', 'base64'),
  headers: { 'content-type': 'image/gif' },
};

export const rows: Row[] = [
  {
    op: 'getMe',
    says: 'Profiles of the account are listed for all its profiles (the picker), limits only for main.',
    request: async (world) => {
      const { profileId } = world.people['profile of the member'];
      await world.request('member', 'updateProfile', { params: { id: profileId }, body: { limits: { ageLimit: 6 } } });
      return {};
    },
    answers: { member: 'limits', 'profile of the member': 'no limits', 'another member': 'no limits' },
    read: ({ profiles }: { profiles: { limits?: object }[] }) =>
      profiles.some(({ limits }) => limits) ? 'limits' : 'no limits',
  },
  {
    op: 'listSessions',
    says: 'Own account, all profiles for main, else those of the profile.',
    request: async (world) => ({ headers: { 'x-of': await world.session('member') } }),
    answers: {
      member: 'listed',
      ...all('not listed', 'profile of the member', 'owner', 'admin', 'another member', 'child'),
    },
    read: listed,
  },
  {
    op: 'endSession',
    says: 'Own sessions, 404 for others.',
    request: async (world) => ({ params: { id: await world.session('member') } }),
    answers: { ...all('ok', 'member', 'late member'), 'profile of the member': '404', ...STRANGERS },
  },
  {
    op: 'endSession',
    says: 'Own sessions, 404 for others.',
    when: 'of a profile',
    request: async (world) => ({ params: { id: await world.session('profile of the member') } }),
    answers: { ...all('ok', 'member', 'profile of the member'), ...STRANGERS },
  },
  {
    op: 'endOtherSessions',
    says: 'Main profile. With apiKeys also revokes all keys of the account',
    request: () => ({ query: { keepCurrent: true } }),
    answers: MAIN,
  },
  {
    op: 'listSignInMethods',
    says: 'Main profile. No secrets, ever.',
    request: () => ({}),
    answers: { member: 'ok', ...MAIN },
  },
  ...(['startTotp', 'createRecoveryCodes'] as const).map(
    (op): Row => ({
      op,
      says: 'Main profile, confirmed.',
      request: () => ({}),
      answers: { member: op === 'startTotp' ? 'ok' : '409 two-factor-off', ...MAIN, ...LATE },
    }),
  ),
  {
    op: 'startPasskeyRegistration',
    says: 'Main profile, confirmed. residentKey required',
    request: () => ({}),
    answers: { member: '409 insecure-origin', ...MAIN, ...LATE },
  },
  {
    op: 'removeSignInMethod',
    says: 'Main profile, confirmed. TOTP takes its recovery codes along',
    request: () => ({ params: { id: ABSENT } }),
    answers: { member: '404', ...MAIN, ...LATE },
  },
  {
    op: 'updateMe',
    says: 'Main profile. username and email need confirmed; children cannot change username, email and discoverable (403).',
    request: (_world, caller) => ({ body: { username: `new name ${caller.length} ${Date.now()}` } }),
    answers: { ...all('ok', 'guest', 'another admin'), child: '403 role', ...MAIN, ...LATE },
  },
  {
    op: 'updateMe',
    says: 'children cannot change username, email and discoverable (403).',
    when: 'email',
    request: () => ({ body: { email: 'somebody@example.org' } }),
    answers: { child: '403 role', ...MAIN, ...LATE },
  },
  {
    op: 'updateMe',
    says: 'children cannot change username, email and discoverable (403).',
    when: 'discoverable',
    request: () => ({ body: { discoverable: true } }),
    answers: { ...all('ok', 'member', 'late member', 'guest'), child: '403 role', ...MAIN },
  },
  {
    op: 'changePassword',
    says: 'Main profile. A wrong current one is 400',
    request: () => ({ body: { newPassword: 'quite a long new one', currentPassword: 'wrong' } }),
    answers: MAIN,
  },
  {
    op: 'createProfile',
    says: 'Accounts of role child and guest have main only (403).',
    request: (_world, caller) => ({ body: { name: `of ${caller}` } }),
    answers: { ...all('ok', 'another member', 'another admin'), ...all('403 role', 'child', 'guest'), ...MAIN },
  },
  {
    op: 'updateProfile',
    says: 'Main changes all of its account; another profile its own name, color, language, time zone, country and avatar.',
    when: 'its own name',
    request: (world) => ({ params: { id: world.people['profile of the member'].profileId }, body: { color: 'red' } }),
    answers: { ...all('ok', 'member', 'late member', 'profile of the member'), ...STRANGERS },
  },
  {
    op: 'updateProfile',
    says: 'Main changes all of its account; another profile its own name, color, language, time zone, country and avatar.',
    when: 'its limits',
    request: (world) => ({ params: { id: world.people['profile of the member'].profileId }, body: { limits: null } }),
    answers: { ...all('ok', 'member', 'late member'), ...MAIN, ...STRANGERS },
  },
  {
    op: 'updateProfile',
    says: 'Main changes all of its account; another profile its own name, color, language, time zone, country and avatar.',
    when: 'another of the account',
    request: async (world) => ({ params: { id: await world.profile('member') }, body: { color: 'red' } }),
    answers: { ...all('ok', 'member', 'late member'), ...MAIN, ...STRANGERS },
  },
  {
    op: 'updateProfile',
    says: "private and keepHistory are not a child account's to change (403 details.by role).",
    request: (world, caller) => ({ params: { id: world.people[caller].profileId }, body: { keepHistory: true } }),
    answers: { ...all('ok', 'member', 'guest', 'admin'), child: '403 role', ...MAIN },
  },
  {
    op: 'updateProfile',
    says: "Setting or removing main's PIN needs confirmed.",
    request: (world, caller) => ({ params: { id: world.people[caller].profileId }, body: { pin: null } }),
    answers: { ...all('ok', 'member', 'child', 'admin'), ...LATE, 'late admin': '403 confirm', ...MAIN },
  },
  {
    op: 'deleteProfile',
    says: 'Main profile, confirmed. Its watch state, ratings, queues and notes go by job `profile.purge`',
    request: async (world) => ({ params: { id: await world.profile('member') } }),
    answers: { member: 'ok', ...MAIN, ...LATE, ...STRANGERS },
  },
  {
    op: 'selectProfile',
    says: 'Puts this session into the profile',
    request: (world) => ({ params: { id: world.people['profile of the member'].profileId } }),
    answers: { ...all('404', 'owner', 'admin', 'another member', 'parent', 'child', 'guest') },
  },
  {
    op: 'setProfileAvatar',
    says: "Own account's profiles; `user:manage` for those of role child and guest.",
    when: 'of a child',
    request: (world) => ({ params: { id: world.people.child.profileId }, ...PICTURE }),
    answers: { ...all('ok', 'child', 'owner', 'admin', 'parent'), ...all('404', 'member', 'another member', 'guest') },
  },
  {
    op: 'setProfileAvatar',
    says: "Own account's profiles; `user:manage` for those of role child and guest.",
    when: 'of a member',
    request: (world) => ({ params: { id: world.people.member.profileId }, ...PICTURE }),
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
    request: async (world) => ({
      params: { code: await world.quickConnect() },
      body: { decision: 'approve', profileId: world.people.member.profileId },
    }),
    answers: { member: 'ok', ...MAIN, ...all('404', 'owner', 'another member', 'child') },
  },
  {
    op: 'answerQuickConnect',
    says: "userId lets a parent set up a child's tablet without a password; any other role is 403.",
    when: 'for a child',
    request: async (world) => ({
      params: { code: await world.quickConnect() },
      body: { decision: 'approve', userId: world.people.child.accountId },
    }),
    answers: { ...all('ok', 'owner', 'admin', 'parent'), ...all('403 user:manage', 'member', 'child', 'guest') },
  },
  {
    op: 'answerQuickConnect',
    says: "userId lets a parent set up a child's tablet without a password; any other role is 403.",
    when: 'for a member',
    request: async (world) => ({
      params: { code: await world.quickConnect() },
      body: { decision: 'approve', userId: world.people.member.accountId },
    }),
    answers: { ...all('403 role', 'owner', 'admin', 'parent'), member: '403 user:manage' },
  },
  {
    op: 'answerQuickConnect',
    says: 'With the restriction `quickConnect` (Users) on deny nobody approves for that account but by userId.',
    when: 'for oneself',
    request: async (world, caller) => {
      await world.restrict(caller, 'quickConnect');
      return { params: { code: await world.quickConnect() }, body: { decision: 'approve' } };
    },
    answers: { ...all('403 quickConnect', 'another member', 'guest'), member: 'ok' },
  },
  {
    op: 'answerQuickConnect',
    says: 'With the restriction `quickConnect` (Users) on deny nobody approves for that account but by userId.',
    when: 'by userId',
    request: async (world) => {
      await world.restrict('guest', 'quickConnect');
      const body = { decision: 'approve', userId: world.people.guest.accountId };
      return { params: { code: await world.quickConnect() }, body };
    },
    answers: { ...all('ok', 'owner', 'admin', 'parent'), guest: '403 user:manage' },
  },
  {
    op: 'logout',
    says: 'An API key is 403; it is ended in API keys.',
    request: () => ({}),
    answers: all('403 credential', "the member's key", "the admin's key", 'operator'),
  },
];
