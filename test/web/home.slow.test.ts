import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { type Relay, startRelay } from '#platform/relay.ts';
import type { Api } from '#support/api.ts';
import { givenItem, givenLibrary, givenShow, givenState } from '#support/given-items.ts';
import { violations } from './support/axe.ts';
import { openApp } from './support/page.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

const HOUR = 3_600_000;
const FINGER = { hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } };

describe('Home in a browser', function () {
  this.timeout(120_000);
  let api: Api;
  let relay: Relay;
  let film: string;
  let storageState: BrowserContextOptions['storageState'];
  before(async () => {
    api = await ownedServer();
    const { db } = api.deps;
    const films = await givenLibrary(db, 'movies', { name: 'Films', item_counts: JSON.stringify({ movie: 2 }) });
    const shows = await givenLibrary(db, 'shows', { name: 'Series', item_counts: JSON.stringify({ show: 1 }) });
    film = await givenItem(db, films, { title: 'Harbour', top: true, year: 1999, runtime_ms: 2 * HOUR });
    await givenItem(db, films, { title: 'Lights', top: true, year: 2004 });
    const show = await givenShow(db, shows, { title: 'Waves', seasons: 1, episodes: 3 });
    const owner = await db('profiles as p')
      .join('accounts as a', 'a.id', 'p.account_id')
      .where('a.role', 'owner')
      .first<{ id: string }>('p.id');
    const state = { profileId: owner.id, last_played_at: new Date() };
    await givenState(db, films, { ...state, itemId: film, position_ms: HOUR / 2, progress: 0.25 });
    await givenState(db, shows, { ...state, itemId: show.episodes[0]?.[0] ?? '', watched: true });
    storageState = await signedIn(api);
    relay = startRelay(api.deps.config.databaseUrl, api.deps.redis, api.deps.log);
  });
  after(() => relay?.stop());
  const open = (path: string, width = 1280, device = storageState) =>
    openApp(api.url, path, { storageState: device as never, viewport: { width, height: 800 } });
  const titles = async (page: Page, row: string): Promise<string[]> =>
    page.locator(`section:has(h2:has-text("${row}")) article .title`).allTextContents();

  it('opens the menu of a card by key, right button, corner and long press, and takes the card out by it', async () => {
    const app = await open('/');
    const { page } = app;
    const card = page.locator('section:has(h2:text-is("Continue")) article', { hasText: 'Waves' });
    const menu = page.locator('dialog[open] [role=menu]');
    const closed = async (): Promise<void> => {
      await menu.waitFor();
      await page.keyboard.press('Escape');
      await menu.waitFor({ state: 'detached' });
      await card.locator('a:focus').waitFor();
    };
    await card.locator('a').focus();
    await page.keyboard.press('m');
    await closed();
    await card.click({ button: 'right' });
    await closed();
    await card.hover();
    await card.locator('.fy-more').click();
    await menu.locator('text=Add to a collection').waitFor();
    await menu.locator('text=Hide Waves').click();
    await card.waitFor({ state: 'detached' });
    await page.locator('section:has(h2:text-is("Continue")) article:has-text("Harbour") a:focus').waitFor();
    await page.click('button:has-text("Undo")');
    await card.waitFor();
    await app.close();
    const phone = await openApp(api.url, '/', { storageState: storageState as never, ...FINGER });
    const touched = phone.page.locator('section:has(h2:has-text("Recently added in Films")) article', {
      hasText: 'Lights',
    });
    const box = await touched.boundingBox();
    const point = { x: (box?.x ?? 0) + 40, y: (box?.y ?? 0) + 40 };
    const client = await phone.context.newCDPSession(phone.page);
    await client.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [point] });
    await phone.page.waitForSelector('dialog[open] [role=menuitem]:has-text("Watched")');
    await client.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await phone.page.click('dialog[open] [role=menuitem]:has-text("Watched")');
    await touched.locator('text=Watched').waitFor({ state: 'attached' });
    await phone.close();
  });

  it('continues, hides a card with an undo, and follows another device', async () => {
    const app = await open('/');
    const { page } = app;
    await page.waitForSelector('h2:has-text("Recently added in Films")');
    await page.waitForSelector('h2:text-is("Continue")');
    expect(await titles(page, 'Continue')).to.have.members(['Harbour', 'Waves']);
    await page.waitForSelector('article:has-text("S1 E2")');
    await page.waitForSelector('article:has-text("1 h 30 min left")');
    const card = page.locator('section:has(h2:text-is("Continue")) article', { hasText: 'Waves' });
    await card.hover();
    await card.locator('button[aria-label^="Hide Waves"]').click();
    await card.waitFor({ state: 'detached' });
    expect(await titles(page, 'Recently added in Series')).to.deep.equal(['Waves']);
    await page.click('button:has-text("Undo")');
    await card.waitFor();
    await card.locator('a').focus();
    await page.keyboard.press('Delete');
    await card.waitFor({ state: 'detached' });
    await page.click('button:has-text("Undo")');
    await card.waitFor();
    const elsewhere = await open('/', 1280, await signedIn(api));
    await elsewhere.page.waitForSelector('article:has-text("Harbour")');
    await elsewhere.page.goto(`${api.url}/item/${film}`);
    await elsewhere.page.click('button[aria-label^="Mark as watched"]');
    await page
      .locator('section:has(h2:text-is("Continue")) article', { hasText: 'Harbour' })
      .waitFor({ state: 'detached' });
    await elsewhere.close();
    await app.close();
  });

  it('has its rows arranged, and taken back', async () => {
    const app = await open('/');
    const { page } = app;
    await page.click('a:has-text("Arrange Home")');
    await page.waitForSelector('text=These are the rows of the server');
    await page.click('button[aria-label="Move Recently added in Series up"]');
    await page.waitForSelector('text=These are your own rows');
    await page.selectOption('select[name=kind]', { label: 'Libraries' });
    await page.click('button:has-text("Add")');
    await page.waitForSelector('li:has-text("Libraries")');
    expect(await violations(page)).to.deep.equal([]);
    await page.goto(`${api.url}/`);
    await page.waitForSelector('h2:has-text("Libraries")');
    const rows = await page.locator('main h2').allTextContents();
    expect(rows.indexOf('Recently added in Series')).to.be.lessThan(rows.indexOf('Recently added in Films'));
    expect(await violations(page)).to.deep.equal([]);
    await page.goto(`${api.url}/me/home`);
    await page.click('button:has-text("Back to the rows of the server")');
    await page.waitForSelector('text=These are the rows of the server');
    await app.close();
  });

  it('fits a phone', async () => {
    const app = await open('/', 360);
    await app.page.waitForSelector('h2:has-text("Recently added in Films")');
    expect(await app.page.evaluate('document.documentElement.scrollWidth')).to.equal(360);
    expect(await violations(app.page)).to.deep.equal([]);
    await app.close();
  });
});
