import { expect } from 'chai';
import { createOwnerReset } from '#areas/auth/public.ts';
import { saveSettings } from '#platform/settings.ts';
import { ABSENT } from '#support/answers.ts';
import { type Api, clientFor, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { errorOf, issueOf, PASSWORD, type Somebody, somebody, unconfirm, withTotp } from '#support/signing-in.ts';

describe('Server account: ownership', () => {
  let api: Api;
  let owner: Somebody;
  let admin: Somebody;
  let bystander: Person;
  beforeEach(async () => {
    api = await startApi();
    await api.deps.db('server_state').update({ setup_completed_at: new Date('2026-01-02T03:04:05Z') });
    [owner, admin, bystander] = [await somebody(api, 'owner'), await somebody(api, 'admin'), await api.given.admin()];
  });
  const offer = (more: object = {}) => owner.me.offerServerClaim({ body: { userId: admin.id, ...more } });
  const reasonOf = (answer: { body: unknown }) => errorOf(answer).details.reason;
  const roles = async () =>
    Object.fromEntries((await api.deps.db('accounts').select('id', 'role')).map(({ id, role }) => [id, role]));
  const notices = async (kind: string): Promise<{ account_id: string; data: Record<string, string> }[]> =>
    api.deps
      .db('notifications as n')
      .join('profiles as p', 'p.id', 'n.profile_id')
      .where({ kind })
      .select('p.account_id', 'n.data');
  const actions = async (): Promise<string[]> =>
    api.deps.db('audit_log').whereLike('action', 'owner%').orderBy('id').pluck('action');

  it('returns the owner, the date and method of the claim, and the key of the server', async () => {
    const { body } = await api.as(bystander).getServerClaim();
    expect(body).to.deep.include({
      claimedAt: '2026-01-02T03:04:05.000Z',
      method: 'wizard',
      serverId: api.deps.keys.serverId,
    });
    expect(body.owner).to.deep.include({ userId: owner.id, username: owner.username });
    expect(body.identity).to.deep.include({ algorithm: 'EdDSA', fingerprint: api.deps.keys.identityFingerprint });
    expect(body.history).to.have.length(1);
    expect((await api.as(await api.given.member()).getServerClaim()).status).to.equal(403);
    const key = await api.given.key(bystander, ['settings:manage']);
    expect((await api.as(key).getServerClaim()).status).to.equal(200);
  });

  it('is offered by the owner only, a confirmed person or one with the password, and changes nothing yet', async () => {
    const refused = await admin.me.offerServerClaim({ body: { userId: bystander.accountId } });
    expect(errorOf(refused)).to.deep.include({ code: 'FORBIDDEN', details: { by: 'owner' } });
    await unconfirm(api, owner.id);
    expect(errorOf(await offer()).details.by).to.equal('confirm');
    expect(issueOf(await offer({ currentPassword: 'wrong' }))).to.equal('wrong_password');
    const before = await roles();
    const { status, body } = await offer({ currentPassword: PASSWORD, message: 'It is yours', keepRole: 'member' });
    expect(status).to.equal(201);
    expect(body.offer).to.deep.include({ keepRole: 'member', message: 'It is yours' });
    expect(body.offer?.to.userId).to.equal(admin.id);
    expect(Date.parse(body.offer?.expiresAt ?? '') - Date.now()).to.be.closeTo(7 * 86_400_000, 60_000);
    expect(await roles()).to.deep.equal(before);
    expect((await admin.me.getServerClaim()).body.offer?.id).to.equal(body.offer?.id);
    expect((await api.as(bystander).getServerClaim()).body.offer).to.equal(undefined);
    const notified = await notices('ownership-offer');
    expect(notified.map((one) => one.account_id)).to.have.members([admin.id, bystander.accountId]);
    expect(notified[0]?.data).to.have.keys('name', 'to');
    expect(await actions()).to.deep.equal(['ownership-offered']);
    expect(reasonOf(await offer({ currentPassword: PASSWORD }))).to.equal('offer-open');
  });

  it('is offered to an enabled admin only', async () => {
    const member = await api.given.member();
    const disabled = await api.given.person('admin', { disabled: true });
    for (const userId of [member.accountId, disabled.accountId, owner.id, ABSENT])
      expect(reasonOf(await offer({ userId })), userId).to.equal('not-an-admin');
  });

  it('is one offer at a time, however many come at once', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => offer()));
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([201, 409, 409, 409]);
  });

  it('moves when the other side accepts: roles swap, sessions stay, the change is announced and kept', async () => {
    const { body } = await offer({ keepRole: 'member' });
    const offerId = body.offer?.id;
    expect((await api.as(bystander).acceptServerClaim({ body: { offerId } })).status, 'not made to them').to.equal(404);
    expect((await owner.me.acceptServerClaim({ body: { offerId } })).status).to.equal(404);
    await unconfirm(api, admin.id);
    expect(errorOf(await admin.me.acceptServerClaim({ body: { offerId } })).details.by).to.equal('confirm');
    await admin.me.confirmIdentity({ body: { password: PASSWORD } });
    const accepted = await admin.me.acceptServerClaim({ body: { offerId } });
    expect(accepted.status).to.equal(200);
    expect(accepted.body).to.deep.include({ method: 'transfer' });
    expect(accepted.body.owner.userId).to.equal(admin.id);
    expect(accepted.body.history.map(({ method, from, to }) => [method, from?.userId, to.userId])).to.deep.equal([
      ['transfer', owner.id, admin.id],
      ['wizard', undefined, owner.id],
    ]);
    expect(await roles()).to.deep.include({ [admin.id]: 'owner', [owner.id]: 'member' });
    expect((await owner.me.getMe()).body.account.role, 'the session goes on').to.equal('member');
    expect((await owner.me.getServerClaim()).status, 'and may no more than a member').to.equal(403);
    const again = await admin.me.acceptServerClaim({ body: { offerId } });
    expect([again.status, again.body]).to.deep.equal([200, accepted.body]);
    const notified = await notices('ownership-changed');
    expect(notified.map((one) => one.account_id)).to.deep.equal([bystander.accountId]);
    expect(await actions()).to.deep.equal(['ownership-offered', 'ownership-changed']);
  });

  it('has exactly one owner at every instant', async () => {
    const { body } = await offer();
    let over = false;
    const counts = new Set<number>();
    const watch = (async () => {
      while (!over) {
        const [row] = await api.deps.db('accounts').where({ role: 'owner' }).count<{ count: string }[]>('*');
        counts.add(Number(row?.count));
      }
    })();
    const [first, second] = await Promise.all([
      admin.me.acceptServerClaim({ body: { offerId: body.offer?.id } }),
      admin.me.acceptServerClaim({ body: { offerId: body.offer?.id } }),
    ]);
    over = true;
    await watch;
    expect([first.status, second.status]).to.deep.equal([200, 200]);
    expect([...counts]).to.deep.equal([1]);
  });

  it('is over after seven days, when withdrawn, and when the owner changed', async () => {
    const first = (await offer()).body.offer?.id;
    await api.deps.db('ownership_offers').update({ expires_at: new Date(Date.now() - 1000) });
    expect((await owner.me.getServerClaim()).body.offer).to.equal(undefined);
    expect(reasonOf(await admin.me.acceptServerClaim({ body: { offerId: first } }))).to.equal('offer-ended');
    const second = (await offer()).body.offer?.id;
    expect(second, 'one that ran out stands in no way').to.be.a('string');
    expect((await owner.me.cancelServerClaim()).status).to.equal(204);
    expect(reasonOf(await admin.me.acceptServerClaim({ body: { offerId: second } }))).to.equal('offer-ended');
    const third = (await offer()).body.offer?.id;
    await api.deps.db('accounts').where({ id: owner.id }).update({ role: 'admin' });
    await api.deps.db('accounts').where({ id: bystander.accountId }).update({ role: 'owner' });
    expect(reasonOf(await admin.me.acceptServerClaim({ body: { offerId: third } }))).to.equal('offer-ended');
  });

  it('requires a password or passkey, and a second factor where owners need one', async () => {
    const offerId = (await offer()).body.offer?.id;
    const hash = await api.deps.db('accounts').where({ id: admin.id }).first('password_hash');
    await api.deps.db('accounts').where({ id: admin.id }).update({ password_hash: null });
    expect(reasonOf(await admin.me.acceptServerClaim({ body: { offerId } }))).to.equal('sign-in-too-weak');
    await api.deps.db('accounts').where({ id: admin.id }).update(hash);
    await saveSettings(api.deps.db, { 'auth.twoFactor.requiredRoles': ['owner'] }, null);
    await api.deps.settings.reload();
    expect(reasonOf(await admin.me.acceptServerClaim({ body: { offerId } }))).to.equal('sign-in-too-weak');
    await withTotp(admin.me);
    expect((await admin.me.acceptServerClaim({ body: { offerId } })).status).to.equal(200);
  });

  it('is withdrawn by the owner, declined by the other, and by no one else; a repeat is no error', async () => {
    await offer();
    expect(errorOf(await api.as(bystander).cancelServerClaim()).details.by).to.equal('owner');
    expect((await admin.me.cancelServerClaim()).status).to.equal(204);
    expect((await admin.me.cancelServerClaim()).status).to.equal(204);
    await offer();
    expect((await owner.me.cancelServerClaim()).status).to.equal(204);
    expect((await owner.me.cancelServerClaim()).status).to.equal(204);
    const states = await api.deps.db('ownership_offers').orderBy('id').pluck('state');
    expect(states).to.deep.equal(['declined', 'withdrawn']);
    const { items } = (await api.as(bystander).listNotifications({ query: { kind: 'ownership-offer' } })).body;
    expect(items.map(({ title }) => title).sort(), 'every admin is notified of each step').to.deep.equal([
      'Offer declined',
      'Offer withdrawn',
      'Ownership offered',
      'Ownership offered',
    ]);
    const notified = (of: typeof owner) => of.me.listNotifications({ query: { kind: 'ownership-offer' } });
    expect((await notified(owner)).body.items.map(({ body }) => body)).to.deep.equal([
      `${admin.username} does not take this server over from ${owner.username}.`,
    ]);
    expect((await roles())[owner.id]).to.equal('owner');
    expect(await actions()).to.deep.equal([
      'ownership-offered',
      'ownership-declined',
      'ownership-offered',
      'ownership-withdrawn',
    ]);
  });

  it('is the resource to change for an owner that it declares', async () => {
    const managedBy = { kind: 'MediaServer', namespace: 'media', name: 'home', uid: 'x' };
    await api.deps
      .db('accounts')
      .where({ id: owner.id })
      .update({ managed_by: JSON.stringify(managedBy) });
    expect(errorOf(await offer()).details).to.deep.equal({
      reason: 'managed-by-resource',
      fields: ['owner'],
      managedBy,
    });
    const { body } = await owner.me.getServerClaim();
    expect([body.method, body.managedBy]).to.deep.equal(['resource', managedBy]);
  });

  it('notifies admins of a recovery of the owner and keeps it', async () => {
    await createOwnerReset(api.deps.db);
    expect((await notices('ownership-changed')).map((one) => one.account_id)).to.include.members([admin.id, owner.id]);
    const { body } = await owner.me.getServerClaim();
    expect(body.history.map(({ method }) => method)).to.deep.equal(['recovery', 'wizard']);
    expect(JSON.stringify(body)).to.not.contain('foypr_');
  });
});

describe('Server account: tries of the claim code', () => {
  it('takes ten a minute of an address, thirty an hour in all, and then none for 15 minutes', async () => {
    const api = await startApi({ FOYER_TRUSTED_PROXIES: '["127.0.0.0/8"]' });
    const from = (address: string) => ({ headers: { 'x-forwarded-for': address } });
    const attempt = (address: string) => api.anyone.claimServer({ body: { code: 'x' }, ...from(address) });
    for (let i = 0; i < 10; i += 1) expect((await attempt('203.0.113.1')).status).to.equal(401);
    expect((await api.anyone.getSetupClaim(from('203.0.113.1'))).body).to.deep.include({
      triesLeft: 0,
      blockedUntil: null,
    });
    expect((await attempt('203.0.113.1')).status).to.equal(429);
    expect((await api.anyone.getSetupClaim(from('203.0.113.2'))).body.triesLeft).to.equal(10);
    for (let i = 0; i < 20; i += 1) expect((await attempt(`203.0.113.${2 + Math.floor(i / 5)}`)).status).to.equal(401);
    const over = await attempt('203.0.113.9');
    expect([over.status, errorOf(over).details.retryAfterSec]).to.deep.equal([429, 900]);
    expect((await attempt('203.0.113.10')).status, 'of an unknown address').to.equal(429);
    const { triesLeft, blockedUntil } = (await api.anyone.getSetupClaim(from('203.0.113.10'))).body;
    expect(triesLeft).to.equal(0);
    expect(Date.parse(blockedUntil ?? '') - Date.now()).to.be.within(890_000, 901_000);
    expect((await attempt('192.168.1.7')).status, 'somebody in the house').to.equal(401);
    expect((await api.anyone.getSetupClaim(from('192.168.1.7'))).body.blockedUntil).to.equal(null);
    const operator = clientFor(api.url, { authorization: `Bearer ${api.operatorKey}`, 'x-forwarded-for': '10.1.1.1' });
    expect((await operator.getSetupClaim()).body.blockedUntil, 'for the operator').to.be.a('string');
    await api.deps.redis.del('claim:blocked');
    expect((await attempt('203.0.113.10')).status, 'afterwards again').to.equal(401);
  });

  it('accepts thirty an hour from local networks, counted apart from other addresses', async () => {
    const api = await startApi({ FOYER_TRUSTED_PROXIES: '["127.0.0.0/8"]' });
    const attempt = (address: string) =>
      api.anyone.claimServer({ body: { code: 'x' }, headers: { 'x-forwarded-for': address } });
    for (let i = 0; i < 30; i += 1) expect((await attempt(`192.168.1.${1 + Math.floor(i / 5)}`)).status).to.equal(401);
    expect((await attempt('10.0.0.1')).status).to.equal(429);
    expect((await attempt('203.0.113.1')).status).to.equal(401);
  });
});
