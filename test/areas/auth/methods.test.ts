import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import {
  challengeOf,
  codeOf,
  errorOf,
  issueOf,
  PASSWORD,
  signIn,
  somebody,
  unconfirm,
  withToken,
  withTotp,
} from '#support/signing-in.ts';

const NEW = 'another long password';

describe('Auth: proving oneself', () => {
  let api: Api;
  before(async () => {
    api = await startApi();
  });
  beforeEach(async () => {
    await api.deps.redis.flushdb();
  });
  const actions = async (accountId: string): Promise<string[]> =>
    (await api.deps.db('audit_log').where({ account_id: accountId }).orderBy('id').select('action')).map(
      (row: { action: string }) => row.action,
    );

  describe('confirmIdentity', () => {
    it('permits for ten minutes the operations that need a confirmed session', async () => {
      const { id, me } = await somebody(api);
      await unconfirm(api, id);
      const refused = await me.startTotp();
      expect(errorOf(refused)).to.deep.include({
        code: 'FORBIDDEN',
        details: { by: 'confirm', methods: ['password'] },
      });
      const answer = await me.confirmIdentity({ body: { password: PASSWORD } });
      expect(answer.status).to.equal(200);
      expect(Date.parse(answer.body.confirmedUntil) - Date.now()).to.be.within(590_000, 610_000);
      expect((await me.startTotp()).status).to.equal(201);
    });

    it('answers a wrong password 401, which leaves the session as it was, and counts it', async () => {
      const { id, me } = await somebody(api);
      await unconfirm(api, id);
      const wrong = await me.confirmIdentity({ body: { password: 'wrong' } });
      expect(errorOf(wrong).code).to.equal('UNAUTHENTICATED');
      expect((await me.getMe()).body.confirmedUntil).to.equal(null);
      for (let i = 0; i < 9; i += 1) await me.confirmIdentity({ body: { password: 'wrong' } });
      expect((await me.confirmIdentity({ body: { password: PASSWORD } })).status).to.equal(429);
    });

    it('takes exactly one proof', async () => {
      const { me } = await somebody(api);
      for (const body of [{}, { password: PASSWORD, code: '123456' }])
        expect(issueOf(await me.confirmIdentity({ body }))).to.equal('exactly_one');
      expect(issueOf(await me.confirmIdentity({ body: { code: '123456' } }))).to.equal('required');
    });

    it('requires the code after the password when two-factor is on', async () => {
      const { id, me } = await somebody(api);
      const { secret, codes } = await withTotp(me);
      await unconfirm(api, id);
      const pending = await me.confirmIdentity({ body: { password: PASSWORD } });
      expect(errorOf(pending).code).to.equal('AUTH_2FA_REQUIRED');
      expect((await me.getMe()).body.confirmedUntil).to.equal(null);
      const challenge = challengeOf(pending);
      const stranger = await somebody(api);
      expect((await stranger.me.confirmIdentity({ body: { code: codeOf(secret), challenge } })).status).to.equal(401);
      const signedIn = await api.anyone.verifyTwoFactor({
        body: { challenge, method: 'totp', code: codeOf(secret) },
        headers: { 'x-client-id': 'test-client-0000-1' },
      });
      expect(errorOf(signedIn).code, 'rejects the challenge of a confirmation at sign-in').to.equal(
        'AUTH_TOKEN_INVALID',
      );
      expect((await me.confirmIdentity({ body: { code: codeOf(secret), challenge } })).status).to.equal(200);
      const again = challengeOf(await me.confirmIdentity({ body: { password: PASSWORD } }));
      expect((await me.confirmIdentity({ body: { code: codes[0], challenge: again } })).status).to.equal(200);
    });
  });

  describe('changePassword', () => {
    it('takes the current one, ends the other sessions and forgets that it must change', async () => {
      const { id, username, me } = await somebody(api);
      const other = withToken(api, (await signIn(api, username)).body.accessToken);
      await api.deps.db('accounts').where({ id }).update({ must_change_password: true });
      expect(errorOf(await me.listLibraries()).details.by).to.equal('password-change');
      const answer = await me.changePassword({ body: { newPassword: NEW, currentPassword: PASSWORD } });
      expect(answer.body).to.deep.equal({ endedSessions: 1 });
      expect((await other.getMe()).status).to.equal(401);
      expect((await me.getMe()).body.mustChangePassword).to.equal(false);
      expect((await signIn(api, username)).status).to.equal(401);
      expect((await signIn(api, username, { password: NEW })).status).to.equal(200);
      expect(await actions(id))
        .to.include('password-changed')
        .and.include('sign-in-failed')
        .and.include('sign-in');
    });

    it('needs the current one or a confirmed session', async () => {
      const { id, me } = await somebody(api);
      const wrong = await me.changePassword({ body: { newPassword: NEW, currentPassword: 'wrong' } });
      expect([wrong.status, issueOf(wrong)]).to.deep.equal([400, 'wrong_password']);
      await unconfirm(api, id);
      expect(errorOf(await me.changePassword({ body: { newPassword: NEW } })).details.by).to.equal('confirm');
      await me.confirmIdentity({ body: { password: PASSWORD } });
      expect((await me.changePassword({ body: { newPassword: NEW, endOthers: false } })).status).to.equal(200);
    });

    it('rejects passwords that are easy to guess, such as the name, and short ones', async () => {
      const { me, username } = await somebody(api);
      const codes = [];
      for (const newPassword of ['Password1', username.toUpperCase(), 'iloveyou'])
        codes.push(issueOf(await me.changePassword({ body: { newPassword, currentPassword: PASSWORD } })));
      expect(codes).to.deep.equal(['weak_password', 'weak_password', 'weak_password']);
      expect((await me.changePassword({ body: { newPassword: 'short', currentPassword: PASSWORD } })).status).to.equal(
        400,
      );
    });

    it('counts wrong ones as attempts, voids open resets, and leaves managed accounts to their resource', async () => {
      const { id, me } = await somebody(api);
      const expiry = new Date(Date.now() + 60_000);
      await api.deps.db('password_resets').insert({ account_id: id, hash: Buffer.from(id), expires_at: expiry });
      for (let i = 0; i < 10; i += 1) await me.changePassword({ body: { newPassword: NEW, currentPassword: 'wrong' } });
      expect((await me.changePassword({ body: { newPassword: NEW, currentPassword: PASSWORD } })).status).to.equal(429);
      expect((await me.changePassword({ body: { newPassword: NEW } })).status).to.equal(200);
      expect(await api.deps.db('password_resets').where({ account_id: id })).to.have.length(0);
      const managedBy = { kind: 'MediaServer', namespace: 'x', name: 'y', uid: 'z' };
      await api.deps
        .db('accounts')
        .where({ id })
        .update({ managed_by: JSON.stringify(managedBy) });
      const answer = await me.changePassword({ body: { newPassword: PASSWORD } });
      expect(errorOf(answer).details).to.deep.include({ reason: 'managed-by-resource', managedBy });
    });
  });

  describe('sign-in methods', () => {
    it('are listed without a secret', async () => {
      const { me } = await somebody(api);
      const { secret, codes } = await withTotp(me);
      const { body } = await me.listSignInMethods();
      expect(body.items.map(({ kind }) => kind)).to.have.members(['password', 'totp', 'recovery-codes']);
      expect(body.items.find(({ kind }) => kind === 'recovery-codes')?.recoveryCodesLeft).to.equal(10);
      expect(body.twoFactor).to.deep.equal({ on: true, required: false });
      expect(JSON.stringify(body)).to.not.include(secret).and.not.include(codes[0]);
      const row = await api.deps.db('sign_in_methods').where({ kind: 'totp' }).select('*');
      expect(JSON.stringify(row)).to.not.include(secret);
    });

    it('do not count where the settings disable them: a disabled way to sign in is no way in', async () => {
      const set = async (key: string, value: unknown): Promise<void> => {
        await api.deps
          .db('settings')
          .insert({ key, value: JSON.stringify(value) })
          .onConflict('key')
          .merge();
        await api.deps.settings.reload();
      };
      const { id, me } = await somebody(api);
      const [identity] = await api.deps
        .db('sign_in_methods')
        .insert({ id: newId(), account_id: id, kind: 'oidc', issuer: 'https://id.example', subject: id })
        .returning<{ id: string }[]>('id');
      const reasonOf = async (method: string | undefined) =>
        errorOf(await me.removeSignInMethod({ params: { id: method ?? '' } })).details.reason;
      expect(await reasonOf(id), 'no provider is set up').to.equal('last-method');
      await set('auth.oidc.issuer', 'https://id.example');
      await set('auth.password.enabled', false);
      expect(await reasonOf(identity?.id), 'passwords are off').to.equal('last-method');
      await set('auth.password.enabled', true);
      expect((await me.removeSignInMethod({ params: { id } })).status).to.equal(204);
      await set('auth.oidc.issuer', null);
    });

    it('are removed by a confirmed person, TOTP with its recovery codes, but never the last one', async () => {
      const { id, me } = await somebody(api);
      await withTotp(me);
      const all = (await me.listSignInMethods()).body.items;
      const totp = all.find(({ kind }) => kind === 'totp')?.id ?? '';
      const password = all.find(({ kind }) => kind === 'password')?.id ?? '';
      const last = await me.removeSignInMethod({ params: { id: password } });
      expect(errorOf(last).details.reason).to.equal('last-method');
      await unconfirm(api, id);
      expect((await me.removeSignInMethod({ params: { id: totp } })).status).to.equal(403);
      await api.deps
        .db('sessions')
        .where({ account_id: id })
        .update({ confirmed_until: new Date(Date.now() + 60_000) });
      const stranger = await somebody(api);
      expect((await stranger.me.removeSignInMethod({ params: { id: totp } })).status).to.equal(404);
      expect((await me.removeSignInMethod({ params: { id: totp } })).status).to.equal(204);
      const left = (await me.listSignInMethods()).body;
      expect(left.items.map(({ kind }) => kind)).to.deep.equal(['password']);
      expect(left.twoFactor.on).to.equal(false);
      expect(await actions(id))
        .to.include('sign-in-method-added')
        .and.include('sign-in-method-removed');
    });
  });
});
