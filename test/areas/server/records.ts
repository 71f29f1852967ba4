// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import { all, listed, type Row } from '#support/record-row.ts';
import type { Caller } from '#support/record-world.ts';

const STRANGERS: Caller[] = ['another member', 'parent', 'child', 'guest'];

const OWNER = '403 owner';

export const rows: Row[] = [
  ...(['updateSettings', 'setSetting'] as const).map(
    (op): Row => ({
      op,
      says: 'keys marked ownerOnly are written by the owner only, in a confirmed session (Auth). API keys with the scope may write the rest.',
      when: 'a key for the owner',
      request: () =>
        op === 'setSetting'
          ? { params: { key: 'auth.oidc.name' }, body: { value: null } }
          : { body: { values: { 'auth.oidc.name': null } } },
      answers: { owner: 'ok', 'late owner': '403 confirm', ...all(OWNER, 'admin', "the admin's key", 'operator') },
    }),
  ),
  {
    op: 'updateSettings',
    says: 'API keys with the scope may write the rest.',
    request: () => ({ body: { values: { 'server.notice': null } } }),
    answers: { ...all('ok', 'owner', 'late owner', 'admin', "the admin's key"), member: '403 settings:manage' },
  },
  {
    op: 'offerServerClaim',
    says: 'The owner only (403 details.by owner), a signed-in person with a confirmed session (Auth), never a key.',
    request: async (world) => {
      await world.withoutOffer();
      return { body: { userId: world.people['another admin'].accountId } };
    },
    answers: {
      owner: 'ok',
      'late owner': '403 confirm',
      ...all(OWNER, 'admin', 'another admin'),
      "the admin's key": '403 api-key',
    },
  },
  {
    op: 'acceptServerClaim',
    says: 'The account it was offered to, signed in and confirmed; others get 404.',
    request: async (world) => ({ body: { offerId: await world.offerTo('another admin') } }),
    answers: {
      'another admin': '409 sign-in-too-weak',
      ...all('404', 'owner', 'admin'),
      "the admin's key": '403 api-key',
    },
  },
  {
    op: 'cancelServerClaim',
    says: 'Withdrawn by the owner or declined by the other; 403 for anyone else.',
    request: async (world) => {
      await world.offerTo('another admin');
      return {};
    },
    answers: { ...all('ok', 'owner', 'another admin'), admin: OWNER },
  },
  {
    op: 'getServerClaim',
    says: 'The offer is shown to the owner and to the account it is made to.',
    request: async (world) => {
      await world.offerTo('another admin');
      return {};
    },
    answers: { ...all('shown', 'owner', 'another admin'), ...all('not shown', 'admin', 'operator') },
    read: ({ offer }: { offer?: object }) => (offer ? 'shown' : 'not shown'),
  },
  {
    op: 'deleteNotification',
    says: 'Idempotent for own ids, 404 for others.',
    request: async (world) => ({ params: { id: await world.notification('member') } }),
    answers: {
      ...all('ok', 'member', "the member's key"),
      ...all('404', 'profile of the member', 'owner', 'admin', ...STRANGERS),
    },
  },
  {
    op: 'listNotifications',
    says: "Own ones only, no permission opens another's.",
    request: async (world) => ({ headers: { 'x-of': await world.notification('member') } }),
    answers: { member: 'listed', ...all('not listed', 'profile of the member', 'owner', 'admin', ...STRANGERS) },
    read: listed,
  },
  {
    op: 'markNotificationsRead',
    says: 'Unknown ids are passed over.',
    request: async (world) => ({ body: { ids: [await world.notification('member')] } }),
    answers: { member: '1 changed', ...all('0 changed', 'profile of the member', 'owner', 'admin', ...STRANGERS) },
    read: ({ changed }: { changed: number }) => `${changed} changed`,
  },
  {
    op: 'unsubscribePush',
    says: 'Any device of the own account.',
    request: async (world) => ({ params: { id: await world.pushSubscription('member') } }),
    answers: { ...all('ok', 'member', 'profile of the member'), ...all('404', 'owner', 'admin', ...STRANGERS) },
  },
  {
    op: 'listJobs',
    says: 'With `job:manage` all jobs, and queues. Without it only those the caller started, and no queues',
    request: async (world) => ({ headers: { 'x-of': await world.job('member') } }),
    answers: {
      ...all('listed, queues', 'owner', 'admin'),
      ...all('listed', 'member'),
      ...all('not listed', ...STRANGERS),
    },
    read: (body: { items: { id: string }[]; queues?: unknown[] }, input) =>
      `${listed(body, input)}${body.queues ? ', queues' : ''}`,
  },
  ...(['member', 'admin', 'owner'] as const).map(
    (to): Row => ({
      op: 'listEmailMessages',
      says: 'With rank as in Users, subjects of mails to higher ones are left out.',
      when: `to the ${to}`,
      request: async (world) => ({ headers: { 'x-of': await world.mail(to) } }),
      answers: {
        owner: 'a subject',
        admin: to === 'owner' ? 'no subject' : 'a subject',
        'another admin': to === 'member' ? 'a subject' : 'no subject',
        ...all('403 settings:manage', 'member', 'child', 'guest'),
      },
      read: ({ items }: { items: { id: string; subject?: string }[] }, { headers }) =>
        items.find(({ id }) => id === headers?.['x-of'])?.subject === undefined ? 'no subject' : 'a subject',
    }),
  ),
];
