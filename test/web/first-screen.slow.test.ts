import { expect } from 'chai';
import type { Page } from 'playwright-core';
import sharp from 'sharp';
import type { Api } from '#support/api.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { eventually } from '#support/stores.ts';
import { type AppPage, openApp } from './support/page.ts';
import { ownedServer } from './support/server.ts';
import { filmLibrary, signedIn } from './support/shelves.ts';

const TITLE = '<img src=x onerror=alert(1)>';
const kept = (page: Page): Promise<string | null> => page.evaluate("localStorage.getItem('foyer.screen:/')");
const title = (place: string): string => `${place} article .title >> text="${TITLE}" >> nth=0`; // two rows may have it

/** The part of the pixels of one picture that differ from those of the other. */
async function apart(one: Buffer, other: Buffer): Promise<number> {
  const [a, b] = await Promise.all([one, other].map((png) => sharp(png).greyscale().raw().toBuffer()));
  const pixels = a?.length ?? 0;
  let differing = 0;
  for (let at = 0; at < pixels; at += 1) if (Math.abs((a?.[at] ?? 0) - (b?.[at] ?? 0)) > 16) differing += 1;
  return differing / pixels;
}

describe('the first screen of a page', function () {
  this.timeout(120_000);
  let api: Api;
  let films: string;
  before(async () => {
    api = await ownedServer();
    ({ id: films } = await filmLibrary(api, 100));
    const library = await givenLibrary(api.deps.db, 'movies', { name: 'More', item_counts: '{"movie":1}' });
    await givenItem(api.deps.db, library, { title: TITLE, top: true });
  });

  async function home(): Promise<AppPage> {
    const app = await openApp(api.url, '/', {
      storageState: await signedIn(api),
      viewport: { width: 1280, height: 800 },
    });
    await app.page.waitForSelector(title('#app'));
    expect(await app.page.locator('.boot').count(), 'the frame is gone').to.equal(0);
    await eventually(async () => (await kept(app.page)) !== null);
    return app;
  }

  /** Opens Home while the script of the app does not arrive. */
  async function shellAlone(app: AppPage): Promise<void> {
    await app.page.route('**/_app/**/*.js', (route) => route.abort());
    app.expectFault(/console|exception/);
    await app.page.reload({ waitUntil: 'commit' });
    await app.page.waitForSelector('.boot-bar', { state: 'attached' });
  }

  it('is there before any script of the app, where the app draws it, as text', async () => {
    const app = await home();
    const drawn = await app.page.locator(title('#app')).boundingBox();
    await shellAlone(app);
    await app.page.waitForSelector(title('.boot-screen'));
    expect(await app.page.locator(title('.boot-screen')).boundingBox()).to.deep.equal(drawn);
    await app.close();
  });

  it('is kept for a library, where its cells are drawn, and goes once they are there', async () => {
    const app = await openApp(api.url, `/library/${films}`, {
      storageState: await signedIn(api),
      viewport: { width: 1280, height: 800 },
    });
    const cells = (place: string): string => `${place} .fy-cell:not(.fy-waiting)`;
    const boxes = (place: string): Promise<unknown> =>
      app.page.evaluate(`[...document.querySelectorAll('${cells(place)}')]
        .filter((one) => one.getBoundingClientRect().bottom < innerHeight)
        .map((one) => [one.querySelector('.fy-title').textContent, one.getBoundingClientRect().toJSON()])`);
    await app.page.waitForSelector(cells('#app'));
    await eventually(
      async () => (await app.page.evaluate(`localStorage.getItem('foyer.screen:/library/${films}')`)) !== null,
    );
    const drawn = await boxes('#app');
    const picture = await app.page.screenshot();
    await shellAlone(app);
    await app.page.waitForSelector(cells('.boot-screen'));
    expect(await boxes('.boot-screen')).to.deep.equal(drawn);
    expect(await apart(picture, await app.page.screenshot()), 'pixels that differ').to.be.below(0.01);
    await app.page.unroute('**/_app/**/*.js');
    await app.page.reload();
    await app.page.waitForSelector(cells('#app'));
    await app.page.waitForSelector('.boot', { state: 'detached' });
    await app.close();
  });

  it('runs nothing that stands in the storage of the browser, and passes over a value of another version', async () => {
    const app = await home();
    const put = (change: string): Promise<unknown> =>
      app.page.evaluate(`{ const kept = JSON.parse(localStorage.getItem('foyer.screen:/')); ${change};
        localStorage.setItem('foyer.screen:/', JSON.stringify(kept)); }`);
    const bad = `['script', {}, '', 'document.title = 1'], ['img', { src: 'x', onerror: 'document.title = 1' }, '']`;
    await put(`kept.nodes = [${bad}, ['p', { onclick: 'x', id: 'main' }, 'color: red', 'Kept']]`);
    await shellAlone(app);
    await app.page.waitForSelector('.boot-screen p:text-is("Kept")');
    expect(await app.page.innerHTML('.boot-screen')).to.match(/^<img src="x"><p style="color: red;?">Kept<\/p>$/);
    for (const change of [
      "kept.sheets = ['/_app/other.css']",
      "kept.sheets.push('https://127.0.0.1/x.css')",
      'kept.width = 1',
      'kept.nodes = 5',
    ]) {
      await put(change);
      await app.page.reload({ waitUntil: 'commit' });
      await app.page.waitForSelector('.boot-bar', { state: 'attached' });
      await app.page.waitForSelector('#app', { state: 'attached' });
      expect(await app.page.locator('.boot-screen p').count(), change).to.equal(0);
    }
    await app.close();
  });

  it('is never of the person before, kept by another tab', async () => {
    const app = await home();
    await app.page.evaluate("document.cookie = 'foyer.viewer=another; path=/'"); // as a tab in which another profile entered
    await shellAlone(app);
    await app.page.waitForSelector('#app', { state: 'attached' });
    expect(await app.page.locator('.boot-screen').count()).to.equal(0);
    await app.page.unroute('**/_app/**/*.js');
    await app.page.evaluate("localStorage.removeItem('foyer.screen:/')");
    const entered = Promise.withResolvers<void>();
    await app.page.route('**/api/v1/home*', (route) => entered.promise.then(() => route.continue()));
    await app.page.reload();
    await app.page.waitForSelector('#app main');
    await app.page.evaluate("document.cookie = 'foyer.viewer=third; path=/'");
    entered.resolve();
    await app.page.waitForSelector(title('#app'));
    await app.page.waitForTimeout(3500); // the latest time at which a screen is kept
    expect(await kept(app.page)).to.equal(null);
    await app.close();
  });

  it('hides for a failure, and is forgotten at the end of the sign-in and for another profile', async () => {
    const app = await home();
    app.expectFault(/500/);
    await app.page.route('**/api/v1/home*', (route) => route.fulfill({ status: 500, json: {} }));
    await app.page.reload();
    await app.page.waitForSelector('#app main button:has-text("Try again")');
    expect(await app.page.locator('.boot').isVisible()).to.equal(false);
    await app.page.unroute('**/api/v1/home*');
    await app.page.reload();
    await app.page.waitForSelector(title('#app'));
    await app.page.click('button:has-text("ana")');
    await app.page.click('text="Sign out"');
    await app.page.waitForSelector('[name=password]');
    expect(await kept(app.page)).to.equal(null);
    await app.close();
  });
});
