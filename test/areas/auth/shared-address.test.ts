import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import { authenticator } from '#support/authenticator.ts';
import { type OidcServer, startOidcServer } from '#support/oidc.ts';
import { declared, type Flows, flowsOf } from '#support/oidc-flows.ts';
import {
  challengeOf,
  codeOf,
  device,
  PASSWORD,
  type Somebody,
  signIn,
  somebody,
  unconfirm,
  withTotp,
} from '#support/signing-in.ts';

const at = { origin: 'https://foyer.example', rpId: 'foyer.example' };
const TEN = (status: number): number[] => Array<number>(10).fill(status);

describe('Auth: limits of an address that people share', () => {
  let oidc: OidcServer;
  let api: Api;
  let flows: Flows;
  before(async () => {
    oidc = await startOidcServer();
    api = await startApi({ FOYER_SETTINGS: declared(oidc) });
    flows = flowsOf(api, oidc);
    await api.deps.db('server_state').update({ setup_completed_at: new Date() });
    const values = { 'network.trustedProxies': ['127.0.0.1/32'], 'server.publicUrl': at.origin };
    for (const [key, value] of Object.entries(values))
      await api.deps.db('settings').insert({ key, value: JSON.stringify(value) });
    await api.deps.settings.reload();
  });
  beforeEach(() => api.deps.redis.flushdb());
  after(() => api.deps.redis.flushdb());

  type Headers = Record<string, string>;
  let clients = 0;
  /** A device without an earlier sign-in, at `address`. */
  const newDevice = (address = '93.184.1.1'): Headers => {
    clients += 1;
    return { 'x-client-id': `shared-address-${String(clients).padStart(4, '0')}`, 'x-forwarded-for': address };
  };
  const known: Headers = { ...device, 'x-forwarded-for': '93.184.1.1' };

  /** The statuses of eleven requests, one after the other. */
  const eleven = async (send: () => Promise<{ status: number }>): Promise<number[]> => {
    const statuses: number[] = [];
    for (let i = 0; i < 11; i += 1) statuses.push((await send()).status);
    return statuses;
  };

  describe('verifyTwoFactor', () => {
    const challenged = async ({ username }: Somebody, headers: Headers): Promise<string> =>
      challengeOf(await api.anyone.login({ body: { username, password: PASSWORD }, headers }));
    const verify = (challenge: string, code: string, headers: Headers) =>
      api.anyone.verifyTwoFactor({ body: { challenge, method: 'totp', code }, headers });

    it('counts a challenge that is not open by the address, and one that is open by its account', async () => {
      const someone = await somebody(api);
      const { secret } = await withTotp(someone.me);
      const headers = newDevice();
      const challenge = await challenged(someone, headers);
      expect(await eleven(() => verify('made-up', '123456', newDevice()))).to.deep.equal([...TEN(401), 429]);
      expect((await verify(challenge, codeOf(secret), headers)).status).to.equal(200);
    });

    it('serves a person while another one at the address fails ten times', async () => {
      const [guesser, other] = [await somebody(api), await somebody(api)];
      const { secret } = await withTotp(other.me);
      await withTotp(guesser.me);
      await api.deps.redis.flushdb();
      const headers = newDevice();
      const challenge = await challenged(other, headers);
      const bad = newDevice();
      const open = [await challenged(guesser, bad), await challenged(guesser, bad), await challenged(guesser, bad)];
      let attempts = -1;
      const statuses = await eleven(() => {
        attempts += 1;
        return verify(open[Math.floor(attempts / 4)] ?? '', '000000', bad);
      });
      expect(statuses).to.deep.equal([...TEN(401), 429]);
      expect((await verify(challenge, codeOf(secret), headers)).status).to.equal(200);
    });

    it('holds an account to ten a minute from however many addresses, besides the devices that it signed in on', async () => {
      const someone = await somebody(api);
      const { secret } = await withTotp(someone.me);
      await api.deps.redis.flushdb();
      let attempts = 0;
      const statuses = await eleven(async () => {
        attempts += 1;
        const headers = newDevice(`93.184.${attempts}.1`);
        return verify(await challenged(someone, headers), '000000', headers);
      });
      expect(statuses).to.deep.equal([...TEN(401), 429]);
      const challenge = await challenged(someone, known);
      expect((await verify(challenge, codeOf(secret), known)).status).to.equal(200);
    });

    it('gives no budget of its own to a device that has used only a key', async () => {
      const someone = await somebody(api);
      await withTotp(someone.me);
      await api.deps.redis.flushdb();
      let attempts = 0;
      const statuses = await eleven(async () => {
        attempts += 1;
        const headers = newDevice(`93.184.${attempts}.1`);
        const row = { id: newId(), account_id: someone.id, client_id: headers['x-client-id'], name: 'script' };
        await api.deps.db('devices').insert(row);
        return verify(await challenged(someone, headers), '000000', headers);
      });
      expect(statuses).to.deep.equal([...TEN(401), 429]);
    });
  });

  describe('login by a passkey', () => {
    const withPasskey = async () => {
      const someone = await somebody(api);
      const own = authenticator(at);
      const credential = own.create((await someone.me.startPasskeyRegistration()).body);
      await someone.me.addPasskey({ body: { credential } });
      return own;
    };
    const options = async (): Promise<object> =>
      (await api.anyone.getSignInOptions({ headers: newDevice(`185.1.${clients % 250}.1`) })).body.passkey ?? {};
    const login = (passkey: object, headers: Headers) => api.anyone.login({ body: { passkey }, headers });

    it('serves a person while another one at the address fails ten times with an unknown passkey', async () => {
      const own = await withPasskey();
      const { username } = await somebody(api);
      await api.deps.redis.flushdb();
      const nobodys = authenticator(at);
      const statuses = await eleven(async () => login(nobodys.get(await options()), newDevice()));
      expect(statuses).to.deep.equal([...TEN(401), 429]);
      expect((await login(own.get(await options()), newDevice())).status).to.equal(200);
      const body = { username, password: PASSWORD };
      expect((await api.anyone.login({ body, headers: newDevice() })).status, 'by a password').to.equal(200);
    });

    it('counts a passkey by its account and network', async () => {
      const [own, other] = [await withPasskey(), await withPasskey()];
      await api.deps.redis.flushdb();
      const forged = async () => {
        const answer = own.get(await options()) as { response: { signature: string } };
        answer.response.signature = Buffer.from('no signature').toString('base64url');
        return answer;
      };
      expect(await eleven(async () => login(await forged(), newDevice()))).to.deep.equal([...TEN(401), 429]);
      expect((await login(other.get(await options()), newDevice())).status, 'another account').to.equal(200);
      expect((await login(own.get(await options()), newDevice('185.9.9.9'))).status, 'elsewhere').to.equal(200);
      expect((await login(own.get(await options()), known)).status, 'on its own device').to.equal(200);
    });
  });

  describe('OpenID Connect', () => {
    const startAt = (headers: Headers) =>
      api.anyone.startOidc({ body: { redirectUri: 'https://app.example/callback' }, headers });

    it('serves a callback of a sign-in that began while another one at the address fails ten times', async () => {
      const { id } = await somebody(api);
      await flows.linkTo(id, 'shared');
      oidc.next = { sub: 'shared' };
      const began = await flows.through();
      const wrong = { code: 'x', state: 'x', binding: 'x' };
      const statuses = await eleven(() => flows.complete(api.anyone, wrong, newDevice()));
      expect(statuses).to.deep.equal([...TEN(401), 429]);
      expect((await flows.complete(api.anyone, began, known)).status).to.equal(200);
    });

    it('starts on a device with an earlier sign-in while ten a minute of the others at the address are held', async () => {
      await somebody(api);
      const statuses = await eleven(() => startAt(newDevice()));
      expect(statuses[10]).to.equal(429);
      expect(statuses.slice(0, 10)).to.not.include(429);
      expect((await startAt(known)).status).to.not.equal(429);
    });
  });

  it('confirmIdentity counts by account: a signed-in person does not wait for others at the same address', async () => {
    const [guesser, other] = [await somebody(api), await somebody(api)];
    await unconfirm(api, other.id);
    const statuses = await eleven(() => guesser.me.confirmIdentity({ body: { password: 'wrong' } }));
    expect(statuses).to.deep.equal([...TEN(401), 429]);
    expect((await other.me.confirmIdentity({ body: { password: PASSWORD } })).status).to.equal(200);
    expect((await signIn(api, other.username)).status).to.equal(200);
  });
});
