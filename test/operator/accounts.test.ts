import { expect } from 'chai';
import { reconcileLibrary } from '#operator/library/library.ts';
import { LibrarySpec, type LibraryStatus } from '#operator/schemas/library.ts';
import { accountsNamed, accountsOf } from '#operator/server-api/accounts.ts';
import { serverClient, Unreachable } from '#operator/server-api/server-client.ts';
import { startApi } from '#support/api.ts';

describe('accounts that resources name', () => {
  it('are found beyond the first page of the list, with the operator’s own key', async () => {
    const api = await startApi();
    const made = await Promise.all(Array.from({ length: 201 }, () => api.given.guest()));
    const accounts = await accountsOf(serverClient(api.url, api.operatorKey));
    expect(accounts.size).to.equal(201);
    const { ids } = accountsNamed([...accounts.keys()], accounts);
    expect(ids).to.have.members(made.map(({ accountId }) => accountId));
    expect(accountsNamed(['Unknown name'], accounts)).to.deep.equal({ ids: [], unknown: ['Unknown name'] });
  });

  it('are granted a library when they are created, and do not block it before', async () => {
    const api = await startApi();
    const request = serverClient(api.url, api.operatorKey);
    const access = { users: ['nobody-yet'] };
    const spec = LibrarySpec.parse({ serverRef: { name: 'home' }, type: 'movies', displayName: 'Films', access });
    const context = {
      request,
      managedBy: { kind: 'Library', namespace: 'media', name: 'films', uid: 'u1' },
      mediaId: () => '',
      read: (id: string) => request('GET', `/libraries/${id}`),
      accounts: async (names: readonly string[]) => accountsNamed(names, await accountsOf(request)),
    };
    const synced = async (before: LibraryStatus) => {
      const { status, verdicts } = await reconcileLibrary({ name: 'films', annotations: {}, spec }, before, context);
      return { status, reason: verdicts.find(({ type }) => type === 'Synced')?.reason };
    };
    const first = await synced({});
    expect(first.reason).to.equal('AccountUnknown');
    const { accountId } = await api.given.guest();
    const seen = async () => (await api.deps.db('library_access').where({ account_id: accountId })).length;
    expect(await seen()).to.equal(0);
    await api.deps.db('accounts').where({ id: accountId }).update({ username: 'Nobody-Yet' });
    expect((await synced(first.status)).reason).to.equal('InSync');
    expect(await seen()).to.equal(1);
  });

  it('are found in any letter case, each once, as at sign-in', async () => {
    const body = { items: [{ id: 'a', username: 'Ann' }], page: { cursor: null } };
    const accounts = await accountsOf(async () => ({ status: 200, body }));
    expect(accountsNamed(['ann', 'ANN', 'ben'], accounts)).to.deep.equal({ ids: ['a'], unknown: ['ben'] });
  });

  it('are not known in part: those of a refused page would lose their grants', async () => {
    const first = { items: [{ id: 'a', username: 'ann' }], page: { cursor: 'more' } };
    const half = accountsOf(async (_method, path) =>
      path.includes('cursor')
        ? { status: 429, body: { error: { code: 'RATE_LIMITED' } } }
        : { status: 200, body: first },
    );
    const fault = await half.catch((error: unknown) => error);
    expect(fault).to.be.instanceOf(Unreachable).and.have.property('message').that.contains('429 RATE_LIMITED');
  });
});
