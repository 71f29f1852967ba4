// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import { all, type Row } from '#support/record-row.ts';
import type { Caller } from '#support/record-world.ts';

const soon = (): string => new Date(Date.now() + 3_600_000).toISOString();

const MAIN: Partial<Record<Caller, string>> = { 'profile of the member': '403 profile' };

const LATE = { 'late member': '403 confirm' };

const HOLDERS: Partial<Record<Caller, string>> = { ...MAIN, ...all('403 role', 'child', 'guest') };

export const rows: Row[] = [
  {
    op: 'listApiKeys',
    says: "Own ones without userId; the secret is in no answer. Another account's without `user:manage` is 403.",
    request: (world) => ({ query: { userId: world.people.member.accountId } }),
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
    request: () => ({ query: { userId: 'all' } }),
    answers: { ...all('ok', 'owner', 'admin', 'parent'), member: '403 user:manage', ...HOLDERS },
  },
  {
    op: 'createApiKey',
    says: 'Confirmed session (Auth). Scopes the account lacks are 403 `FORBIDDEN` with details.scopes listing just those',
    request: () => ({ body: { name: 'script', scopes: ['library:view'], expiresAt: soon() } }),
    answers: { ...all('ok', 'member', 'owner'), ...LATE, 'late owner': '403 confirm', ...HOLDERS },
  },
  {
    op: 'createApiKey',
    says: 'Scopes the account lacks are 403 `FORBIDDEN` with details.scopes listing just those',
    when: 'more than the account may',
    request: () => ({
      body: { name: 'script', scopes: ['library:view', 'item:edit', 'user:manage'], expiresAt: soon() },
    }),
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
    request: (world) => ({
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
    request: async (world) => ({ params: { id: await world.key('member') }, body: { name: 'other' } }),
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
    request: async (world) => ({
      params: { id: await world.key('member') },
      body: { scopes: ['library:view', 'playlist:own'] },
    }),
    answers: { member: 'ok', ...LATE },
  },
  {
    op: 'updateApiKey',
    says: 'adding a scope, a later expiry or a higher limit needs a confirmed session.',
    when: 'an expiry',
    request: async (world) => ({ params: { id: await world.key('member') }, body: { expiresAt: null } }),
    answers: { member: 'ok', ...LATE },
  },
  {
    op: 'updateApiKey',
    says: 'adding a scope, a later expiry or a higher limit needs a confirmed session.',
    when: 'a limit',
    request: async (world) => ({ params: { id: await world.key('member') }, body: { requestsPerMinute: 9000 } }),
    answers: { member: 'ok', ...LATE },
  },
  {
    op: 'updateApiKey',
    says: 'by the same rules as making one',
    when: 'more than the account may',
    request: async (world) => ({ params: { id: await world.key('member') }, body: { scopes: ['item:edit'] } }),
    answers: { member: '403 item:edit' },
  },
  {
    op: 'revokeApiKey',
    says: "Own ones, or anyone's but the owner's with `user:manage`; 404 else.",
    request: async (world) => ({ params: { id: await world.key('member') } }),
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
    request: async (world) => ({ params: { id: await world.key('owner') } }),
    answers: { ...all('ok', 'owner'), ...all('404', 'admin', 'parent', 'member') },
  },
  ...(['updateApiKey', 'revokeApiKey'] as const).map(
    (op): Row => ({
      op,
      says: 'The owner sees it in the list with managedBy; changing or revoking it here is 409 `managed-by-resource`.',
      request: async (world) => ({
        params: { id: await world.operatorKeyId() },
        ...(op === 'updateApiKey' && { body: { name: 'other' } }),
      }),
      answers: { owner: '409 managed-by-resource', ...all('404', 'admin', 'parent', 'member') },
    }),
  ),
];
