import { expect } from 'chai';
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
    expect(accountsNamed(['Nobody of it'], accounts)).to.deep.equal({ ids: [], unknown: ['Nobody of it'] });
  });

  it('are found in any letter case, each once, as at sign-in', async () => {
    const body = { items: [{ id: 'a', username: 'Ann' }], page: { cursor: null } };
    const accounts = await accountsOf(async () => ({ status: 200, body }));
    expect(accountsNamed(['ann', 'ANN', 'ben'], accounts)).to.deep.equal({ ids: ['a'], unknown: ['ben'] });
  });

  it('are not known in part: those of a page that is refused would lose what they were granted', async () => {
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
