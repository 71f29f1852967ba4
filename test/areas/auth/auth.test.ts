import { expect } from 'chai';
import { decodeJwt } from 'jose';
import { foldUsername, insertAccount } from '#areas/accounts/public.ts';
import { createOwnerReset, hashPassword, takePasswordCost } from '#areas/auth/public.ts';
import { newId } from '#platform/ids.ts';
import { type Api, clientFor, startApi } from '#support/api.ts';
import { eventually } from '#support/stores.ts';

const PASSWORD = 'correct horse battery';
const device = { 'x-client-id': 'test-client-0000-1', 'x-client-name': 'Test' };
const errorOf = (answer: { body: unknown }) =>
  (answer.body as { error: { code: string; details: Record<string, unknown> } }).error;

describe('Auth', () => {
  let api: Api;
  let names = 0;

  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    await api.deps.redis.flushdb(); // the limits of SPEC 8 are counted a minute long
  });

  const account = async (more: Record<string, unknown> = {}): Promise<string> => {
    names += 1;
    const made = await insertAccount(api.deps.db, {
      username: `Person ${names}`,
      role: 'member',
      passwordHash: await hashPassword(PASSWORD),
    });
    if (Object.keys(more).length > 0) await api.deps.db('accounts').where({ id: made.id }).update(more);
    return made.username;
  };
  const signIn = (username: string, more: object = {}) =>
    api.anyone.login({ body: { username, password: PASSWORD, ...more }, headers: device });
  const withToken = (token: string | undefined) => clientFor(api.url, { ...device, authorization: `Bearer ${token}` });

  describe('login', () => {
    it('answers tokens and sets both cookies, with the name in any letter case', async () => {
      const name = await account();
      const answer = await signIn(name.toUpperCase());
      expect(answer.status).to.equal(200);
      expect(answer.body).to.include({ tokenType: 'Bearer', expiresInSec: 900 });
      expect(answer.body.refreshToken).to.match(/^foyrt_[\w-]{43}$/);
      const cookies = answer.headers.getSetCookie();
      expect(cookies.map((cookie) => cookie.split('=')[0])).to.deep.equal(['foyer_session', 'foyer_refresh']);
      expect(cookies.join()).to.include('HttpOnly').and.include('SameSite=Lax').and.include('Path=/api/v1/auth');
      const me = await withToken(answer.body.accessToken).getMe();
      expect(me.body.account.username).to.equal(name);
      expect(me.body.permissions).to.include('library:view').and.not.include('library:manage');
    });

    it('carries in the access token whether the account could manage settings when it was issued, which grants nothing afterwards', async () => {
      const claimOf = (token = ''): unknown => decodeJwt(token)['adm'];
      const name = await account({ role: 'admin' });
      const { body } = await signIn(name);
      expect(claimOf(body.accessToken)).to.equal(true);
      expect(claimOf((await signIn(await account())).body.accessToken)).to.equal(undefined);
      const granted = await account({ own_permissions: { 'settings:manage': true } });
      expect(claimOf((await signIn(granted)).body.accessToken)).to.equal(true);
      await api.deps
        .db('accounts')
        .where({ id: body.account.id })
        .update({ own_permissions: { 'settings:manage': false } });
      expect((await withToken(body.accessToken).getSettings({})).status).to.equal(403);
      const renewed = await api.anyone.refreshSession({ body: { refreshToken: body.refreshToken }, headers: device });
      expect([renewed.status, claimOf(renewed.body.accessToken)]).to.deep.equal([200, undefined]);
    });

    it('takes a name exactly but for letter case, and a name before the address of another', async () => {
      const name = await account();
      expect((await signIn(name.replace('o', '\u043e'))).status, 'a letter that only looks alike').to.equal(401);
      const address = `${name.replaceAll(' ', '.')}@foyer.example`;
      const addressed = await account({ email: address, email_verified: true });
      expect((await signIn(address.toUpperCase())).body.account.username).to.equal(addressed);
      const taker = await account();
      await api.deps
        .db('accounts')
        .where({ username: taker })
        .update({ username: address, username_folded: foldUsername(address) });
      expect((await signIn(address)).body.account.username).to.equal(address);
    });

    it('returns the same for an unknown name, a wrong password and an account without one', async () => {
      const name = await account();
      const none = await account({ password_hash: null });
      const answers = [
        await api.anyone.login({ body: { username: name, password: 'wrong' } }),
        await api.anyone.login({ body: { username: 'an unknown account', password: PASSWORD } }),
        await api.anyone.login({ body: { username: none, password: PASSWORD } }),
      ];
      const refusals = answers.map((answer) => ({ ...errorOf(answer), requestId: '', status: answer.status }));
      expect(new Set(refusals.map((one) => JSON.stringify(one))).size).to.equal(1);
      expect(refusals[0]).to.include({ code: 'UNAUTHENTICATED', status: 401 });
    });

    it('reports a disabled account only after the right password', async () => {
      const name = await account({ disabled: true });
      expect((await api.anyone.login({ body: { username: name, password: 'wrong' } })).status).to.equal(401);
      expect(errorOf(await signIn(name)).details.by).to.equal('account-disabled');
    });

    it('writes down every sign-in that came to nothing, with whose it would have been', async () => {
      const name = await account();
      await api.anyone.login({ body: { username: name, password: 'not this one' } });
      await api.deps.db('accounts').where({ username: name }).update({ disabled: true });
      await signIn(name);
      const rows: { details: object; address: string }[] = await api.deps
        .db('audit_log as l')
        .join('accounts as a', 'a.id', 'l.account_id')
        .where({ 'a.username': name, action: 'sign-in-failed' })
        .orderBy('l.id')
        .select('l.details', 'l.address');
      expect(rows.map(({ details }) => details)).to.deep.equal([{}, { by: 'account-disabled' }]);
      expect(rows.every(({ address }) => address === '127.0.0.1')).to.equal(true);
    });

    it('refuses the eleventh attempt of a minute for a name', async () => {
      for (let i = 0; i < 10; i++) await api.anyone.login({ body: { username: 'target', password: 'x' } });
      const answer = await api.anyone.login({ body: { username: 'target', password: 'x' } });
      expect(answer.status).to.equal(429);
      expect(errorOf(answer).details.retryAfterSec).to.be.a('number');
    });

    it('leaves tokens out with keep=cookie and cookies with keep=token', async () => {
      const name = await account();
      const cookie = await signIn(name, { keep: 'cookie' });
      expect(cookie.body).to.not.have.any.keys('accessToken', 'refreshToken');
      const token = await signIn(name, { keep: 'token' });
      expect(token.headers.getSetCookie()).to.deep.equal([]);
    });
  });

  describe('cookies', () => {
    it('sign requests in, and change something only with X-Client-Id', async () => {
      const answer = await signIn(await account());
      const cookie = answer.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ');
      const plain = clientFor(api.url, { cookie });
      expect((await plain.getMe()).status).to.equal(200);
      const forged = await plain.endOtherSessions();
      expect(errorOf(forged).details.header).to.equal('X-Client-Id');
      expect((await clientFor(api.url, { cookie, ...device }).endOtherSessions()).status).to.equal(200);
      expect((await plain.refreshSession({ body: {} })).status).to.equal(403);
    });
  });

  describe('refreshSession', () => {
    it('sets both cookies again where the sign-in has them, and none where it was kept as tokens', async () => {
      const name = await account();
      for (const [keep, cookies] of [
        ['both', ['foyer_session', 'foyer_refresh']],
        ['token', []],
      ] as const) {
        const { refreshToken } = (await signIn(name, { keep })).body;
        const answer = await api.anyone.refreshSession({ body: { refreshToken }, headers: device });
        expect(answer.body.refreshToken, keep).to.match(/^foyrt_/);
        expect(answer.headers.getSetCookie().map((one) => one.split('=')[0])).to.deep.equal(cookies);
      }
    });

    it('trades a token once; a second use ends the sign-in at once', async () => {
      const first = await signIn(await account());
      const second = await api.anyone.refreshSession({
        body: { refreshToken: first.body.refreshToken },
        headers: device,
      });
      expect(second.status).to.equal(200);
      expect(second.body.refreshToken).to.not.equal(first.body.refreshToken);
      expect((await withToken(second.body.accessToken).getMe()).status).to.equal(200);
      const reused = await api.anyone.refreshSession({
        body: { refreshToken: first.body.refreshToken },
        headers: device,
      });
      expect(errorOf(reused)).to.deep.include({ code: 'AUTH_TOKEN_INVALID', details: { reason: 'reused' } });
      expect((await withToken(second.body.accessToken).getMe()).status).to.equal(401);
      expect(
        (await api.anyone.refreshSession({ body: { refreshToken: second.body.refreshToken }, headers: device })).status,
      ).to.equal(401);
    });

    it('lets exactly one of 50 at once win, and the sign-in is then over', async () => {
      const { refreshToken, accessToken } = (await signIn(await account())).body;
      const answers = await Promise.all(
        Array.from({ length: 50 }, () => api.anyone.refreshSession({ body: { refreshToken }, headers: device })),
      );
      expect(answers.filter((answer) => answer.status === 200)).to.have.length(1);
      expect((await withToken(accessToken).getMe()).status).to.equal(401);
    });

    it('gives the same pair to the same presentation again, as long as it was not used', async () => {
      const { refreshToken } = (await signIn(await account())).body;
      const request = { body: { refreshToken }, headers: { ...device, 'idempotency-key': 'k1' } };
      const first = await api.anyone.refreshSession(request);
      const again = await api.anyone.refreshSession(request);
      expect(again.body.refreshToken).to.equal(first.body.refreshToken);
      await api.anyone.refreshSession({ body: { refreshToken: first.body.refreshToken }, headers: device });
      expect((await api.anyone.refreshSession(request)).status).to.equal(401);
    });

    it('gives no more than the sign-in may last, and nothing once it is over or its account has expired', async () => {
      const name = await account();
      const { refreshToken, session } = (await signIn(name)).body;
      const refresh = (token: string | undefined) =>
        api.anyone.refreshSession({ body: { refreshToken: token }, headers: device });
      const ends = (at: number) =>
        api.deps
          .db('sessions')
          .where({ id: session.id })
          .update({ expires_at: new Date(at) });
      const soon = Date.now() + 3_600_000;
      await ends(soon);
      const fresh = await refresh(refreshToken);
      expect(fresh.body.refreshExpiresAt).to.equal(new Date(soon).toISOString());
      await ends(Date.now() - 1000);
      const over = await refresh(fresh.body.refreshToken);
      expect(errorOf(over).code).to.equal('AUTH_TOKEN_EXPIRED');
      expect(over.headers.getSetCookie().filter((cookie) => cookie.includes('Max-Age=0'))).to.have.length(2);
      const guest = await account();
      const guests = (await signIn(guest)).body.refreshToken;
      await api.deps
        .db('accounts')
        .where({ username: guest })
        .update({ expires_at: new Date(Date.now() - 1000) });
      expect(errorOf(await refresh(guests)).code).to.equal('AUTH_TOKEN_INVALID');
    });

    it('writes a reuse down with the account whose sign-in it ended', async () => {
      const name = await account();
      const { refreshToken, session } = (await signIn(name)).body;
      for (let use = 0; use < 2; use += 1) await api.anyone.refreshSession({ body: { refreshToken }, headers: device });
      const rows = await api.deps
        .db('audit_log as l')
        .join('accounts as a', 'a.id', 'l.account_id')
        .where({ 'a.username': name, action: 'refresh-token-reused' })
        .select('l.details', 'l.device_id');
      expect(rows).to.deep.equal([{ details: { sessionId: session.id }, device_id: session.device?.id }]);
    });

    it('refuses another installation without using the token up', async () => {
      const { refreshToken } = (await signIn(await account())).body;
      const thief = await api.anyone.refreshSession({
        body: { refreshToken },
        headers: { 'x-client-id': 'somebody-else-0000' },
      });
      expect(thief.status).to.equal(401);
      expect((await api.anyone.refreshSession({ body: { refreshToken }, headers: device })).status).to.equal(200);
    });
  });

  describe('sessions', () => {
    it('are listed, ended from the next request on, and visible to their account only', async () => {
      const name = await account();
      const one = await signIn(name);
      const two = await signIn(name);
      const mine = withToken(one.body.accessToken);
      expect((await mine.listSessions()).body.items.map((session) => session.current)).to.have.members([true, false]);
      const stranger = withToken((await signIn(await account())).body.accessToken);
      const id = two.body.session.id;
      expect((await stranger.endSession({ params: { id } })).status).to.equal(404);
      expect((await mine.endSession({ params: { id } })).status).to.equal(204);
      expect((await mine.endSession({ params: { id } })).status).to.equal(204);
      expect(errorOf(await withToken(two.body.accessToken).getMe()).code).to.equal('AUTH_TOKEN_INVALID');
    });

    it('report their last use, right to five minutes, and so do their accounts', async () => {
      const name = await account();
      const { accessToken, session } = (await signIn(name)).body;
      const me = withToken(accessToken);
      const before = new Date(Date.now() - 600_000);
      await api.deps.db('sessions').where({ id: session.id }).update({ last_seen_at: before, address: '203.0.113.9' });
      await api.deps.db('accounts').where({ username: name }).update({ last_seen_at: before });
      const seen = async () => (await me.listSessions()).body.items[0];
      const lately = (at: string | null | undefined): boolean => Date.parse(at ?? '') > before.getTime() + 300_000;
      await eventually(async () => lately((await seen())?.lastSeenAt), 30_000);
      expect((await seen())?.address).to.equal('127.0.0.1');
      await eventually(async () => lately((await me.getMe()).body.account.lastSeenAt), 30_000);
    });

    it('are read again with 304 while nothing but their use changed', async () => {
      const name = await account();
      const me = withToken((await signIn(name)).body.accessToken);
      const etag = (await me.getMe()).headers.get('etag') ?? '';
      await api.deps.db('accounts').where({ username: name }).update({ last_seen_at: new Date() });
      expect((await me.getMe({ headers: { 'if-none-match': etag } })).status).to.equal(304);
      await me.updateMe({ body: { displayName: 'Another' } });
      expect((await me.getMe({ headers: { 'if-none-match': etag } })).status).to.equal(200);
    });

    it('are a hundred of an account: of more the longest unused go', async () => {
      const name = await account();
      const first = (await signIn(name)).body;
      const of = { account_id: first.account.id, profile_id: first.profile.id, method: 'password' };
      const unused = newId();
      await api.deps.db('sessions').insert(
        Array.from({ length: 99 }, (_, at) => ({
          ...of,
          id: at === 0 ? unused : newId(),
          expires_at: new Date(Date.now() + 60_000),
          last_seen_at: new Date(Date.now() - (at === 0 ? 7_200_000 : 3_600_000)),
        })),
      );
      const last = (await signIn(name)).body;
      const left = await api.deps.db('sessions').where({ account_id: of.account_id }).pluck('id');
      expect(left).to.have.length(100).and.include.members([first.session.id, last.session.id]).and.not.include(unused);
    });

    it('end by the bearer alone where a cookie came along', async () => {
      const answer = await signIn(await account());
      const cookie = answer.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ');
      const odd = clientFor(api.url, { ...device, cookie, authorization: 'Bearer nonsense' });
      expect((await odd.logout({ body: {} })).body).to.deep.equal({ ended: false });
      expect((await withToken(answer.body.accessToken).getMe()).status).to.equal(200);
    });

    it('end by logout, and once more is no error', async () => {
      const { accessToken } = (await signIn(await account())).body;
      const me = withToken(accessToken);
      expect((await me.logout({ body: {} })).body).to.deep.equal({ ended: true });
      expect((await me.getMe()).status).to.equal(401);
      expect((await me.logout({ body: {} })).body).to.deep.equal({ ended: false });
      const unrelated = clientFor(api.url, { cookie: 'theme=dark' });
      expect((await unrelated.logout({ body: {} })).body, 'a cookie of another program').to.deep.equal({
        ended: false,
      });
    });
  });

  it('lets the owner set a new password once with a recovery token, which ends every sign-in', async () => {
    const owner = await insertAccount(api.deps.db, {
      username: 'Owner',
      role: 'owner',
      passwordHash: await hashPassword(PASSWORD),
    });
    const { accessToken } = (await signIn(owner.username)).body;
    const older = await createOwnerReset(api.deps.db);
    const reset = await createOwnerReset(api.deps.db);
    const redeem = (token: string | undefined, newPassword?: string) =>
      api.anyone.completePasswordReset({ body: { token, newPassword } });
    expect((await redeem(older?.token, 'another long one')).status).to.equal(404);
    expect((await redeem(reset?.token)).body).to.include({ username: 'Owner', changed: false });
    expect((await withToken(accessToken).getMe()).status).to.equal(200);
    expect((await redeem(reset?.token, 'another long one')).body.changed).to.equal(true);
    expect((await withToken(accessToken).getMe()).status).to.equal(401);
    expect((await redeem(reset?.token, 'a third one, long')).status).to.equal(404);
    expect((await api.anyone.login({ body: { username: 'owner', password: 'another long one' } })).status).to.equal(
      200,
    );
  });

  describe('passwords', () => {
    after(() => takePasswordCost(api.config.passwordCost));

    it('are hashed again at the next sign-in when the cost of a hash rises', async () => {
      const name = await account();
      const hashNow = async (): Promise<string> =>
        (await api.deps.db('accounts').where({ username: name }).first<{ password_hash: string }>()).password_hash;
      const before = await hashNow();
      expect(before).to.include('$argon2id$').and.include('m=19456,t=2,p=1');
      await signIn(name);
      expect(await hashNow()).to.equal(before);
      takePasswordCost({ memoryKib: 20_480, passes: 3 });
      await api.anyone.login({ body: { username: name, password: 'a wrong one' }, headers: device });
      expect(await hashNow(), 'not by a wrong one').to.equal(before);
      expect((await signIn(name)).status).to.equal(200);
      expect(await hashNow()).to.include('m=20480,t=3,p=1');
      expect((await signIn(name)).status).to.equal(200);
      takePasswordCost(api.config.passwordCost);
      expect((await signIn(name)).status, 'also once they are to cost less').to.equal(200);
      expect(await hashNow()).to.include('m=20480,t=3,p=1');
    });
  });

  it('takes no token of another kind or hand for an access token', async () => {
    const { refreshToken, accessToken } = (await signIn(await account())).body;
    const none = `${Buffer.from('{"alg":"none","typ":"at+jwt"}').toString('base64url')}.${accessToken?.split('.')[1]}.`;
    for (const token of [refreshToken, none, `${accessToken}x`, 'foyer_unknown', 'foyst_x']) {
      expect((await withToken(token).getMe()).status, token).to.equal(401);
    }
  });

  it('refuses outside viewing hours with the time they begin, but not where one signs in and out', async () => {
    const soon = new Date(Date.now() + 3 * 3_600_000);
    const clock = (date: Date): string => date.toISOString().slice(11, 16);
    const window = {
      days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
      from: clock(soon),
      to: clock(new Date(soon.getTime() + 3_600_000)),
    };
    const name = await account({ viewing_hours: JSON.stringify([window]) });
    const me = withToken((await signIn(name)).body.accessToken);
    const refused = await me.listLibraries();
    expect(errorOf(refused).code).to.equal('PERMISSION_TIME_RESTRICTED');
    expect(String(errorOf(refused).details.resumesAt).slice(11, 16)).to.equal(clock(soon));
    expect((await me.getMe()).body.viewing.allowed).to.equal(false);
  });

  it('signs people in while Redis is unavailable, with tighter limits', async () => {
    const name = await account();
    const { redis } = api.deps;
    const dead = redis.duplicate({ port: 1, maxRetriesPerRequest: 0, retryStrategy: () => null });
    dead.on('error', () => undefined);
    api.deps.redis = dead;
    try {
      expect((await signIn(name)).status).to.equal(200);
      for (let i = 0; i < 10; i++) await api.anyone.login({ body: { username: 'target2', password: 'x' } });
      expect((await api.anyone.login({ body: { username: 'target2', password: 'x' } })).status).to.equal(429);
    } finally {
      api.deps.redis = redis;
      dead.disconnect();
    }
  });
});
