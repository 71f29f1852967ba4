import { expect } from 'chai';
import { TOTP } from 'otpauth';
import type { Api } from '#support/api.ts';
import { type OidcServer, startOidcServer } from '#support/oidc.ts';
import { declared, flowsOf } from '#support/oidc-flows.ts';
import { type AppPage, openApp } from './support/page.ts';
import { OWNER, ownedServer } from './support/server.ts';

const PRESS = 'button:has-text("Sign in with Our house")';
const SENTENCE = '[role=alert]';

describe('sign-in at an OpenID provider', () => {
  let api: Api;
  let oidc: OidcServer;
  before(async () => {
    oidc = await startOidcServer();
    api = await ownedServer({ FOYER_SETTINGS: declared(oidc) });
    oidc.redirectTo(`${api.url}/sign-in/oidc`);
    const { id } = await api.deps.db('accounts').where({ username: OWNER.username }).first();
    await flowsOf(api, oidc).linkTo(id, 'ana-there');
  });
  beforeEach(async () => {
    await api.deps.redis.flushdb(); // few flows a minute are the limit
    oidc.instead = () => false;
    oidc.next = { sub: 'ana-there' };
  });

  /** The sign-in page as it is shown in place of `path`. */
  async function open(path: string): Promise<AppPage> {
    const app = await openApp(api.url, path, { ignoreHTTPSErrors: true });
    app.expectFault(new RegExp(`^foreign: ${oidc.issuer}`));
    await app.page.waitForSelector(PRESS);
    return app;
  }

  /** The provider answers the first request for a sign-in by sending the browser back with these parameters. */
  function sendsBack(parameters: Record<string, string>): void {
    oidc.instead = ({ url = '' }, response) => {
      if (!url.startsWith('/auth?')) return false;
      const state = new URL(url, oidc.issuer).searchParams.get('state') ?? '';
      const back = `${api.url}/sign-in/oidc?${new URLSearchParams({ state, ...parameters }).toString()}`;
      response.writeHead(303, { location: back }).end();
      return true;
    };
  }

  it('leads to the provider and back to the page', async () => {
    const app = await open('/libraries');
    await app.page.click(PRESS);
    await app.page.waitForSelector('h1:has-text("Libraries")');
    expect(app.page.url()).to.equal(`${api.url}/libraries`);
    await app.close();
  });

  it('requires the second factor, then returns to the page', async () => {
    const headers = { 'x-client-id': 'test-client-of-the-owner', 'x-client-name': 'Test' };
    const { body } = await api.anyone.login({ headers, body: OWNER });
    const authorization = { authorization: `Bearer ${body.accessToken}` };
    const { setupId, secret = '' } = (await api.anyone.startTotp({ headers: authorization })).body;
    const totp = new TOTP({ secret });
    const code = totp.generate({ timestamp: Date.now() - 30_000 });
    await api.anyone.enableTotp({ headers: authorization, body: { setupId, code } });
    const app = await open('/libraries');
    await app.page.click(PRESS);
    await app.page.waitForSelector('h1:has-text("One more step")');
    await app.page.fill('[name=code]', totp.generate());
    await app.page.click('button:has-text("Continue")');
    await app.page.waitForSelector('h1:has-text("Libraries")');
    await app.close();
  });

  it('says so when no account has the identity', async () => {
    oidc.next = { sub: 'a-stranger' };
    const app = await open('/libraries');
    await app.page.click(PRESS);
    await app.page.waitForSelector(`${SENTENCE}:has-text("There is no account for you here yet")`);
    await app.page.click('a:has-text("To the sign-in page")');
    await app.page.waitForSelector(PRESS);
    expect(new URL(app.page.url()).searchParams.get('return')).to.equal('/libraries');
    await app.close();
  });

  for (const [error, sentence] of [
    ['access_denied', 'did not let you in'],
    ['server_error', 'reported a fault: server_error'],
  ] as const)
    it(`says so when the provider answers ${error}`, async () => {
      sendsBack({ error });
      const app = await open('/libraries');
      await app.page.click(PRESS);
      await app.page.waitForSelector(`${SENTENCE}:has-text("${sentence}")`);
      await app.page.click('a:has-text("To the sign-in page")');
      await app.page.waitForSelector(PRESS);
      await app.close();
    });

  it('says so when the answer belongs to no flow of this tab, and when the provider is unreachable', async () => {
    const app = await open('/');
    await app.page.goto(`${api.url}/sign-in/oidc?code=made-up&state=made-up`);
    await app.page.waitForSelector(`${SENTENCE}:has-text("This sign-in has ended")`);
    await app.page.goto(`${api.url}/sign-in`);
    sendsBack({ code: 'made-up' });
    app.expectFault(/^502: .*\/auth\/oidc\/complete$/);
    app.expectFault(/status of 502/);
    await app.page.click(PRESS);
    await app.page.waitForSelector(`${SENTENCE}:has-text("The sign-in provider does not answer")`);
    await app.close();
  });
});
