import { expect } from 'chai';
import { hashSalted } from '#areas/auth/passwords/passwords.ts';
import { type Api, startApi } from '#support/api.ts';
import {
  challengeOf,
  codeOf,
  device,
  errorOf,
  issueOf,
  PASSWORD,
  signIn,
  somebody,
  withToken,
  withTotp,
} from '#support/signing-in.ts';

describe('Auth: two-factor', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    await api.deps.redis.flushdb();
  });
  after(() => api.deps.redis.flushdb()); // other files share the store
  afterEach(async () => {
    await require([]);
  });
  const verify = (body: object, headers: Record<string, string> = device) =>
    api.anyone.verifyTwoFactor({ body, headers });
  const require = async (roles: string[]): Promise<void> => {
    await api.deps.db('settings').where({ key: 'auth.twoFactor.requiredRoles' }).delete();
    if (roles.length > 0)
      await api.deps.db('settings').insert({ key: 'auth.twoFactor.requiredRoles', value: JSON.stringify(roles) });
    await api.deps.settings.reload();
  };

  describe('startTotp and enableTotp', () => {
    it('switch it on with a right code, show ten recovery codes and end sessions without a second factor', async () => {
      const { username, me } = await somebody(api);
      const other = withToken(api, (await signIn(api, username)).body.accessToken);
      const setup = (await me.startTotp()).body;
      expect(setup.secret).to.match(/^[A-Z2-7]{32}$/);
      expect(setup.uri).to.match(/^otpauth:\/\/totp\//);
      expect((await signIn(api, username)).status, 'nothing is on yet').to.equal(200);
      const enabled = await me.enableTotp({
        body: { setupId: setup.setupId, code: codeOf(setup.secret ?? ''), name: 'phone' },
      });
      expect(enabled.body.method).to.include({ kind: 'totp', name: 'phone' });
      expect(enabled.body.recoveryCodes).to.have.length(10);
      expect(new Set(enabled.body.recoveryCodes).size).to.equal(10);
      for (const code of enabled.body.recoveryCodes ?? []) expect(code).to.match(/^[0-9A-Z]{5}-[0-9A-Z]{5}$/);
      expect((await other.getMe()).status).to.equal(401);
      expect((await me.getMe()).status).to.equal(200);
      expect(errorOf(await me.startTotp()).details.reason).to.equal('already-on');
    });

    it('give a setup five tries, and void it by a new start', async () => {
      const { me } = await somebody(api);
      const old = (await me.startTotp()).body;
      const { setupId, secret = '' } = (await me.startTotp()).body;
      const wrong = codeOf(secret, 40);
      expect((await me.enableTotp({ body: { setupId: old.setupId, code: codeOf(old.secret ?? '') } })).status).to.equal(
        404,
      );
      for (let i = 0; i < 5; i += 1)
        expect(issueOf(await me.enableTotp({ body: { setupId, code: wrong } }))).to.equal('wrong_code');
      expect((await me.enableTotp({ body: { setupId, code: codeOf(secret) } })).status).to.equal(404);
    });
  });

  describe('login and verifyTwoFactor', () => {
    it('require the second factor, with no token and no cookie', async () => {
      const { username, me } = await somebody(api);
      const { secret } = await withTotp(me);
      const pending = await signIn(api, username);
      expect([pending.status, errorOf(pending).code]).to.deep.equal([401, 'AUTH_2FA_REQUIRED']);
      expect(errorOf(pending).details.methods).to.deep.equal(['totp', 'recovery-code']);
      expect(errorOf(pending).details.challenge).to.match(/^[\w-]{43}$/);
      expect(pending.headers.getSetCookie()).to.deep.equal([]);
      const done = await verify({ challenge: challengeOf(pending), method: 'totp', code: codeOf(secret) });
      expect(done.status).to.equal(200);
      expect(done.body.session).to.include({ method: 'password', twoFactor: true });
      expect((await withToken(api, done.body.accessToken).getMe()).status).to.equal(200);
    });

    it('count five tries, then the challenge is over', async () => {
      const { username, me } = await somebody(api);
      const { secret } = await withTotp(me);
      const challenge = challengeOf(await signIn(api, username));
      for (const left of [4, 3, 2, 1, 0]) {
        const wrong = await verify({ challenge, method: 'totp', code: codeOf(secret, 40) });
        expect(errorOf(wrong)).to.deep.include({ code: 'UNAUTHENTICATED', details: { triesLeft: left } });
      }
      expect(errorOf(await verify({ challenge, method: 'totp', code: codeOf(secret) })).code).to.equal(
        'AUTH_TOKEN_INVALID',
      );
    });

    it('write a wrong code down as a sign-in that failed', async () => {
      const someone = await somebody(api);
      await withTotp(someone.me);
      const challenge = challengeOf(await signIn(api, someone.username));
      await api.anyone.verifyTwoFactor({ body: { challenge, method: 'totp', code: '000000' }, headers: device });
      const rows = await api.deps
        .db('audit_log')
        .where({ account_id: someone.id, action: 'sign-in-failed' })
        .select('details');
      expect(rows).to.deep.equal([{ details: { method: 'totp' } }]);
    });

    it('bind a challenge to the client it was made for, use it once, and forget it after five minutes', async () => {
      const { username, me, id } = await somebody(api);
      const { secret, codes } = await withTotp(me);
      const challenge = challengeOf(await signIn(api, username));
      const thief = { 'x-client-id': 'somebody-else-0000' };
      expect(errorOf(await verify({ challenge, method: 'totp', code: codeOf(secret) }, thief)).code).to.equal(
        'AUTH_TOKEN_INVALID',
      );
      expect((await verify({ challenge, method: 'totp', code: codeOf(secret) })).status).to.equal(200);
      expect((await verify({ challenge, method: 'recovery-code', code: codes[0] })).status).to.equal(401);
      const late = challengeOf(await signIn(api, username));
      await api.deps
        .db('sign_in_challenges')
        .where({ account_id: id })
        .update({ expires_at: new Date(0) });
      expect((await verify({ challenge: late, method: 'recovery-code', code: codes[0] })).status).to.equal(401);
    });

    it('accept a step of 30 seconds once, also of two uses at the same moment', async () => {
      const { username, me } = await somebody(api);
      const { secret } = await withTotp(me);
      const challenges = [];
      for (let i = 0; i < 4; i += 1) challenges.push(challengeOf(await signIn(api, username)));
      const code = codeOf(secret);
      const answers = await Promise.all(challenges.map((challenge) => verify({ challenge, method: 'totp', code })));
      expect(answers.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([200, 401, 401, 401]);
      const older = challengeOf(await signIn(api, username));
      expect((await verify({ challenge: older, method: 'totp', code: codeOf(secret, -1) })).status).to.equal(401);
    });

    it('accept a recovery code once, however it is written, also of two uses at the same moment', async () => {
      const { username, me } = await somebody(api);
      const { codes } = await withTotp(me);
      const challenges = [];
      for (let i = 0; i < 4; i += 1) challenges.push(challengeOf(await signIn(api, username)));
      const code = codes[3]?.toLowerCase().replace('-', '');
      const answers = await Promise.all(
        challenges.map((challenge) => verify({ challenge, method: 'recovery-code', code })),
      );
      expect(answers.map(({ status }) => status).sort((a, b) => a - b)).to.deep.equal([200, 401, 401, 401]);
      const { items } = (await me.listSignInMethods()).body;
      expect(items.find(({ kind }) => kind === 'recovery-codes')?.recoveryCodesLeft).to.equal(9);
    });

    it('notify the account when its last recovery code is used', async () => {
      const { username, me, id } = await somebody(api);
      const { codes } = await withTotp(me);
      /** One notification counts the events of ten minutes; the app that was set up is the first. */
      const notified = async () =>
        (await me.listNotifications({ query: { kind: 'methods-changed' } })).body.items.reduce(
          (n, { count }) => n + count,
          0,
        );
      const use = async (code: string | undefined) => {
        const challenge = challengeOf(await signIn(api, username));
        expect((await verify({ challenge, method: 'recovery-code', code })).status).to.equal(200);
      };
      const sets = api.deps.db('sign_in_methods').where({ account_id: id, kind: 'recovery-codes' }).select('id');
      const unused = () => api.deps.db('recovery_codes').whereIn('method_id', sets.clone()).whereNull('used_at');
      await use(codes[0]);
      expect(await notified()).to.equal(1);
      const [last] = codes.slice(1, 2);
      const hashes = (await unused().pluck('hash')) as string[];
      const { salt } = await api.deps
        .db('sign_in_methods')
        .where({ account_id: id, kind: 'recovery-codes' })
        .first('salt');
      const kept = await hashSalted((last ?? '').replace('-', ''), salt);
      const others = hashes.filter((hash) => hash !== kept);
      await api.deps.db('recovery_codes').whereIn('hash', others).update({ used_at: new Date() });
      await use(last);
      expect(await notified()).to.equal(2);
    });

    it('hold an account to ten tries a minute over all its challenges', async () => {
      const { username, me } = await somebody(api);
      const { secret } = await withTotp(me);
      const challenges = [];
      const elsewhere = { 'x-client-id': 'never-signed-in-1' };
      const body = { username, password: PASSWORD };
      for (let i = 0; i < 3; i += 1) challenges.push(challengeOf(await api.anyone.login({ body, headers: elsewhere })));
      const statuses = [];
      for (let i = 0; i < 11; i += 1) {
        const challenge = challenges[Math.floor(i / 4)];
        statuses.push((await verify({ challenge, method: 'totp', code: codeOf(secret, 40) }, elsewhere)).status);
      }
      expect(statuses).to.deep.equal([...Array(10).fill(401), 429]);
    });

    it('reveal nothing about the second factor before the password is right', async () => {
      const { username, me } = await somebody(api);
      await withTotp(me);
      expect(errorOf(await signIn(api, username, { password: 'wrong' })).code).to.equal('UNAUTHENTICATED');
    });
  });

  it('createRecoveryCodes ends the old ones, and needs a second factor', async () => {
    const { username, me } = await somebody(api);
    expect(errorOf(await me.createRecoveryCodes()).details.reason).to.equal('two-factor-off');
    const { codes } = await withTotp(me);
    const fresh = (await me.createRecoveryCodes()).body.recoveryCodes ?? [];
    expect(fresh).to.have.length(10);
    const challenge = challengeOf(await signIn(api, username));
    expect((await verify({ challenge, method: 'recovery-code', code: codes[0] })).status).to.equal(401);
    expect((await verify({ challenge, method: 'recovery-code', code: fresh[0] })).status).to.equal(200);
  });

  it('roles that need it use nothing but Auth until they have it, and keep it then', async () => {
    const { me, username } = await somebody(api);
    await require(['member']);
    expect(errorOf(await me.listLibraries()).details.by).to.equal('two-factor-setup');
    expect((await me.getMe()).body.mustAddTwoFactor).to.equal(true);
    expect((await signIn(api, username)).body.mustAddTwoFactor).to.equal(true);
    await withTotp(me);
    expect((await me.listLibraries()).status).to.equal(200);
    expect((await me.getMe()).body.mustAddTwoFactor).to.equal(false);
    const { items, twoFactor } = (await me.listSignInMethods()).body;
    expect(twoFactor).to.deep.equal({ on: true, required: true });
    const id = items.find(({ kind }) => kind === 'totp')?.id ?? '';
    expect(errorOf(await me.removeSignInMethod({ params: { id } })).details.reason).to.equal('two-factor-required');
  });
});
