import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import { errorOf, somebody, withToken } from '#support/signing-in.ts';

const tv = { 'x-client-id': 'television-0000-1', 'x-client-name': 'Living room' };

describe('Auth: quick connect', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    await api.deps.redis.flushdb();
    await api.deps.db('quick_connects').delete();
  });
  const start = async () => (await api.anyone.startQuickConnect({ body: {}, headers: tv })).body;
  /** The device waits before it sends the next request. */
  const redeem = async (secret: string | undefined, headers: Record<string, string> = tv) => {
    await api.deps.db('quick_connects').update({ polled_at: null });
    return api.anyone.redeemQuickConnect({ body: { secret }, headers });
  };

  it('signs a television in as the person who approves, once, and without confirming', async () => {
    const { me, id } = await somebody(api);
    const started = await start();
    const { code } = started.quickConnect;
    expect(code).to.match(/^[2-9A-HJKMNP-Z]{6}$/);
    expect(started.secret).to.match(/^foyqc_[\w-]{43}$/);
    expect(started.url).to.equal(`${api.url}/quick-connect?code=${code}`);
    expect((await redeem(started.secret)).body).to.deep.equal({ state: 'pending', pollMs: 2000 });
    const seen = await me.getQuickConnect({ params: { code: code.toLowerCase() } });
    expect(seen.body).to.deep.include({ state: 'pending', sameNetwork: true });
    expect(seen.body.device).to.deep.include({ name: 'Living room', address: '127.0.0.1' });
    const approved = await me.answerQuickConnect({ params: { code }, body: { decision: 'approve' } });
    expect(approved.body.state).to.equal('approved');
    const [one, two] = await Promise.all([redeem(started.secret), redeem(started.secret)]);
    const won = [one, two].filter((answer) => answer.status === 200);
    expect(won).to.have.length(1);
    const signIn = won[0]?.body.signIn;
    expect(signIn?.account.id).to.equal(id);
    expect(signIn?.session).to.include({ method: 'quick-connect', confirmedUntil: null });
    expect((await withToken(api, signIn?.accessToken).getMe()).status).to.equal(200);
    expect((await redeem(started.secret)).status).to.equal(404);
  });

  it('gives nothing for the code alone, to another client, after ten minutes, or to a guess', async () => {
    const { me } = await somebody(api);
    const { quickConnect, secret } = await start();
    await me.answerQuickConnect({ params: { code: quickConnect.code }, body: { decision: 'approve' } });
    expect((await redeem(quickConnect.code)).status).to.equal(404);
    expect((await redeem(secret, { 'x-client-id': 'somebody-else-0000' })).status).to.equal(404);
    expect((await redeem('foyqc_guess')).status).to.equal(404);
    await api.deps.db('quick_connects').update({ expires_at: new Date(0) });
    expect((await redeem(secret)).status).to.equal(404);
    expect((await me.getQuickConnect({ params: { code: quickConnect.code } })).status).to.equal(404);
  });

  it('answers polls faster than one a second 429', async () => {
    const { secret } = await start();
    expect((await redeem(secret)).status).to.equal(200);
    expect((await api.anyone.redeemQuickConnect({ body: { secret }, headers: tv })).status).to.equal(429);
  });

  it('needs X-Client-Id, holds an address to three waiting, also at once, and can be off', async () => {
    expect((await api.anyone.startQuickConnect({ body: {} })).status).to.equal(400);
    const answers = await Promise.all(
      Array.from({ length: 5 }, () => api.anyone.startQuickConnect({ body: {}, headers: tv })),
    );
    expect(answers.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([201, 201, 201, 429, 429]);
    await api.deps.db('settings').insert({ key: 'auth.quickConnect.enabled', value: 'false' });
    await api.deps.settings.reload();
    expect(errorOf(await api.anyone.startQuickConnect({ body: {}, headers: tv })).details.reason).to.equal(
      'quick-connect-off',
    );
    await api.deps.db('settings').where({ key: 'auth.quickConnect.enabled' }).delete();
    await api.deps.settings.reload();
  });

  it('accepts a thousand pending requests and no more, from any address', async () => {
    const { db } = api.deps;
    await db.raw(
      `insert into quick_connects (id, code, secret_hash, client_id, device_name, address, expires_at)
       select gen_random_uuid(), 'full' || n, sha256(n::text::bytea), 'a-television-0001', 'TV', '203.0.113.' || n % 250, now() + interval '1 minute'
       from generate_series(1, 999) n`,
    );
    const send = () => api.anyone.startQuickConnect({ body: {}, headers: tv });
    expect((await send()).status).to.equal(201);
    expect((await send()).status).to.equal(429);
    await db('quick_connects').delete();
  });

  it('is decided once', async () => {
    const [one, two] = [await somebody(api), await somebody(api)];
    const { quickConnect, secret } = await start();
    const params = { code: quickConnect.code };
    for (let i = 0; i < 2; i += 1)
      expect((await one.me.answerQuickConnect({ params, body: { decision: 'deny' } })).status).to.equal(200);
    for (const { me } of [one, two])
      expect(errorOf(await me.answerQuickConnect({ params, body: { decision: 'approve' } })).details.reason).to.equal(
        'already-decided',
      );
    expect((await redeem(secret)).body).to.deep.equal({ state: 'denied', pollMs: 2000 });
  });

  it('signs in as a profile of the own account, also one with a PIN; another profile only as itself', async () => {
    const { me } = await somebody(api);
    const main = (await me.getMe()).body.profile.id;
    const profileId = (await me.createProfile({ body: { name: 'Mia', pin: '1234' } })).body.id;
    const { quickConnect, secret } = await start();
    const params = { code: quickConnect.code };
    const stranger = (await (await somebody(api)).me.getMe()).body.profile.id;
    const approve = (client: typeof me, id: string) =>
      client.answerQuickConnect({ params, body: { decision: 'approve', profileId: id } });
    expect((await approve(me, stranger)).status).to.equal(404);
    const entered = await me.selectProfile({ params: { id: profileId }, body: { pin: '1234' } });
    const mia = withToken(api, entered.body.accessToken);
    expect(errorOf(await approve(mia, main)).details.by).to.equal('profile');
    expect((await approve(mia, profileId)).status).to.equal(200);
    expect((await redeem(secret)).body.signIn?.profile.id).to.equal(profileId);
  });

  it('lets managers of accounts set up the device of a child, and of no one else', async () => {
    const [admin, child, member] = [await somebody(api, 'admin'), await somebody(api, 'child'), await somebody(api)];
    const { quickConnect, secret } = await start();
    const approve = (client: typeof admin.me, userId: string) =>
      client.answerQuickConnect({ params: { code: quickConnect.code }, body: { decision: 'approve', userId } });
    expect(errorOf(await approve(member.me, child.id)).details.permission).to.equal('user:manage');
    expect(errorOf(await approve(admin.me, member.id)).details.by).to.equal('role');
    expect((await approve(admin.me, child.id)).status).to.equal(200);
    expect((await redeem(secret)).body.signIn?.account.id).to.equal(child.id);
  });

  it('is refused with the restriction, and to a session that owes a password', async () => {
    const { me, id } = await somebody(api);
    const { quickConnect } = await start();
    const approve = () => me.answerQuickConnect({ params: { code: quickConnect.code }, body: { decision: 'approve' } });
    const accounts = api.deps.db('accounts').where({ id });
    await accounts.clone().update({ restrictions: JSON.stringify({ quickConnect: 'deny' }) });
    expect(errorOf(await approve()).details.restriction).to.equal('quickConnect');
    await accounts.clone().update({ restrictions: '{}', must_change_password: true });
    expect(errorOf(await approve()).details.by).to.equal('password-change');
  });

  it('lets an account look at ten codes in ten minutes, and a disabled one in no more', async () => {
    const { me, id } = await somebody(api);
    const { quickConnect, secret } = await start();
    await me.answerQuickConnect({ params: { code: quickConnect.code }, body: { decision: 'approve' } });
    for (let i = 0; i < 10; i += 1)
      expect((await me.getQuickConnect({ params: { code: 'ZZZZZZ' } })).status).to.equal(404);
    const refused = await me.getQuickConnect({ params: { code: quickConnect.code } });
    expect(errorOf(refused).details.retryAfterSec).to.equal(600);
    await api.deps.db('accounts').where({ id }).update({ disabled: true });
    expect((await redeem(secret)).status).to.equal(404);
  });
});
