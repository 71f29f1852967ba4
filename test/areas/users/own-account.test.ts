import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';

const error = (answer: { body: unknown }) =>
  (answer.body as { error: { code: string; details: Record<string, unknown> } }).error;

describe('Users: own accounts and what was seen', () => {
  let api: Api;
  let owner: Person;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
  });

  it('changes one’s own name and address of a confirmed person only, never by a key', async () => {
    const admin = await api.given.admin();
    const params = { id: admin.accountId };
    const key = await api.given.key(admin, ['user:manage']);
    await api.deps
      .db('sessions')
      .where({ id: admin.sessionId })
      .update({ confirmed_until: new Date(0) });
    for (const who of [admin, key])
      for (const body of [{ username: 'taken over' }, { email: 'taken@over.example' }, { email: null }])
        expect(error(await api.as(who).updateUser({ params, body })).details.by).to.equal('confirm');
    expect((await api.as(key).updateUser({ params, body: { language: 'de' } })).status).to.equal(200);
  });

  it('changes no permissions and deletes nobody on the ground of another revision than the present one', async () => {
    const { accountId: id } = await api.given.member();
    const params = { id };
    const { revision, username } = (await api.as(owner).getUser({ params })).body;
    await api.as(owner).updateUser({ params, body: { displayName: 'Changed meanwhile' } });
    const headers = { 'if-match': `"${revision}"` };
    const answers = [
      await api.as(owner).setUserPermissions({ params, body: { grant: ['item:edit'], withhold: [] }, headers }),
      await api.as(owner).deleteUser({ params, query: { confirm: username }, headers }),
    ];
    for (const answer of answers)
      expect(error(answer as never).details).to.deep.equal({ reason: 'revision', revision: revision + 1 });
    const { permissions } = (await api.as(owner).getUser({ params })).body;
    expect(permissions.permissions['item:edit'].allowed).to.equal(false);
  });
});
