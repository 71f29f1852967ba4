import { expect } from 'chai';
import { TOTP } from 'otpauth';
import type { Page } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { startBrowser } from '#support/hls-browser.ts';
import { openApp } from './support/page.ts';
import { OWNER, ownedServer } from './support/server.ts';

type Login = typeof OWNER;

async function signIn(page: Page, { username, password }: Login): Promise<void> {
  await page.fill('[name=username]', username);
  await page.fill('[name=password]', password);
  await page.click('button[type=submit]');
}

const home = (page: Page) => page.waitForSelector('h1:has-text("Home")');

describe('entering and leaving', () => {
  let api: Api;
  let headers: Record<string, string>;
  before(async () => {
    api = await ownedServer();
  });
  beforeEach(async () => {
    await api.deps.redis.flushdb(); // ten sign-ins a minute are the limit
    const client = { 'x-client-id': 'test-client-of-the-owner', 'x-client-name': 'Test' };
    const { body } = await api.anyone.login({ headers: client, body: OWNER });
    headers = { authorization: `Bearer ${body.accessToken}` };
  });

  async function member(username: string, mustChangePassword: boolean): Promise<Login> {
    const login = { username, password: 'another good one' };
    const made = await api.anyone.createUser({ headers, body: { ...login, role: 'member', mustChangePassword } });
    expect(made.status).to.equal(201);
    return login;
  }

  it('signs a device in by its code, which another device approves', async () => {
    const tv = await openApp(api.url, '/');
    await tv.page.click('button:has-text("Quick Connect")');
    const code = (await tv.page.textContent('.code')) ?? '';
    expect(await tv.page.isVisible('img[alt*="scan"]')).to.equal(true);
    const phone = await openApp(api.url, `/quick-connect?code=${code}`);
    await signIn(phone.page, OWNER);
    await phone.page.waitForSelector(`dd:has-text("${code}")`);
    await phone.page.click('button:has-text("Sign this device in")');
    await phone.page.waitForSelector('[role=status]:has-text("signed in")');
    await home(tv.page);
    await tv.close();
    await phone.close();
  });

  it('demands a new password on the way, and then goes on', async () => {
    const login = await member('ben', true);
    const app = await openApp(api.url, '/me');
    await signIn(app.page, login);
    await app.page.waitForSelector('h1:has-text("Choose a new password")');
    await app.page.fill('[name=password]', 'ben');
    await app.page.evaluate(`document.querySelector('form').noValidate = true`);
    await app.page.click('button:has-text("Set the password")');
    await app.page.waitForSelector('.fault');
    await app.page.fill('[name=password]', 'a new and longer one');
    await app.page.click('button:has-text("Set the password")');
    await home(app.page);
    await app.close();
    expect((await api.anyone.login({ body: { ...login, password: 'a new and longer one' } })).status).to.equal(200);
  });

  it('demands a second factor on the way, and again at the next sign-in', async () => {
    const login = await member('cleo', false);
    await api.deps.db('settings').insert({ key: 'auth.twoFactor.requiredRoles', value: JSON.stringify(['member']) });
    await api.deps.settings.reload();
    const app = await openApp(api.url, '/');
    await signIn(app.page, login);
    await app.page.waitForSelector('h1:has-text("Set up the second factor")');
    const secret = (await app.page.textContent('.secret code')) ?? '';
    const totp = new TOTP({ secret });
    await app.page.fill('[name=code]', totp.generate());
    await app.page.click('button:has-text("Switch on")');
    await app.page.waitForSelector('.codes li');
    const [recovery = ''] = await app.page.locator('.codes li').allTextContents();
    await app.page.click('button:has-text("I have kept them")');
    await home(app.page);
    await app.close();

    const again = await openApp(api.url, '/');
    await signIn(again.page, login);
    await again.page.waitForSelector('h1:has-text("One more step")');
    await again.page.fill('[name=code]', '000000');
    await again.page.click('button:has-text("Continue")');
    await again.page.waitForSelector('[role=alert]');
    await again.page.click('button:has-text("Use a recovery code")');
    await again.page.fill('[name=code]', recovery);
    await again.page.click('button:has-text("Continue")');
    await home(again.page);
    await again.close();
  });

  it('signs out every tab at once, and leads back to each page after the next sign-in', async () => {
    const context = await (await startBrowser()).newContext({ locale: 'en-GB' });
    const first = await openApp(api.url, '/', { context });
    await signIn(first.page, OWNER);
    await home(first.page);
    const second = await openApp(api.url, '/libraries', { context });
    await second.page.waitForSelector('h1:has-text("Libraries")');
    await first.page.goto(`${api.url}/me`);
    await first.page.click('main button:has-text("Sign out")');
    await first.page.waitForSelector('[name=username]');
    await second.page.waitForSelector('[name=username]');
    expect(new URL(second.page.url()).searchParams.get('return')).to.equal('/libraries');
    const cookies = (await second.page.evaluate<string>('document.cookie')).split('; ').sort();
    expect(cookies.join(), 'the time of the last refresh or its end, and a random value').to.match(
      /^foyer\.refreshed=(\d+|ended),foyer\.viewer=[0-9a-f]{32}$/,
    );
    await signIn(first.page, OWNER);
    await second.page.waitForSelector('h1:has-text("Libraries")');
    await first.close();
    await second.close();
    await context.close();
  });

  it('takes the PIN of a profile by keys alone, and shows how many tries are left', async () => {
    const kids = await api.anyone.createProfile({ headers, body: { name: 'Kids', pin: '4321' } });
    expect(kids.status).to.equal(201);
    const app = await openApp(api.url, '/profiles');
    await signIn(app.page, OWNER);
    await app.page.waitForSelector('button:has-text("Kids")');
    await api.deps.db('sessions').update({ confirmed_until: null }); // ten minutes later
    await app.page.click('button:has-text("Kids")');
    await app.page.waitForSelector('.pad');
    await app.page.keyboard.type('1111');
    await app.page.click('.enter');
    expect(await app.page.textContent('[role=alert]')).to.match(/Wrong PIN.*4 tries left/s);
    await app.page.locator('.pad button').first().focus();
    await app.page.keyboard.type('4321');
    await app.page.click('.enter');
    await home(app.page);
    expect(await app.page.textContent('.who')).to.include('Kids');
    await app.close();
  });

  it('never leads to another site after the sign-in', async () => {
    const app = await openApp(api.url, `/sign-in?return=${encodeURIComponent('//evil.example/')}`);
    await signIn(app.page, OWNER);
    await home(app.page);
    expect(new URL(app.page.url()).pathname).to.equal('/');
    await app.close();
  });

  it('sets a password by the link of an admin, whose token leaves the address', async () => {
    const login = await member('dora', false);
    const { body: users } = await api.anyone.listUsers({ headers });
    const dora = users.items.find(({ username }) => username === login.username);
    const reset = await api.anyone.resetUserSignIn({ headers, params: { id: dora?.id ?? '' }, body: { link: true } });
    const { pathname, hash } = new URL(reset.body.url ?? '', api.url);
    const app = await openApp(api.url, pathname + hash);
    await app.page.fill('[name=password]', 'the newest of them');
    expect(app.page.url()).to.equal(`${api.url}/reset`);
    await app.page.click('button:has-text("Set the password")');
    await app.page.click('a:has-text("Sign in")');
    await signIn(app.page, { ...login, password: 'the newest of them' });
    await app.page.waitForSelector('h1:has-text("Set up the second factor")');
    await app.close();
  });
});
