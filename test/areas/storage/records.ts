// Refusals of the contract that depend on the owner of the storage; test/contract/record-matrix.test.ts sends the
// requests.
import { newId } from '#platform/ids.ts';
import { all, listed, type Row } from '#support/record-row.ts';
import type { Caller, RequestInput, World } from '#support/record-world.ts';

const MANAGERS: Caller[] = ['owner', 'admin', "the admin's key"];
const OTHERS: Caller[] = ['editor', 'another member'];
const NEITHER: Caller[] = ['child', 'guest', "the member's key"];
const SAYS = 'Without it an account with `photo:upload` sees and manages only drives it connected itself';

/** A drive of the member. */
async function drive({ api, people }: World, more: object = {}): Promise<string> {
  const id = newId();
  const settings = JSON.stringify({ url: `https://dav.example/${id}`, insecureTls: false });
  const row = { id, name: id, kind: 'webdav', settings, owner_id: people.member.accountId };
  await api.deps.db('storages').insert({ ...row, ...more });
  return id;
}

const ofDrive =
  (more: RequestInput = {}) =>
  async (world: World): Promise<RequestInput> => ({ params: { id: await drive(world) }, ...more });

const OWN = { ...all('ok', 'member', ...MANAGERS), ...all('404', ...OTHERS) };
const CLOSED = all('403 library:manage', ...NEITHER);

export const rows: Row[] = [
  {
    op: 'listStorages',
    says: SAYS,
    request: async (world) => ({ headers: { 'x-of': await drive(world) } }),
    answers: {
      ...all('listed', 'member', ...MANAGERS),
      ...all('not listed', ...OTHERS),
      ...CLOSED,
    },
    read: listed,
  },
  { op: 'getStorage', says: SAYS, request: ofDrive(), answers: { ...OWN, ...CLOSED } },
  {
    op: 'updateStorage',
    says: SAYS,
    request: ofDrive({ body: { enabled: true, check: false } }),
    answers: { ...OWN, ...CLOSED },
  },
  { op: 'deleteStorage', says: SAYS, request: ofDrive(), answers: { ...OWN, ...CLOSED } },
  {
    op: 'startStorageAuthorization',
    says: '409 `no-authorization` for kinds that need none',
    request: ofDrive(),
    answers: {
      ...all('409 no-authorization', 'member', 'owner', 'admin'),
      ...all('404', ...OTHERS),
      ...all('403 personalStorage', 'child', 'guest'),
    },
  },
  {
    op: 'connectDrive',
    says: 'The restriction `personalStorage` on deny is 403 here',
    request: async (world, caller) => {
      await world.restrict(caller, 'personalStorage');
      return { body: { kind: 'webdav', name: 'drive', settings: { url: 'http://10.0.0.1/' } } };
    },
    answers: { member: '400', editor: '403 personalStorage', admin: '403 personalStorage' },
  },
  {
    op: 'createStorage',
    when: 'a declaration of it',
    says: 'managedBy?(operator only)',
    request: () => ({
      body: {
        ...{ name: newId(), kind: 'webdav', check: false, settings: { url: `https://dav.example/${newId()}` } },
        managedBy: { kind: 'MediaServer', namespace: 'media', name: 'home', uid: newId() },
      },
    }),
    answers: { operator: 'ok', ...all('403 operator', ...MANAGERS) },
  },
  {
    op: 'deleteStorage',
    when: 'a declared one',
    says: 'refuse changes to `managedFields` and deletion with 409 `managed-by-resource`; name and enabled stay free',
    request: async (world) => ({
      params: {
        id: await drive(world, {
          owner_id: null,
          managed_by: JSON.stringify({ kind: 'MediaServer', namespace: 'media', name: 'home', uid: newId() }),
        }),
      },
    }),
    answers: { operator: 'ok', ...all('409 managed-by-resource', ...MANAGERS) },
  },
];
