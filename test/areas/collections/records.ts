// Refusals of the contract that depend on the owner of the collection; test/contract/record-matrix.test.ts sends the
// requests.
import { all, type Row } from '#support/record-row.ts';
import type { Caller, World } from '#support/record-world.ts';

let made = 0;
const draft = (more: object = {}) => {
  made += 1;
  return { name: `Collection ${made}`, ...more };
};

/** A collection of the caller `by` with the film that everyone sees. */
const collectionOf = async (world: World, by: Caller, more: object = {}): Promise<{ params: { id: string } }> => {
  const body = draft({ itemIds: [world.film], ...more });
  const answer = await world.api.as(world.people[by]).createCollection({ body });
  return { params: { id: answer.body.id } };
};
const shared = (world: World) => collectionOf(world, 'member', { sharing: 'everyone' });
const LOOKERS: Caller[] = ['another member', 'child'];
const ADMINS: Caller[] = ['owner', 'admin', 'editor'];

const editing = [
  ['updateCollection', { overview: 'x' }],
  ['addCollectionItems', undefined],
  ['changeCollectionItems', { remove: [] }],
  ['deleteCollection', undefined],
] as const;

export const rows: Row[] = [
  {
    op: 'getCollection',
    says: 'private is seen by the owner, accounts by the owner and those named, everyone by all',
    when: 'a private one',
    request: (world) => collectionOf(world, 'member'),
    answers: {
      ...all('ok', 'member', 'profile of the member', "the member's key"),
      ...all('404', ...ADMINS, ...LOOKERS, 'guest'),
    },
  },
  {
    op: 'getCollection',
    says: 'private is seen by the owner, accounts by the owner and those named, everyone by all',
    when: 'one that is shared by name',
    request: (world) =>
      collectionOf(world, 'member', { sharing: 'accounts', userIds: [world.people['another member'].accountId] }),
    answers: { ...all('ok', 'member', 'another member'), ...all('404', ...ADMINS, 'child', 'guest') },
  },
  {
    op: 'getCollection',
    says: 'private is seen by the owner, accounts by the owner and those named, everyone by all',
    when: 'one for everyone',
    request: shared,
    answers: all('ok', 'member', ...ADMINS, ...LOOKERS, 'guest'),
  },
  ...editing.flatMap(([op, body]): Row[] => [
    {
      op,
      says: op === 'updateCollection' ? 'Editors only, 403 for others who see it.' : 'Editors only',
      when: 'of a member',
      request: async (world) => ({
        ...(await shared(world)),
        ...(op === 'addCollectionItems' ? { body: { itemIds: [world.film] } } : body && { body }),
      }),
      answers: {
        ...all('ok', 'member', 'profile of the member'),
        ...all('403 owner', ...ADMINS, ...LOOKERS),
        guest: '403 playlist:own',
        "the member's key": '403 playlist:own',
      },
    },
    {
      op,
      says: 'a collection of the server (no owner; made by an agent or by an admin with `ofServer`) is edited with `item:edit`',
      when: 'of the server',
      request: async (world) => ({
        ...(await collectionOf(world, 'admin', { sharing: 'everyone', ofServer: true })),
        ...(op === 'addCollectionItems' ? { body: { itemIds: [world.film] } } : body && { body }),
      }),
      answers: { ...all('ok', ...ADMINS), ...all('403 item:edit', 'member', ...LOOKERS), guest: '403 playlist:own' },
    },
  ]),
  {
    op: 'createCollection',
    says: "everyone by all (not for a child's, 403 details.by role)",
    request: () => ({ body: draft({ sharing: 'everyone' }) }),
    answers: { ...all('ok', 'owner', 'admin', 'member'), child: '403 role', guest: '403 playlist:own' },
  },
  {
    op: 'createCollection',
    says: 'ofServer needs `item:edit` (403)',
    request: () => ({ body: draft({ ofServer: true }) }),
    answers: { ...all('ok', ...ADMINS), ...all('403 item:edit', 'member', 'child') },
  },
  {
    op: 'createCollection',
    says: '`pinned` home or library for everyone needs `library:manage`',
    request: () => ({ body: draft({ sharing: 'everyone', pinned: ['home'] }) }),
    answers: { ...all('ok', 'owner', 'admin'), ...all('403 library:manage', 'member', 'editor') },
  },
];
