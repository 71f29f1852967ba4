import { expect } from 'chai';
import { accountsOf, idsOf } from '#operator/server-api/accounts.ts';
import { serverClient } from '#operator/server-api/server-client.ts';
import { startApi } from '#support/api.ts';

describe('accounts that resources name', () => {
  it('are found beyond the first page of the list, with the operator’s own key', async () => {
    const api = await startApi();
    const made = await Promise.all(Array.from({ length: 201 }, () => api.given.guest()));
    const accounts = await accountsOf(serverClient(api.url, api.operatorKey));
    expect(accounts.size).to.equal(201);
    const ids = idsOf([...accounts.keys()], accounts);
    expect(ids).to.have.members(made.map(({ accountId }) => accountId));
    expect(idsOf(['nobody of that name'], accounts)).to.deep.equal([]);
  });
});
