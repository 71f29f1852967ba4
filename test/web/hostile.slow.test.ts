import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { openApp } from './support/page.ts';
import { openSignedIn } from './support/player.ts';
import { OWNER, ownedServer, unclaimedServer } from './support/server.ts';

const shots = process.env.SHOTS;
const NAMES: Readonly<Record<string, string>> = {
  markup: '<img src=x onerror=window.ran=1><svg onload=ran=1>"\'',
  direction: '\u202Egnp.elif\u202C \u0627\u0644\u0639\u0631\u0628\u064A\u0629 \u05E2\u05D1\u05E8\u05D9\u05EA',
  long: 'W'.repeat(1000),
  emoji: '👨‍👩‍👧‍👦🏳️‍🌈'.repeat(20),
};
const PATHS = ['/', '/libraries', '/search', '/me', '/profiles', '/quick-connect', '/no/such/page'];
const OUTSIDE = ['/sign-in', '/reset', '/invite#code=no', '/confirm-email#token=no', '/unsubscribe#token=no'];

/** Texts that stand out of the page at the sides, with the width of the page. */
const sideways = (page: Page): Promise<unknown> =>
  page.evaluate(`(() => {
    const wide = document.documentElement.scrollWidth > innerWidth;
    const out = [...document.querySelectorAll('h1, h2, p, a, button, label, li')].filter((one) => {
      const { left, right, width } = one.getBoundingClientRect();
      const clipped = one.closest('[class*=rail], [class*=scroll], ul');
      return width > 0 && !clipped && !one.closest('.unseen') && (left < -1 || right > innerWidth + 1);
    });
    return { wide, out: out.map((one) => one.outerHTML.slice(0, 120)) };
  })()`);

async function requireCalm(page: Page, where: string): Promise<void> {
  await page.waitForSelector('h1');
  await page.waitForTimeout(300);
  expect(await page.evaluate('window.ran'), `${where}: nothing ran`).to.equal(undefined);
  expect(await sideways(page), where).to.deep.equal({ wide: false, out: [] });
}

describe('hostile names', () => {
  let api: Api;
  let headers: Record<string, string>;
  before(async () => {
    api = await ownedServer();
    const client = { 'x-client-id': 'test-client-of-the-owner', 'x-client-name': 'Test' };
    const { body } = await api.anyone.login({ headers: client, body: OWNER });
    headers = { authorization: `Bearer ${body.accessToken}` };
    await api.anyone.createProfile({ headers, body: { name: 'second' } });
  });

  for (const [kind, name] of Object.entries(NAMES))
    it(`are texts that stay on the page at 360 px: ${kind}`, async () => {
      const { db, redis, settings } = api.deps;
      await redis.flushdb();
      const short = Array.from(name).slice(0, 60).join('');
      await db('settings')
        .insert({ key: 'server.name', value: JSON.stringify(short) })
        .onConflict('key')
        .merge();
      await settings.reload();
      await db('profiles').where({ main: true }).update({ name: short });
      await db('profiles')
        .where({ main: false })
        .update({ name: `${Array.from(short).slice(0, 56).join('')} 2` });
      await db('accounts').where({ username: OWNER.username }).update({ display_name: short, listed: true });
      const library = await givenLibrary(db, 'movies');
      await db('libraries').where({ id: library.id }).update({ name: short });
      const item = await givenItem(db, library, { title: name, top: true });
      await givenFile(db, library, item);
      const viewport = { width: 360, height: 740 };
      for (const path of OUTSIDE) {
        const visitor = await openApp(api.url, path, { viewport });
        await requireCalm(visitor.page, path);
        await visitor.close();
      }
      const app = await openSignedIn(api.url, '/', { viewport });
      for (const path of [...PATHS, `/library/${library.id}`]) {
        await app.page.goto(api.url + path);
        await requireCalm(app.page, path);
        if (shots) await app.page.screenshot({ path: `${shots}/${kind}${path.slice(0, 12).replaceAll('/', '-')}.png` });
      }
      await app.page.setViewportSize({ width: 1280, height: 800 });
      await app.page.goto(`${api.url}/`);
      await requireCalm(app.page, 'home at 1280 px');
      if (shots) await app.page.screenshot({ path: `${shots}/${kind}-1280.png` });
      await app.close();
    });

  it('are texts in the setup too', async () => {
    const fresh = await unclaimedServer({
      FOYER_SETTINGS: JSON.stringify({ 'server.name': '<img src=x onerror=ran=1>' }),
    });
    const app = await openApp(fresh.url, '/setup', { viewport: { width: 360, height: 740 } });
    await requireCalm(app.page, '/setup');
    await app.close();
  });
});
