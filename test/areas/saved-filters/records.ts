// Refusals of the contract that depend on the owner of the filter; test/contract/record-matrix.test.ts sends the
// requests.
import { newId } from '#platform/ids.ts';
import { all, type Row } from '#support/record-row.ts';
import type { Caller, World } from '#support/record-world.ts';

let made = 0;
const draft = (more: object = {}) => {
  made += 1;
  return { name: `Filter ${made}`, filter: 'year:gte:2000', ...more };
};

const filterOf = async (world: World, by: Caller, more: object = {}) => {
  const params = { id: world.films.id, filterId: newId() };
  await world.api.as(world.people[by]).saveFilter({ params, body: draft(more) });
  return { params };
};
const MEMBERS: Caller[] = ['member', 'another member', 'editor', 'child', 'guest'];

export const rows: Row[] = [
  {
    op: 'saveFilter',
    says: "Another person's private id is 404 and never overwritten.",
    request: async (world) => ({ ...(await filterOf(world, 'member')), body: draft() }),
    answers: {
      member: 'ok',
      ...all('404', 'owner', 'admin', 'profile of the member', 'another member', 'child', 'guest'),
    },
  },
  {
    op: 'saveFilter',
    says: '`shared` true, and any change to a shared one, needs `library:manage` (403).',
    when: 'a new one',
    request: (world) => ({ params: { id: world.films.id, filterId: newId() }, body: draft({ shared: true }) }),
    answers: { ...all('ok', 'owner', 'admin'), ...all('403 library:manage', ...MEMBERS) },
  },
  {
    op: 'saveFilter',
    says: '`shared` true, and any change to a shared one, needs `library:manage` (403).',
    when: 'a shared one',
    request: async (world) => ({ ...(await filterOf(world, 'admin', { shared: true })), body: draft() }),
    answers: { ...all('ok', 'owner', 'admin'), ...all('403 library:manage', ...MEMBERS) },
  },
  {
    op: 'deleteSavedFilter',
    says: "One's own, or a shared one with `library:manage` (403 else).",
    request: (world) => filterOf(world, 'admin', { shared: true }),
    answers: { ...all('ok', 'owner', 'admin'), ...all('403 library:manage', ...MEMBERS) },
  },
];
