import { expect } from 'chai';
import { createMailedReset } from '#areas/auth/passwords/password-reset.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';

const error = (answer: { body: unknown }) =>
  (answer.body as { error: { code: string; details: Record<string, unknown> } }).error;

describe('Users: own accounts and history', () => {
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

  it('changes no permissions and deletes no account by an outdated revision', async () => {
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

  it('keeps an address proved that is named again, and lets a link mailed to a former one prove no other', async () => {
    const { accountId: id } = await api.given.member();
    const params = { id };
    const row = () => api.deps.db('accounts').where({ id });
    await row().update({ email: 'first@example.org', email_verified: true });
    const same = await api.as(owner).updateUser({ params, body: { email: 'First@example.org', note: 'x' } });
    expect(same.body.email).to.deep.equal({ address: 'First@example.org', verified: true });
    const { token } = await createMailedReset(api.deps.db, id);
    const other = await api.as(owner).updateUser({ params, body: { email: 'second@example.org' } });
    expect(other.body.email).to.deep.equal({ address: 'second@example.org', verified: false });
    const redeemed = await api.anyone.completePasswordReset({ body: { token, newPassword: 'quite long enough 7' } });
    expect(redeemed.status).to.equal(404);
    expect(await row().pluck('email_verified')).to.deep.equal([false]);
  });

  it('ends a link that was mailed to an address which was none of the person’s, and no link that was handed over', async () => {
    const { settings } = api.deps;
    const from = { 'email.from': 'foyer@home.example', 'server.publicUrl': 'https://home.example' };
    const mail = { 'email.enabled': true, 'email.smtp.host': 'smtp.test', ...from };
    const answer = await api.as(owner).updateSettings({ body: { values: mail } });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
    await settings.reload();
    const opens = async (url = '') =>
      (await api.anyone.completePasswordReset({ body: { token: url.split('#token=')[1] ?? '' } })).status;
    const make = async (sendInvite: boolean) =>
      (
        await api.as(owner).createUser({
          body: { username: `new ${sendInvite}`, email: `wrong-${sendInvite}@example.org`, sendInvite },
        })
      ).body;
    const [mailed, handed] = [await make(true), await make(false)];
    expect([await opens(mailed.resetUrl), await opens(handed.resetUrl)]).to.deep.equal([200, 200]);
    for (const { id } of [mailed, handed])
      await api.as(owner).updateUser({ params: { id }, body: { email: `right-${id}@example.org` } });
    expect([await opens(mailed.resetUrl), await opens(handed.resetUrl)]).to.deep.equal([404, 200]);
    const again = await api.as(owner).resetUserSignIn({ params: { id: mailed.id }, body: { sendMail: true } });
    expect(again.body.mailed, JSON.stringify(again.body)).to.equal(true);
    await api.as(owner).updateUser({ params: { id: mailed.id }, body: { email: null } });
    expect(await opens(again.body.url)).to.equal(404);
  });

  it('gives no one access to unrated items that the giver lacks', async () => {
    const own_permissions = '{"user:manage":true}';
    const parent = await api.given.person('member', { own_permissions, hide_unrated: true });
    const make = (more: object) =>
      api.as(parent).createUser({ body: { username: `kid ${Math.random()}`, role: 'child', ...more } as never });
    const kid = await make({});
    expect(kid.status, JSON.stringify(kid.body)).to.equal(201);
    expect(kid.body.access.hideUnrated).to.equal(true);
    expect(error(await make({ access: { hideUnrated: false } })).details.by).to.equal('hide-unrated');
    const put = (hideUnrated: boolean) =>
      api.as(parent).setUserAccess({
        params: { id: kid.body.id },
        body: { libraries: { mode: 'only', ids: [] }, ageLimit: 6, hideUnrated },
      });
    expect(error(await put(false)).details.by).to.equal('hide-unrated');
    expect((await put(true)).status).to.equal(200);
    const free = await api.as(owner).createUser({ body: { username: 'free kid', role: 'child' } });
    expect(free.body.access.hideUnrated).to.equal(false);
  });
});
