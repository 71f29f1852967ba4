import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import sharp from 'sharp';
import { type Api, clientFor, type TestClient } from '#support/api.ts';
import { type GivenLibrary, givenItem, givenLibrary, givenShow } from '#support/given-items.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { formOf, painted } from '../areas/artwork/support.ts';
import { violations } from './support/axe.ts';
import { openApp } from './support/page.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

const COLOURS = ['#c04020', '#20a040', '#2050c0', '#a020a0', '#c0a020'];

/** The sum of the layout shifts that no input caused. */
const SHIFTS = `new Promise((resolve) => {
  let sum = 0;
  new PerformanceObserver((list) => { for (const one of list.getEntries()) if (!one.hadRecentInput) sum += one.value; })
    .observe({ type: 'layout-shift', buffered: true });
  setTimeout(() => resolve(sum), 500);
})`;

/** Whether every picture of the selector that is in sight has its pixels. */
const loaded = (page: Page, selector: string) =>
  holds(
    page,
    `(() => {
      const all = [...document.querySelectorAll(${JSON.stringify(selector)})].filter((one) => !one.hidden && one.offsetParent && one.getBoundingClientRect().top < innerHeight && one.getBoundingClientRect().left < innerWidth);
      return all.length > 0 && all.every((one) => one.complete && one.naturalWidth > 0);
    })()`,
  );
const counts = (page: Page, selector: string, count: number) =>
  holds(page, `document.querySelectorAll(${JSON.stringify(selector)}).length === ${count}`);
/** The policy of the page forbids expressions inside it, so the condition is evaluated from here. */
const holds = (page: Page, expression: string) => eventually(() => page.evaluate<boolean>(expression), 30_000);

describe('pictures in a browser', function () {
  this.timeout(120_000);
  let api: Api;
  let admin: TestClient;
  let films: GivenLibrary;
  let film: string;
  let show: Awaited<ReturnType<typeof givenShow>>;
  let storageState: BrowserContextOptions['storageState'];

  const add = async (id: string, kind: string, bytes: Buffer) => {
    const { status } = await admin.uploadItemArtwork({ params: { id }, body: formOf({ kind, bytes }) });
    expect(status, kind).to.be.oneOf([200, 201]);
  };
  before(async () => {
    api = await ownedServer();
    const { db } = api.deps;
    admin = clientFor(api.url, (await api.given.admin()).headers);
    films = await givenLibrary(db, 'movies', { item_counts: JSON.stringify({ movie: 21 }), name: 'Films' });
    const posters = await Promise.all(COLOURS.map((colour) => painted(500, 750, colour)));
    for (let n = 0; n < 20; n += 1) {
      const id = await givenItem(db, films, { title: `Film ${n}`, top: true, year: 1990 + n });
      await add(id, 'poster', posters[n % posters.length] as Buffer);
      if (n === 0) film = id;
    }
    await givenItem(db, films, { title: 'Without a picture', top: true });
    await add(film, 'backdrop', await painted(1600, 900, '#204060'));
    const words = sharp({ create: { width: 600, height: 150, channels: 4, background: '#ffffff80' } });
    await add(film, 'logo', await words.png().toBuffer());
    const shows = await givenLibrary(db, 'shows', { item_counts: JSON.stringify({ show: 1, season: 1, episode: 2 }) });
    show = await givenShow(db, shows, { seasons: 1, episodes: 2, title: 'Harbour Stories' });
    const still = await db('items').where({ type: 'episode', library_id: shows.id }).first('id');
    await add(still.id, 'still', await painted(640, 360, '#a0a020'));
    storageState = await signedIn(api);
  });
  const open = (path: string, more: BrowserContextOptions = {}) =>
    openApp(api.url, path, { storageState: storageState as never, viewport: { width: 1280, height: 800 }, ...more });

  it('requests the posters in sight before those of other cells', async () => {
    const app = await openApp(api.url, `/library/${films.id}`, {
      storageState: storageState as never,
      viewport: { width: 360, height: 500 },
    });
    const { page } = app;
    await page.waitForSelector('[role=grid] a[href]');
    const orders = await page.evaluate<string[]>(
      `[...document.querySelectorAll('[role=gridcell] img[src]')].map((one) => {
        const { top, bottom } = one.closest('[role=gridcell]').getBoundingClientRect();
        return (top < innerHeight && bottom > 0) + ' ' + one.fetchPriority;
      })`,
    );
    expect([...new Set(orders)].sort()).to.deep.equal(['false low', 'true high']);
    await app.close();
  });

  it('fill the grid without a shift of the layout; an item without one shows its title', async () => {
    const app = await open(`/library/${films.id}?view=grid`);
    const { page } = app;
    await loaded(page, 'img.fy-picture');
    const first = page.locator('img.fy-picture:not([hidden])').first();
    expect(await first.getAttribute('srcset')).to.match(
      /width=160&v=1 1x, .*width=480&v=1 2x$|width=240&v=1 1x, .*width=480&v=1 2x$/,
    );
    expect(await first.getAttribute('loading')).to.equal('lazy');
    expect(await first.getAttribute('decoding')).to.equal('async');
    expect(await first.getAttribute('style')).to.include('data:image/bmp');
    const bare = page.locator('.fy-cell:has-text("Without a picture")').first();
    expect(await bare.locator('img').getAttribute('hidden')).to.equal('');
    expect(await page.evaluate<number>(SHIFTS)).to.be.lessThan(0.02);
    expect(await violations(page)).to.deep.equal([]);
    await app.close();
  });

  for (const view of ['list', 'table'])
    it(`stand next to the titles of the ${view}`, async () => {
      const app = await open(`/library/${films.id}?view=${view}`);
      await loaded(app.page, view === 'list' ? 'ol img' : 'img.fy-picture');
      expect(await violations(app.page)).to.deep.equal([]);
      await app.close();
    });

  it('head the page of a film, with its backdrop and logo, on wide and narrow screens', async () => {
    for (const width of [1280, 360]) {
      const app = await open(`/item/${film}`, { viewport: { width, height: 800 } });
      const { page } = app;
      await loaded(page, 'article img');
      const backdrop = page.locator('img[src*="width=1280"]');
      expect(await backdrop.isVisible(), `${width}`).to.equal(width === 1280);
      expect(await page.locator('.logo img').count()).to.equal(1);
      expect(await page.evaluate<number>(SHIFTS)).to.be.lessThan(0.02);
      expect(await violations(page), `${width}`).to.deep.equal([]);
      await app.close();
    }
  });

  it('stand next to episodes, and on the cards of home', async () => {
    const app = await open(`/item/${show.id}`);
    await loaded(app.page, 'li .still img');
    await app.page.goto(`${api.url}/`);
    await loaded(app.page, '.card img');
    await app.close();
  });

  it('are chosen, uploaded, removed and reset by those who edit', async () => {
    const id = await givenItem(api.deps.db, films, { title: 'Edited', top: true });
    await add(id, 'poster', await painted(500, 750, '#c04020'));
    const file = join(temporaryFolder('pictures'), 'other.jpg');
    await writeFile(file, await painted(600, 900, '#20a040'));
    const app = await open(`/item/${id}`);
    const { page } = app;
    await page.click('button[aria-label="Pictures"]');
    await page.waitForSelector('dialog button[aria-pressed="true"]');
    expect(await violations(page)).to.deep.equal([]);
    await page.setInputFiles('dialog input[type=file]', file);
    await counts(page, 'dialog li', 2);
    await page.waitForSelector('dialog button[aria-label*="600 by 900"][aria-pressed="true"]');
    await page.click('dialog button[aria-label*="500 by 750"]');
    await page.waitForSelector('dialog button[aria-label*="500 by 750"][aria-pressed="true"]');
    await page.waitForSelector('dialog:has-text("Your choice is kept")');
    await page.click('dialog button:has-text("Show none")');
    await counts(page, 'dialog button[aria-pressed="true"]', 0);
    await page.click('dialog button:has-text("Choose automatically")');
    await page.waitForSelector('dialog:has-text("Chosen automatically")');
    await page.fill('dialog input[name=url]', 'http://127.0.0.1/x.jpg');
    await page.click('dialog button:has-text("Download")');
    await page.waitForSelector('dialog [role=alert]');
    await page.locator('dialog button[aria-label="Remove this picture"]').first().click();
    await counts(page, 'dialog li', 1);
    await app.close();
  });
});
