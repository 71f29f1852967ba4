// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import type { OperationId } from '#support/api.ts';
import { all, type Row } from '#support/record-row.ts';
import type { World } from '#support/record-world.ts';

type Make = (world: World) => string | Promise<string>;

/** Each operation that manages an account, with a question that changes little. */
const MANAGING: Partial<Record<OperationId, (world: World, id: string) => object | Promise<object>>> = {
  updateUser: () => ({ body: { note: 'seen' } }),
  setUserAccess: () => ({ body: { libraries: { mode: 'default', ids: [] }, restrictions: {}, limits: {} } }),
  setUserPermissions: () => ({ body: { grant: [], withhold: [] } }),
  resetUserSignIn: () => ({ body: { link: false } }),
  deleteUser: async (world, id) => ({ query: { confirm: await world.username(id) } }),
};

interface Managed {
  says: string;
  when: string;
  id: Make;
  answers: Row['answers'];
}

const managing = ({ id: make, ...row }: Managed): Row[] =>
  (Object.keys(MANAGING) as (keyof typeof MANAGING)[]).map((op) => ({
    op,
    ...row,
    request: async (world) => {
      const id = await make(world);
      return { params: { id }, ...(await MANAGING[op]?.(world, id)) };
    },
  }));

const RANK = 'A caller may manage accounts of a lower rank than its own (owner over admin over member, child, guest)';

const ABOVE = 'admins see other admins and the owner and cannot change them (403, details.by rank)';

const SELF = 'Nobody changes own role, own disabled, or deletes themself here.';

const GIVE = 'Nobody gives a permission, a library or a longer reach than they have themself';

const SYSTEM = 'its id is 404 here, and no endpoint makes or changes it';

const somebodyWithDevice = async (world: World, role: 'admin' | 'member') => world.device(await world.somebody(role));

export const rows: Row[] = [
  ...managing({
    says: RANK,
    when: 'of a member',
    id: (world) => world.somebody('member'),
    answers: { ...all('ok', 'owner', 'admin'), parent: '403 rank' },
  }),
  ...managing({
    says: RANK,
    when: 'of a child',
    id: (world) => world.somebody('child'),
    answers: all('ok', 'owner', 'admin', 'parent'),
  }),
  ...managing({
    says: ABOVE,
    when: 'of an admin',
    id: (world) => world.somebody('admin'),
    answers: { owner: 'ok', ...all('403 rank', 'admin', 'parent') },
  }),
  ...managing({
    says: ABOVE,
    when: 'of the owner',
    id: (world) => world.people.owner.accountId,
    answers: all('403 rank', 'admin', 'another admin', 'parent'),
  }),
  ...managing({
    says: SYSTEM,
    when: 'of the system',
    id: (world) => world.systemAccount(),
    answers: all('404', 'owner', 'admin'),
  }),
  {
    op: 'getUser',
    says: SYSTEM,
    request: async (world) => ({ params: { id: await world.systemAccount() } }),
    answers: all('404', 'owner', 'admin'),
  },
  {
    op: 'getUser',
    says: 'admins see other admins and the owner',
    request: (world) => ({ params: { id: world.people.owner.accountId } }),
    answers: all('ok', 'owner', 'admin', 'parent'),
  },
  {
    op: 'updateUser',
    says: 'are read-only in the declared fields, 409 `managed-by-resource`',
    request: async (world, caller) => ({
      params: { id: await world.declaredAdmin() },
      body: { username: `now ${caller} ${Date.now()}` },
    }),
    answers: { owner: '409 managed-by-resource', admin: '403 rank' },
  },
  ...[{ role: 'member' }, { disabled: true }].map(
    (body): Row => ({
      op: 'updateUser',
      says: SELF,
      when: `own ${Object.keys(body).join()}`,
      request: (world, caller) => ({ params: { id: world.people[caller].accountId }, body }),
      answers: all('403 self', 'owner', 'admin', 'parent'),
    }),
  ),
  {
    op: 'deleteUser',
    says: SELF,
    request: async (world, caller) => {
      const id = world.people[caller].accountId;
      return { params: { id }, query: { confirm: await world.username(id) } };
    },
    answers: all('403 self', 'owner', 'admin', 'parent'),
  },
  ...(['resetUserSignIn', 'deleteUser'] as const).map(
    (op): Row => ({
      op,
      says:
        op === 'deleteUser'
          ? 'Confirmed session. Sign-in, keys, shares and visibility end'
          : 'Confirmed session; rank holds',
      when: 'not confirmed',
      request: async (world) => {
        const id = await world.somebody('member');
        return { params: { id }, ...(await MANAGING[op]?.(world, id)) };
      },
      answers: all('403 confirm', 'late owner', 'late admin'),
    }),
  ),
  {
    op: 'updateUser',
    says: 'To or from admin needs the owner and a confirmed session.',
    when: 'to',
    request: async (world) => ({ params: { id: await world.somebody('member') }, body: { role: 'admin' } }),
    answers: { owner: 'ok', 'late owner': '403 confirm', ...all('403 rank', 'admin', 'parent') },
  },
  {
    op: 'updateUser',
    says: 'To or from admin needs the owner and a confirmed session.',
    when: 'from',
    request: async (world) => ({ params: { id: await world.somebody('admin') }, body: { role: 'member' } }),
    answers: { owner: 'ok', 'late owner': '403 confirm', admin: '403 rank' },
  },
  {
    op: 'createUser',
    says: 'Making an admin needs the owner.',
    request: (_world, caller) => ({ body: { username: `made by ${caller.replaceAll("'", '')}`, role: 'admin' } }),
    answers: { owner: 'ok', ...all('403 rank', 'admin', 'parent') },
  },
  {
    op: 'createInvite',
    says: 'role admin needs the owner.',
    request: () => ({ body: { role: 'admin' } }),
    answers: { owner: 'ok', ...all('403 rank', 'admin', 'parent') },
  },
  {
    op: 'setUserPermissions',
    says: 'Granting one the caller lacks is 403 with details.permission',
    request: async (world) => ({
      params: { id: await world.somebody('child') },
      body: { grant: ['photo:upload', 'download:own'], withhold: [] },
    }),
    answers: all('ok', 'owner', 'admin', 'parent'),
  },
  {
    op: 'createUser',
    says: GIVE,
    when: 'a permission',
    request: (_world, caller) => ({
      body: { username: `${caller} gave`, role: 'member', permissions: { 'item:edit': true } },
    }),
    answers: { ...all('ok', 'owner', 'admin'), parent: '403 rank' },
  },
  {
    op: 'setUserAccess',
    says: GIVE,
    when: 'a library',
    request: async (world) => ({
      params: { id: await world.somebody('child') },
      body: { libraries: { mode: 'default', ids: [await world.closedLibrary()] }, restrictions: {}, limits: {} },
    }),
    answers: { ...all('ok', 'owner', 'admin'), parent: '403 libraries' },
  },
  ...(['user:manage', 'settings:manage'] as const).map(
    (permission): Row => ({
      op: 'setUserPermissions',
      says: 'user:manage, settings:manage for a member need a confirmed session of the owner.',
      when: permission,
      request: async (world) => ({
        params: { id: await world.somebody('member') },
        body: { grant: [permission], withhold: [] },
      }),
      answers: { owner: 'ok', 'late owner': '403 confirm', admin: '403 owner' },
    }),
  ),
  {
    op: 'listUserDevices',
    says: 'The own account, or any with `user:manage` (404 otherwise).',
    request: (world) => ({ params: { id: world.people.member.accountId } }),
    answers: {
      ...all('ok', 'member', 'late member', 'profile of the member', "the member's key", 'owner', 'admin', 'parent'),
      ...all('404', 'another member', 'editor', 'child', 'guest'),
    },
  },
  ...(['updateUserDevice', 'removeUserDevice'] as const).flatMap((op): Row[] => {
    const more = op === 'updateUserDevice' ? { body: { name: 'Kitchen' } } : {};
    const says = 'Own (main profile) or `user:manage` within rank.';
    return [
      {
        op,
        says,
        when: 'of a member',
        request: async (world) => ({ params: await world.device(world.people.member.accountId), ...more }),
        answers: {
          ...all('ok', 'member', 'late member', 'owner', 'admin'),
          ...all('404', 'another member', 'editor', 'child', 'guest'),
          'profile of the member': '403 profile',
          parent: '403 rank',
        },
      },
      {
        op,
        says,
        when: 'of an admin',
        request: async (world) => ({ params: await somebodyWithDevice(world, 'admin'), ...more }),
        answers: { owner: 'ok', ...all('403 rank', 'admin', 'parent'), member: '404' },
      },
    ];
  }),
];
