import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { type Relay, startRelay } from '#platform/relay.ts';
import type { Api } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { openApp } from './support/page.ts';
import { openSignedIn } from './support/player.ts';
import { OWNER, ownedServer } from './support/server.ts';

const shots = process.env.SHOTS;
const SELECTION = { mode: 'dark', themeId: null, lightThemeId: null, darkThemeId: null } as const;

const color = (page: Page, name: string): Promise<string> =>
  page.evaluate<string>(`(() => {
    const probe = document.body.appendChild(document.createElement('i'));
    probe.style.color = 'var(--fy-color-${name})';
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
  })()`);

/** Prints how long a change took to be shown, with TIMES in the environment. */
function shown(what: string, began: number): void {
  if (process.env.TIMES) console.log(`    ${what}: ${Math.round(performance.now() - began)} ms`);
}

/** The page is shown, and its event stream is open. */
async function settled(page: Page): Promise<void> {
  const live = page.waitForResponse((response) => /\/api\/v1\/events/.test(response.url()));
  await page.reload();
  await live;
  await page.waitForSelector('h1:has-text("Home")');
}

describe('the look of the app', () => {
  let api: Api;
  let headers: Record<string, string>;
  let relay: Relay;
  before(async () => {
    api = await ownedServer();
    relay = startRelay(api.deps.config.databaseUrl, api.deps.redis, api.deps.log);
    const client = { 'x-client-id': 'test-client-of-the-owner', 'x-client-name': 'Test' };
    const { body } = await api.anyone.login({ headers: client, body: OWNER });
    headers = { authorization: `Bearer ${body.accessToken}` };
  });
  after(() => relay.stop());

  const select = (selection: object, scope = 'profile') =>
    api.anyone.setThemeSelection({ headers, body: { scope, selection: { ...SELECTION, ...selection } } });

  afterEach(async () => {
    await select({});
    await select({}, 'server');
    await api.anyone.updateBranding({ headers, body: { accent: null } });
  });

  it("wears the profile's theme from the first paint, and changes without a reload", async () => {
    expect((await select({ themeId: 'cinema', textScale: 1.2 })).status).to.equal(200);
    const app = await openSignedIn(api.url, '/');
    await app.page.waitForSelector('#own-theme[href*="/themes/cinema/"]', { state: 'attached' });
    const surface = await color(app.page, 'surface-0');
    await app.page.route('**/_app/**/*.js', (route) => route.abort()); // the shell alone
    app.expectFault(/console|exception/);
    await app.page.reload({ waitUntil: 'commit' });
    await app.page.waitForSelector('#own-theme', { state: 'attached' });
    await eventually(async () => (await color(app.page, 'surface-0')) === surface);
    expect(await app.page.evaluate('getComputedStyle(document.documentElement).fontSize')).to.equal('19.2px');
    expect(await app.page.isVisible('.boot-bar svg'), 'logo').to.equal(true);
    if (shots) await app.page.screenshot({ path: `${shots}/boot-1280.png` });
    await app.page.setViewportSize({ width: 360, height: 740 });
    expect(await app.page.isVisible('.boot-tabs'), 'tabs').to.equal(true);
    if (shots) await app.page.screenshot({ path: `${shots}/boot-360.png` });
    await app.page.unroute('**/_app/**/*.js');
    await app.page.goto(`${api.url}/me`);
    await app.page.waitForSelector('fieldset:not([disabled])');
    await app.page.click('label:has-text("Light")');
    await app.page.waitForSelector('html[data-scheme]');
    await eventually(async () => {
      const { body } = await api.anyone.listThemes({ headers });
      return body.selection.mode === 'light';
    });
    await app.close();
  });

  it('follows the choice of another device of the profile', async () => {
    const app = await openSignedIn(api.url, '/');
    await settled(app.page);
    const began = performance.now();
    await select({ themeId: 'cinema' });
    await app.page.waitForSelector('#own-theme[href*="/themes/cinema/"]', { state: 'attached' });
    shown('choice of the profile', began);
    await select({});
    await app.page.waitForSelector('#own-theme', { state: 'detached' });
    await app.close();
  });

  it("follows the server's default theme and branding on the open page of somebody else", async () => {
    const login = { username: 'mia', password: 'another good one' };
    await api.anyone.createUser({ headers, body: { ...login, role: 'member', mustChangePassword: false } });
    const app = await openSignedIn(api.url, '/', { login });
    const { page } = app;
    await settled(page);
    const surface = await color(page, 'surface-0');
    const began = performance.now();
    expect((await select({ themeId: 'cinema' }, 'server')).status).to.equal(200);
    await eventually(async () => (await color(page, 'surface-0')) !== surface);
    shown('default theme', began);
    const accent = await color(page, 'accent');
    const then = performance.now();
    const change = { headers, body: { accent: '#2266ee' } };
    expect((await api.anyone.updateBranding(change)).status).to.equal(200);
    await eventually(async () => (await color(page, 'accent')) !== accent);
    shown('branding', then);
    await select({}, 'server');
    await eventually(async () => (await color(page, 'surface-0')) === surface);
    await app.close();
  });

  it('loads the default theme again when it changed before the first answer of the page', async () => {
    const app = await openSignedIn(api.url, '/');
    const { page } = app;
    await eventually(() => page.evaluate(`JSON.parse(localStorage.getItem('foyer.look') ?? '{}').version`));
    const { promise: changed, resolve } = Promise.withResolvers<void>();
    await page.route(/\/api\/v1\/themes(\?|$)/, async (route) => {
      await changed;
      await route.continue().catch(() => undefined); // a request that the page gave up
    });
    await settled(page);
    const surface = await color(page, 'surface-0');
    expect((await select({ themeId: 'cinema' }, 'server')).status).to.equal(200);
    resolve();
    await eventually(async () => (await color(page, 'surface-0')) !== surface);
    await app.close();
  });

  it('takes hue and chroma from the accent of the server, and keeps the lightness', async () => {
    const app = await openSignedIn(api.url, '/');
    await app.page.waitForSelector('h1:has-text("Home")');
    const before = await color(app.page, 'accent');
    const change = { headers, body: { accent: '#2266ee' } };
    expect((await api.anyone.updateBranding(change)).status).to.equal(200);
    expect(before).to.not.match(/^oklch/);
    await app.page.reload();
    await eventually(async () => (await color(app.page, 'accent')).startsWith('oklch'), 10_000);
    const lightness = (text: string): string | undefined => /^oklch\((\S+)/.exec(text)?.[1];
    expect(Number(lightness(await color(app.page, 'accent')))).to.be.within(0.75, 0.81);
    if (shots) await app.page.screenshot({ path: `${shots}/accent-1280.png` });
    await app.close();
    const visitor = await openApp(api.url, '/sign-in');
    await visitor.page.waitForSelector('[name=username]');
    await eventually(async () => (await color(visitor.page, 'accent')).startsWith('oklch'));
    await visitor.close();
  });

  it('hides the title bar of a phone while one scrolls down, and shows it on the way up', async () => {
    const app = await openSignedIn(api.url, '/me', { viewport: { width: 360, height: 300 } });
    const top = () =>
      app.page.evaluate<number>(`document.querySelector('header:has(h1)').getBoundingClientRect().bottom`);
    await app.page.waitForSelector('fieldset');
    expect(await app.page.evaluate(`document.querySelector('header:has(h1)').offsetHeight`)).to.equal(48);
    if (shots) await app.page.screenshot({ path: `${shots}/bar-360.png` });
    await app.page.mouse.wheel(0, 200);
    await eventually(async () => (await top()) <= 0);
    await app.page.mouse.wheel(0, -60);
    await eventually(async () => (await top()) === 48);
    await app.close();
  });
});
