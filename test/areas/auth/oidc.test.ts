import { expect } from 'chai';
import { saveSettings } from '#platform/settings.ts';
import { type Answered, type Api, startApi, type TestClient } from '#support/api.ts';
import { CLIENT, type OidcServer, REDIRECT, startOidcServer } from '#support/oidc.ts';
import { APP, declared, type Flows, flowsOf } from '#support/oidc-flows.ts';
import {
  challengeOf,
  codeOf,
  device,
  errorOf,
  issueOf,
  somebody,
  unconfirm,
  withToken,
  withTotp,
} from '#support/signing-in.ts';

const HOME = {
  'auth.oidc.createAccounts': false,
  'auth.oidc.linkBy': 'none',
  'auth.oidc.groupsClaim': null,
  'auth.oidc.roleMap': {},
  'auth.oidc.trustsSecondFactor': false,
};

describe('Auth: OpenID Connect', () => {
  let oidc: OidcServer;
  let api: Api;
  let flows: Flows;
  const start = (body?: object, client?: TestClient) => flows.start(body, client);
  const complete = (...sent: Parameters<Flows['complete']>) => flows.complete(...sent);
  const through = (...sent: Parameters<Flows['through']>) => flows.through(...sent);
  const enter = (...sent: Parameters<Flows['enter']>) => flows.enter(...sent);
  const linkTo = (accountId: string, subject: string) => flows.linkTo(accountId, subject);
  const set = async (values: Record<string, unknown>): Promise<void> => {
    await saveSettings(api.deps.db, values as never, null);
    await api.deps.settings.reload();
  };
  before(async () => {
    oidc = await startOidcServer();
    api = await startApi({ FOYER_SETTINGS: declared(oidc) });
    flows = flowsOf(api, oidc);
    await api.deps.db('server_state').update({ setup_completed_at: new Date() });
  });
  beforeEach(async () => {
    await api.deps.redis.flushdb();
    await set(HOME);
    oidc.instead = () => false;
  });

  const methodsOf = (accountId: string) =>
    api.deps.db('sign_in_methods').where({ account_id: accountId, kind: 'oidc' });

  describe('startOidc', () => {
    it('leads to the provider with PKCE S256, a state and a nonce, for ten minutes', async () => {
      const started = await start();
      const requested = new URL(started.url).searchParams;
      expect(requested.get('code_challenge_method')).to.equal('S256');
      expect(requested.get('code_challenge')).to.have.length(43);
      expect(requested.get('state')).to.equal(started.state);
      expect(requested.get('nonce')).to.have.length.greaterThan(20);
      expect(requested.get('scope')).to.equal('openid profile email');
      expect(requested.get('redirect_uri')).to.equal(REDIRECT);
      expect(Buffer.from(started.binding, 'base64url')).to.have.length(32);
      expect(Date.parse(started.expiresAt) - Date.now()).to.be.within(590_000, 610_000);
    });

    it('takes the addresses of the setting and the own web app, and no other', async () => {
      const own = `${api.url}/sign-in/oidc`;
      expect((await api.anyone.startOidc({ body: { redirectUri: own } })).status).to.equal(200);
      for (const redirectUri of [`${REDIRECT}/`, `${REDIRECT}?x`, 'https://evil.example/', `${own}/x`])
        expect(issueOf(await api.anyone.startOidc({ body: { redirectUri } })), redirectUri).to.equal(
          'unknown_redirect',
        );
    });

    it('refuses a returnTo that leads elsewhere', async () => {
      for (const returnTo of [
        'https://evil.example/',
        '//evil.example',
        '/\\evil.example',
        '/\t/evil.example',
        'x',
        `/${'x'.repeat(500)}`,
      ])
        expect((await api.anyone.startOidc({ body: { ...APP, returnTo } })).status, returnTo).to.equal(400);
    });

    it('links and confirms for signed-in people only, and links for main and confirmed', async () => {
      for (const intent of ['link', 'confirm'])
        expect(errorOf(await api.anyone.startOidc({ body: { ...APP, intent } })).code).to.equal('UNAUTHENTICATED');
      const { id, me } = await somebody(api);
      await unconfirm(api, id);
      expect(errorOf(await me.startOidc({ body: { ...APP, intent: 'link' } })).details.by).to.equal('confirm');
      expect((await me.startOidc({ body: { ...APP, intent: 'confirm' } })).status).to.equal(200);
      const key = await api.given.key(await api.given.member(), ['library:view']);
      expect(errorOf(await api.as(key).startOidc({ body: { ...APP, intent: 'link' } })).details.by).to.equal('api-key');
      const made = (await me.confirmIdentity({ body: { password: 'correct horse battery' } })).status;
      expect(made).to.equal(200);
      const { body: profile } = await me.createProfile({ body: { name: 'Second' } });
      const { body: other } = await me.selectProfile({ params: { id: profile.id }, body: {} });
      const inOther = withToken(api, other.accessToken);
      expect(errorOf(await inOther.startOidc({ body: { ...APP, intent: 'link' } })).details.by).to.equal('profile');
    });

    it('returns 409 oidc-off without a provider, and the options show it', async () => {
      const without = await startApi();
      await without.deps.db('server_state').update({ setup_completed_at: new Date() });
      const own = { redirectUri: `${without.url}/sign-in/oidc` };
      expect(errorOf(await without.anyone.startOidc({ body: own })).details.reason).to.equal('oidc-off');
      expect(errorOf(await complete(without.anyone, { code: 'x', state: 'x', binding: 'x' })).details.reason).to.equal(
        'oidc-off',
      );
      expect((await without.anyone.getSignInOptions()).body.oidc).to.equal(undefined);
      expect((await api.anyone.getSignInOptions()).body.oidc).to.deep.equal({ name: 'Our house', automatic: false });
    });

    it('returns 502 while the provider is unavailable or names another issuer; all other ways work', async () => {
      const fresh = await startApi({
        FOYER_SETTINGS: JSON.stringify({
          'auth.oidc.issuer': oidc.issuer,
          'auth.oidc.clientId': 'x',
          'auth.oidc.redirectUris': [REDIRECT],
        }),
      });
      const failing = async (): Promise<unknown> => errorOf(await fresh.anyone.startOidc({ body: APP }));
      oidc.instead = (_, response) => Boolean(response.writeHead(500).end());
      expect(await failing()).to.deep.include({ code: 'PROVIDER_UNAVAILABLE', details: { step: 'discovery' } });
      oidc.instead = (_, response) =>
        Boolean(
          response
            .writeHead(200, { 'content-type': 'application/json' })
            .end(JSON.stringify({ issuer: 'https://other.example', jwks_uri: 'https://other.example/keys' })),
        );
      expect(await failing()).to.deep.include({ code: 'PROVIDER_UNAVAILABLE', details: { step: 'discovery' } });
      expect((await somebody(fresh)).accessToken).to.be.a('string');
      oidc.instead = () => false;
      expect((await fresh.anyone.startOidc({ body: APP })).status, 'a failure is not remembered').to.equal(200);
    });
  });

  describe('completeOidc', () => {
    it('signs linked people in, by issuer and subject, and returns the address to continue at', async () => {
      const { id } = await somebody(api);
      await linkTo(id, 'ada');
      oidc.next = { sub: 'ada' };
      const answer = await complete(api.anyone, await through({ returnTo: '/libraries?a=1' }));
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      const { signIn, returnTo } = answer.body;
      expect(returnTo).to.equal('/libraries?a=1');
      expect(signIn?.account.id).to.equal(id);
      expect(signIn?.session.method).to.equal('oidc');
      expect(signIn?.session.confirmedUntil).to.be.a('string');
      expect((await withToken(api, signIn?.accessToken).getMe()).status).to.equal(200);
      const [method] = await methodsOf(id).select('last_used_at');
      expect(method.last_used_at).to.be.instanceOf(Date);
    });

    it('keeps tokens in cookies when the start requested it', async () => {
      const { id } = await somebody(api);
      await linkTo(id, 'cookie');
      oidc.next = { sub: 'cookie' };
      const answer = await complete(api.anyone, await through({ keep: 'cookie', remember: false }));
      expect(answer.body.signIn?.accessToken).to.equal(undefined);
      expect(answer.headers.getSetCookie().join())
        .to.match(/foyer_session=.*foyer_refresh=/)
        .and.not.match(/Max-Age/);
    });

    it('takes a state once, and only with its binding and X-Client-Id', async () => {
      const { id } = await somebody(api);
      await linkTo(id, 'once');
      oidc.next = { sub: 'once' };
      const [mine, other] = [await through(), await start()];
      const over = (answer: Answered) => expect(errorOf(answer).code).to.equal('AUTH_TOKEN_INVALID');
      over(await complete(api.anyone, { ...mine, binding: other.binding }));
      over(await complete(api.anyone, mine, { 'x-client-id': 'another-client-000' }));
      over(await complete(api.anyone, mine, {}));
      over(await complete(api.anyone, { ...mine, state: other.state }));
      const answers = await Promise.all([1, 2, 3].map(() => complete(api.anyone, mine)));
      expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).to.deep.equal([200, 401, 401]);
    });

    it('ends after ten minutes', async () => {
      oidc.next = { sub: 'late' };
      const mine = await through();
      await api.deps.db('oidc_flows').update({ expires_at: new Date(Date.now() - 1000) });
      expect(errorOf(await complete(api.anyone, mine)).code).to.equal('AUTH_TOKEN_INVALID');
    });

    it('takes no code of another flow, no code twice and no answer that names another issuer', async () => {
      const { id } = await somebody(api);
      await linkTo(id, 'mixed');
      oidc.next = { sub: 'mixed' };
      const [mine, theirs] = [await through(), await through()];
      const step = (answer: Answered) => [errorOf(answer).code, errorOf(answer).details.step];
      expect(step(await complete(api.anyone, { ...mine, code: theirs.code }))).to.deep.equal([
        'PROVIDER_UNAVAILABLE',
        'token',
      ]);
      const again = await through();
      expect((await complete(api.anyone, again)).status).to.equal(200);
      const next = await start();
      expect(step(await complete(api.anyone, { ...again, state: next.state, binding: next.binding }))).to.deep.equal([
        'PROVIDER_UNAVAILABLE',
        'token',
      ]);
      const mixedUp = await through();
      expect(step(await complete(api.anyone, { ...mixedUp, iss: 'https://evil.example' }))).to.deep.equal([
        'PROVIDER_UNAVAILABLE',
        'token',
      ]);
      const { iss: _left, ...silent } = await through();
      expect(step(await complete(api.anyone, silent)), 'the provider says that it sends iss').to.deep.equal([
        'PROVIDER_UNAVAILABLE',
        'token',
      ]);
    });

    it('checks nonce, audience, issuer, times and signature of the token', async () => {
      const { id } = await somebody(api);
      await linkTo(id, 'forged');
      oidc.next = { sub: 'forged' };
      const now = Math.floor(Date.now() / 1000);
      const good = { iss: oidc.issuer, sub: 'forged', aud: CLIENT.id, iat: now, exp: now + 300 };
      const answered = async (claims: (nonce: string) => Record<string, unknown>, spoil = (token: string) => token) => {
        await api.deps.redis.flushdb();
        const { url, state, binding } = await start();
        const nonce = new URL(url).searchParams.get('nonce') ?? '';
        const { code = '', iss = '' } = await oidc.visit(url);
        const idToken = spoil(await oidc.sign(claims(nonce), { typ: 'JWT' }));
        oidc.instead = (request, response) => {
          if (!request.url?.startsWith('/token')) return false;
          const body = JSON.stringify({ access_token: 'x', token_type: 'Bearer', id_token: idToken });
          return Boolean(response.writeHead(200, { 'content-type': 'application/json' }).end(body));
        };
        const answer = await complete(api.anyone, { code, state, binding, iss });
        oidc.instead = () => false;
        return answer;
      };
      const whole = { email: 'a@b.example', preferred_username: 'a' };
      expect((await answered((nonce) => ({ ...good, ...whole, nonce }))).status).to.equal(200);
      expect((await answered((nonce) => ({ ...good, ...whole, nonce, exp: now - 40 }))).status, 'leeway').to.equal(200);
      const bad: Record<string, (nonce: string) => Record<string, unknown>> = {
        nonce: () => ({ ...good, nonce: 'x' }),
        'no nonce': () => good,
        audience: (nonce) => ({ ...good, nonce, aud: 'another' }),
        issuer: (nonce) => ({ ...good, nonce, iss: 'https://evil.example' }),
        expired: (nonce) => ({ ...good, nonce, exp: now - 70 }),
      };
      for (const [what, claims] of Object.entries(bad))
        expect(errorOf(await answered(claims)).code, what).to.equal('PROVIDER_UNAVAILABLE');
      const cut = await answered(
        (nonce) => ({ ...good, nonce }),
        (token) => `${token.slice(0, -8)}AAAAAAAA`,
      );
      expect(errorOf(cut).details.step).to.equal('id-token');
    });

    it('requires the second factor, unless the provider did and is trusted', async () => {
      const { id, me } = await somebody(api);
      const { secret } = await withTotp(me);
      await linkTo(id, 'two');
      const requested = await enter('two', { amr: ['mfa'] });
      expect(errorOf(requested).code).to.equal('AUTH_2FA_REQUIRED');
      expect(requested.headers.getSetCookie()).to.deep.equal([]);
      const body = { challenge: challengeOf(requested), method: 'totp', code: codeOf(secret) };
      const { body: signedIn } = await api.anyone.verifyTwoFactor({ body, headers: device });
      expect([signedIn.session.method, signedIn.session.twoFactor]).to.deep.equal(['oidc', true]);
      await set({ 'auth.oidc.trustsSecondFactor': true });
      expect((await enter('two', { amr: ['mfa'] })).body.signIn?.session.twoFactor).to.equal(true);
      expect(errorOf(await enter('two', { amr: ['pwd'] })).code).to.equal('AUTH_2FA_REQUIRED');
    });

    it('refuses disabled accounts, and is counted', async () => {
      const { id } = await somebody(api);
      await linkTo(id, 'off');
      await api.deps.db('accounts').where({ id }).update({ disabled: true });
      expect(errorOf(await enter('off')).details.by).to.equal('account-disabled');
      for (let i = 0; i < 10; i += 1) await complete(api.anyone, { code: 'x', state: 'x', binding: 'x' });
      expect((await complete(api.anyone, { code: 'x', state: 'x', binding: 'x' })).status).to.equal(429);
    });
  });

  describe('accounts of the provider', () => {
    it('are unknown unless the settings allow them', async () => {
      const { id } = await somebody(api);
      await api.deps.db('accounts').where({ id }).update({ email: 'v@foyer.example', email_verified: true });
      const refused = await enter('stranger', { email: 'v@foyer.example', email_verified: true });
      expect(errorOf(refused)).to.deep.include({ code: 'FORBIDDEN', details: { by: 'no-account' } });
      expect(await methodsOf(id)).to.have.length(0);
    });

    it('are found by an address that both sides verified, and by no other', async () => {
      await set({ 'auth.oidc.linkBy': 'verified-email' });
      const { id } = await somebody(api);
      const email = 'both@foyer.example';
      await api.deps.db('accounts').where({ id }).update({ email, email_verified: false });
      expect(errorOf(await enter('mail', { email, email_verified: true })).details.by, 'not verified here').to.equal(
        'no-account',
      );
      await api.deps.db('accounts').where({ id }).update({ email_verified: true });
      expect(errorOf(await enter('mail', { email, email_verified: false })).details.by, 'not there').to.equal(
        'no-account',
      );
      const answer = await enter('mail', { email: email.toUpperCase(), email_verified: true });
      expect(answer.body.signIn?.account.id).to.equal(id);
      const later = await enter('heir', { email, email_verified: true });
      expect(errorOf(later).details.by, 'who has the address later is somebody else').to.equal('no-account');
    });

    it('are found by name when the owner allows it', async () => {
      await set({ 'auth.oidc.linkBy': 'username' });
      const { id, username } = await somebody(api);
      const answer = await enter('by-name', { preferred_username: username.toUpperCase() });
      expect(answer.body.signIn?.account.id).to.equal(id);
      const aimedAt = await somebody(api);
      await api.deps.db('accounts').where({ id: aimedAt.id }).update({ username: 'paula', username_folded: 'paula' });
      const lookalike = await enter('by-look', { preferred_username: 'p\u0430ula' }); // a Cyrillic a
      expect(errorOf(lookalike).details.by, 'a name that only looks alike').to.equal('no-account');
    });

    it('are created when the owner allows it, with a free name and the default role', async () => {
      await set({ 'auth.oidc.createAccounts': true });
      const { username } = await somebody(api);
      const shared = await api.as(await api.given.admin()).createLibrary({ body: { name: 'Shared', type: 'movies' } });
      const answer = await enter('new', {
        preferred_username: username,
        name: 'New One',
        email: 'new@foyer.example',
        email_verified: true,
      });
      const { account } = answer.body.signIn ?? {};
      expect(account).to.deep.include({
        username: `${username}-2`,
        displayName: 'New One',
        role: 'member',
        email: 'new@foyer.example',
      });
      const events = await api.deps
        .db('outbox')
        .where({ event: 'user.created' })
        .orderBy('id', 'desc')
        .first('payload');
      expect(events?.payload ?? {}).to.deep.include({ userId: account?.id });
      const granted = await api.deps
        .db('outbox')
        .where({ event: 'library.access.granted' })
        .orderBy('id')
        .pluck('payload');
      const theirs = (granted as { userId: string; libraryId: string }[]).filter(
        ({ userId }) => userId === account?.id,
      );
      expect(theirs.map(({ libraryId }) => libraryId)).to.include(shared.body.id);
      expect((await enter('new')).body.signIn?.account.id).to.equal(account?.id);
      const odd = await enter('odd', {
        preferred_username: '<script>',
        email: 'unproved@foyer.example',
        email_verified: false,
      });
      expect(odd.body.signIn?.account).to.deep.include({ username: 'script', email: null });
    });

    it('are created again for a deleted person, also before the rows of the old account are gone', async () => {
      await set({ 'auth.oidc.createAccounts': true });
      const first = (await enter('returning')).body.signIn?.account;
      const admin = await api.given.admin();
      const params = { id: first?.id ?? '' };
      await api.as(admin).deleteUser({ params, query: { confirm: first?.username ?? '' } });
      const again = await enter('returning');
      expect(again.status, JSON.stringify(again.body)).to.equal(200);
      expect(again.body.signIn?.account.id).to.not.equal(first?.id);
    });

    it('have the role of their groups at each sign-in, and the owner stays the owner', async () => {
      await set({
        'auth.oidc.createAccounts': true,
        'auth.oidc.groupsClaim': 'groups',
        'auth.oidc.roleMap': { family: 'member', it: 'admin', kids: 'child' },
      });
      const role = async (groups: string[] | undefined, sub = 'grouped') =>
        (await enter(sub, groups ? { groups } : {})).body.signIn?.account.role;
      expect(await role(['kids'])).to.equal('child');
      expect(await role(['family', 'it'])).to.equal('admin');
      expect(await role([])).to.equal('member');
      expect(await role(['it'])).to.equal('admin');
      expect(await role(undefined), 'no claim says nothing').to.equal('admin');
      const { id } = (await enter('grouped', { groups: ['it'] })).body.signIn?.account ?? {};
      const asAdmin = withToken(api, (await enter('grouped')).body.signIn?.accessToken);
      const body = { name: 'all', scopes: ['user:manage', 'library:view'] as const, expiresAt: null };
      const key = await asAdmin.createApiKey({ body: { ...body, scopes: [...body.scopes] } });
      expect(key.status, JSON.stringify(key.body)).to.equal(201);
      const scopes = async () =>
        (await api.deps.db('api_keys').where({ account_id: id }).whereNull('revoked_at').pluck('scopes')) as string[][];
      expect(await role(['family'])).to.equal('member');
      expect(await scopes(), 'keys are narrowed').to.deep.equal([['library:view']]);
      await api.deps.db('accounts').where({ id }).update({ age_limit: null });
      expect(await role(['kids'])).to.equal('child');
      expect(await scopes(), 'a child has none').to.deep.equal([]);
      expect(await api.deps.db('accounts').where({ id }).pluck('age_limit')).to.deep.equal([12]);
      const owner = await somebody(api, 'owner');
      await linkTo(owner.id, 'boss');
      expect(await role(['kids'], 'boss')).to.equal('owner');
    });
  });

  describe('link and confirm', () => {
    it('links an identity once, to one account, and notifies the account', async () => {
      const { id, me } = await somebody(api);
      oidc.next = { sub: 'linked', email: 'l@foyer.example' };
      const answer = await complete(me, await through({ intent: 'link' }, { client: me }));
      expect(answer.status, JSON.stringify(answer.body)).to.equal(200);
      expect(answer.body.linked).to.deep.include({ kind: 'oidc', name: 'l@foyer.example' });
      expect(answer.body.signIn).to.equal(undefined);
      expect(await api.deps.db('notifications').where({ kind: 'methods-changed' })).to.not.have.length(0);
      expect((await complete(me, await through({ intent: 'link' }, { client: me }))).status).to.equal(200);
      expect(await methodsOf(id)).to.have.length(1);
      const other = await somebody(api);
      const refused = await complete(other.me, await through({ intent: 'link' }, { client: other.me }));
      expect(errorOf(refused).details.reason).to.equal('identity-taken');
    });

    it('is finished only by the session that began it', async () => {
      const [mine, theirs] = [await somebody(api), await somebody(api)];
      oidc.next = { sub: 'slipped' };
      const slipped = await through({ intent: 'link' }, { client: theirs.me });
      expect(errorOf(await complete(mine.me, slipped)).code).to.equal('AUTH_TOKEN_INVALID');
      const again = await through({ intent: 'link' }, { client: theirs.me });
      expect(errorOf(await complete(api.anyone, again)).code).to.equal('UNAUTHENTICATED');
      expect(await methodsOf(mine.id)).to.have.length(0);
    });

    it('confirms only by the identity of this account, and requires the password there again', async () => {
      const { id, me } = await somebody(api);
      await linkTo(id, 'sure');
      await unconfirm(api, id);
      oidc.next = { sub: 'someone else' };
      const wrong = await complete(me, await through({ intent: 'confirm' }, { client: me }));
      expect(errorOf(wrong).code).to.equal('UNAUTHENTICATED');
      expect((await me.getMe()).body.confirmedUntil).to.equal(null);
      oidc.next = { sub: 'sure' };
      const begun = await start({ intent: 'confirm' }, me);
      expect(new URL(begun.url).searchParams.get('prompt')).to.equal('login');
      const { code = '', iss = '' } = await oidc.visit(begun.url);
      const answer = await complete(me, { code, iss, state: begun.state, binding: begun.binding });
      expect(Date.parse(answer.body.confirmedUntil ?? '') - Date.now()).to.be.within(590_000, 610_000);
    });
  });
});
