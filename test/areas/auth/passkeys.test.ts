import { registerHooks } from 'node:module';
import { expect } from 'chai';
import { authenticatorName } from '#areas/auth/passkeys/authenticators.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import { type Authenticator, authenticator } from '#support/authenticator.ts';
import {
  challengeOf,
  device,
  errorOf,
  issueOf,
  type Somebody,
  signIn,
  somebody,
  unconfirm,
  withToken,
} from '#support/signing-in.ts';

const at = { origin: 'https://foyer.example', rpId: 'foyer.example' };

describe('Auth: passkeys', () => {
  let api: Api;
  const set = async (key: string, value: unknown): Promise<void> => {
    await api.deps
      .db('settings')
      .insert({ key, value: JSON.stringify(value) })
      .onConflict('key')
      .merge();
    await api.deps.settings.reload();
  };
  before(async () => {
    api = await startApi();
    await api.deps.db('server_state').update({ setup_completed_at: new Date() });
    await set('server.publicUrl', at.origin);
  });
  beforeEach(async () => {
    await api.deps.redis.flushdb();
  });
  const withPasskey = async (someone: Somebody): Promise<Authenticator> => {
    const own = authenticator(at);
    const options = (await someone.me.startPasskeyRegistration()).body;
    const answer = await someone.me.addPasskey({ body: { credential: own.create(options) } });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return own;
  };
  const options = async (): Promise<object> => (await api.anyone.getSignInOptions()).body.passkey ?? {};
  const login = (passkey: object) => api.anyone.login({ body: { passkey }, headers: device });

  it('are verified in a thread, so that the library does not hold the process while it loads', async () => {
    const loaded: string[] = [];
    const hooks = registerHooks({
      resolve(name, context, next) {
        loaded.push(name);
        return next(name, context);
      },
    });
    const own = await withPasskey(await somebody(api));
    expect((await login(own.get(await options()))).status).to.equal(200);
    const other: string = '#areas/auth/passkeys/authenticators.ts?again';
    await import(other);
    hooks.deregister();
    expect(loaded.filter((name) => name.includes('authenticators'))).to.have.length(1);
    expect(loaded.filter((name) => name.includes('simplewebauthn'))).to.deep.equal([]);
  });

  it('are made by a confirmed person, with recovery codes for the first second factor', async () => {
    const someone = await somebody(api);
    const issued = (await someone.me.startPasskeyRegistration()).body as Record<string, unknown>;
    expect(issued.authenticatorSelection).to.include({ residentKey: 'required', userVerification: 'preferred' });
    expect(issued.pubKeyCredParams).to.deep.equal([-8, -7, -257].map((alg) => ({ alg, type: 'public-key' })));
    const own = authenticator(at);
    const added = await someone.me.addPasskey({ body: { credential: own.create(issued), name: 'Laptop' } });
    expect(added.body.method).to.include({ kind: 'passkey', name: 'Laptop' });
    expect(added.body.recoveryCodes).to.have.length(10);
    const again = (await someone.me.startPasskeyRegistration()).body as unknown as {
      excludeCredentials: { id: string }[];
    };
    expect(again.excludeCredentials.map(({ id }) => id)).to.deep.equal([own.id]);
    await unconfirm(api, someone.id);
    const refused = errorOf(await someone.me.startPasskeyRegistration());
    expect(refused.details).to.deep.equal({ by: 'confirm', methods: ['password', 'passkey'] });
  });

  it('are named after their authenticator when the request gives no name', async () => {
    const someone = await somebody(api);
    await withPasskey(someone);
    const [method] = (await someone.me.listSignInMethods()).body.items.filter(({ kind }) => kind === 'passkey');
    expect(method?.name, 'not after the app').to.equal('This device');
    const named = (aaguid: string, transports: string[]) => authenticatorName({ aaguid, transports });
    expect(named('FBFC3007-154E-4ECC-8C0B-6E020557D7BD', ['internal'])).to.equal('iCloud Keychain');
    expect(named('00000000-0000-0000-0000-000000000000', ['usb', 'nfc'])).to.equal('Security key');
  });

  it('are refused with another challenge, origin or relying party, and of another account', async () => {
    const [one, two] = [await somebody(api), await somebody(api)];
    const own = authenticator(at);
    const add = async (someone: Somebody, more: object = {}, given?: object) => {
      const issued = given ?? (await someone.me.startPasskeyRegistration()).body;
      return someone.me.addPasskey({ body: { credential: own.create(issued, more) } });
    };
    expect(issueOf(await add(one, { origin: 'https://evil.example' }))).to.equal('wrong_origin');
    expect(issueOf(await add(one, { rpId: 'evil.example' }))).to.equal('wrong_rp');
    expect(issueOf(await add(one, {}, { challenge: 'bWFkZS11cA' }))).to.equal('wrong_challenge');
    const others = (await two.me.startPasskeyRegistration()).body;
    expect(issueOf(await add(one, {}, others))).to.equal('wrong_challenge');
    const used = (await one.me.startPasskeyRegistration()).body;
    expect((await add(one, {}, used)).status).to.equal(201);
    expect(issueOf(await add(one, {}, used))).to.equal('wrong_challenge');
    expect(errorOf(await add(two)).details.reason).to.equal('credential-taken');
  });

  it('sign in alone, without a second factor', async () => {
    const someone = await somebody(api);
    const own = await withPasskey(someone);
    const answer = await login(own.get(await options()));
    expect(answer.status).to.equal(200);
    expect(answer.body.account.id).to.equal(someone.id);
    expect(answer.body.session).to.include({ method: 'passkey', twoFactor: true });
    expect((await withToken(api, answer.body.accessToken).getMe()).status).to.equal(200);
  });

  it('return one refusal, whatever the fault', async () => {
    const someone = await somebody(api);
    const own = await withPasskey(someone);
    const spent = await options();
    expect((await login(own.get(spent))).status).to.equal(200);
    const late = await options();
    await api.deps.db('passkey_challenges').update({ expires_at: new Date(0) });
    const registration = (await someone.me.startPasskeyRegistration()).body;
    const forged = own.get(await options()) as { response: { signature: string } };
    forged.response.signature = Buffer.from('no signature').toString('base64url');
    const tries = [
      own.get(spent),
      own.get(late),
      own.get(registration),
      own.get({ challenge: 'bWFkZS11cA' }),
      own.get(await options(), { userVerified: false }),
      own.get(await options(), { origin: 'https://evil.example' }),
      own.get(await options(), { rpId: 'evil.example' }),
      authenticator(at).get(await options()),
    ];
    const answers = [];
    for (const passkey of [...tries, forged]) {
      await api.deps.redis.flushdb();
      answers.push(await login(passkey));
    }
    const refusals = answers.map((answer) =>
      JSON.stringify({ ...errorOf(answer), requestId: '', status: answer.status }),
    );
    expect(new Set(refusals).size, refusals.join('\n')).to.equal(1);
    expect(answers[0]?.status).to.equal(401);
    expect((await login(own.get(await options()))).status).to.equal(200);
  });

  it('are refused when their counter falls, as a copy would let it', async () => {
    const own = await withPasskey(await somebody(api));
    expect((await login(own.get(await options(), { counter: 9 }))).status).to.equal(200);
    expect((await login(own.get(await options(), { counter: 5 }))).status).to.equal(401);
  });

  it('let a challenge be used once, also at the same moment', async () => {
    const own = await withPasskey(await somebody(api));
    const issued = await options();
    const answers = await Promise.all([1, 2, 3, 4].map(() => login(own.get(issued))));
    expect(answers.filter(({ status }) => status === 200)).to.have.length(1);
  });

  it('are a second factor after the password, without a second verification of the user', async () => {
    const [someone, stranger] = [await somebody(api), await somebody(api)];
    const own = await withPasskey(someone);
    const theirs = await withPasskey(stranger);
    const issued = await signIn(api, someone.username);
    expect(errorOf(issued).details.methods).to.deep.equal(['recovery-code', 'passkey']);
    const given = errorOf(issued).details.passkey as { allowCredentials: { id: string }[] };
    expect(given.allowCredentials.map(({ id }) => id)).to.deep.equal([own.id]);
    const verify = (passkey: object) =>
      api.anyone.verifyTwoFactor({
        body: { challenge: challengeOf(issued), method: 'passkey', passkey },
        headers: device,
      });
    expect((await verify(theirs.get(given))).status).to.equal(401);
    const done = await verify(own.get(given, { userVerified: false }));
    expect(done.body.session).to.include({ method: 'password', twoFactor: true });
  });

  it('confirm the person alone, and only that person', async () => {
    const [someone, stranger] = [await somebody(api), await somebody(api)];
    const own = await withPasskey(someone);
    const theirs = await withPasskey(stranger);
    await unconfirm(api, someone.id);
    const confirm = async (device: Authenticator) =>
      someone.me.confirmIdentity({ body: { passkey: device.get(await options()) } });
    expect((await confirm(theirs)).status).to.equal(401);
    expect((await confirm(own)).status).to.equal(200);
    expect((await someone.me.startTotp()).status).to.equal(201);
  });

  it('allow the removal of the password, but not of the last of both', async () => {
    const someone = await somebody(api);
    const own = await withPasskey(someone);
    const remove = (id: string) => someone.me.removeSignInMethod({ params: { id } });
    expect((await remove(someone.id)).status).to.equal(204);
    const id = (await someone.me.listSignInMethods()).body.items.find(({ kind }) => kind === 'passkey')?.id ?? '';
    expect(errorOf(await remove(id)).details.reason).to.equal('last-method');
    expect((await login(own.get(await options()))).status).to.equal(200);
  });

  it('are twenty of an account at most', async () => {
    const someone = await somebody(api);
    const row = { account_id: someone.id, kind: 'passkey', public_key: Buffer.alloc(1) };
    const add = (count: number) =>
      api.deps
        .db('sign_in_methods')
        .insert(Array.from({ length: count }, () => ({ ...row, id: newId(), credential_id: newId() })));
    await add(19);
    expect((await someone.me.startPasskeyRegistration()).status).to.equal(200);
    await add(1);
    expect(errorOf(await someone.me.startPasskeyRegistration()).details.reason).to.equal('too-many');
  });

  it('need https or localhost', async () => {
    const someone = await somebody(api);
    await set('server.publicUrl', 'http://192.168.1.5:8080');
    expect(errorOf(await someone.me.startPasskeyRegistration()).details.reason).to.equal('insecure-origin');
    expect((await api.anyone.getSignInOptions()).body)
      .to.include({ passkeys: false })
      .and.not.have.property('passkey');
    await set('server.publicUrl', at.origin);
  });

  describe('getSignInOptions', () => {
    it('shows tiles only when that is on, of accounts that chose to be listed', async () => {
      const listed = await somebody(api);
      await somebody(api);
      await api.deps.db('accounts').where({ id: listed.id }).update({ listed: true });
      expect((await api.anyone.getSignInOptions()).body.tiles).to.deep.equal([]);
      await set('auth.accountTiles', true);
      expect((await api.anyone.getSignInOptions()).body.tiles.map(({ username }) => username)).to.deep.equal([
        listed.username,
      ]);
    });

    it('reports whether a new password comes by mail or from an admin', async () => {
      expect((await api.anyone.getSignInOptions()).body.passwordReset).to.equal('admin');
      await set('email.enabled', true);
      await set('email.smtp.host', 'smtp.test');
      await set('email.from', 'foyer@foyer.example');
      expect((await api.anyone.getSignInOptions()).body.passwordReset).to.equal('mail');
      await set('email.enabled', false);
      expect((await api.anyone.getSignInOptions()).body.passwordReset).to.equal('admin');
    });

    it('reveals nothing before setup is complete, and is not cached', async () => {
      await api.as(await api.given.owner()).updateBranding({ body: { signInMessage: 'Ring twice' } });
      await set('email.enabled', true);
      expect((await api.anyone.getSignInOptions()).body).to.include({ message: 'Ring twice', passwordReset: 'mail' });
      await api.deps.db('server_state').update({ setup_completed_at: null });
      const { body, headers } = await api.anyone.getSignInOptions();
      expect(body.passwordReset).to.equal('admin');
      expect(body).to.not.have.any.keys('message', 'passkey', 'oidc');
      expect(headers.get('cache-control')).to.equal('no-store');
      expect(body).to.include({ password: false, passkeys: false, quickConnect: false, invites: false });
      expect(body.tiles).to.deep.equal([]);
      await api.deps.db('server_state').update({ setup_completed_at: new Date() });
    });

    it('is held to sixty a minute an address', async () => {
      for (let i = 0; i < 60; i += 1) await api.anyone.getSignInOptions();
      expect((await api.anyone.getSignInOptions()).status).to.equal(429);
    });
  });
});
