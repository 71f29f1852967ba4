import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { violations } from './support/axe.ts';
import { openApp } from './support/page.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

describe('collections and saved filters in a browser', function () {
  this.timeout(120_000);
  let api: Api;
  let libraryId: string;
  const films: string[] = [];
  let storageState: BrowserContextOptions['storageState'];
  before(async () => {
    api = await ownedServer();
    const { db } = api.deps;
    const library = await givenLibrary(db, 'movies', { name: 'Films', item_counts: JSON.stringify({ movie: 3 }) });
    libraryId = library.id;
    for (const [at, title] of ['Harbour', 'Lights', 'Waves'].entries())
      films.push(await givenItem(db, library, { title, top: true, year: 1999 + at }));
    storageState = await signedIn(api);
  });
  const open = (path: string, width = 1280) =>
    openApp(api.url, path, { storageState: storageState as never, viewport: { width, height: 800 } });
  const titles = (page: Page, within = 'article .title'): Promise<string[]> => page.locator(within).allTextContents();

  it('makes one by hand from an item, arranges it by keyboard, and takes a title out with an undo', async () => {
    const app = await open(`/item/${films[0]}`);
    const { page } = app;
    await page.click('button[aria-label="Add to a collection"]');
    await page.fill('dialog input[name=name]', 'By the sea');
    await page.click('dialog button:has-text("Create")');
    await page.click('button:has-text("Show")');
    await page.waitForSelector('h1:has-text("By the sea")');
    const id = page.url().split('/').at(-1) ?? '';
    for (const film of films.slice(1)) {
      await page.goto(`${api.url}/item/${film}`);
      await page.click('button[aria-label="Add to a collection"]');
      await page.click('dialog button:has-text("By the sea")');
      await page.waitForSelector('text=Added to By the sea');
    }
    await page.goto(`${api.url}/collection/${id}`);
    await page.waitForSelector('article:has-text("Waves")');
    expect(await titles(page)).to.deep.equal(['Harbour', 'Lights', 'Waves']);
    expect(await violations(page)).to.deep.equal([]);
    await page.click('button:has-text("Arrange")');
    const first = page.locator('ol li').first();
    await page.locator('button[aria-label="Move Waves up"]').focus();
    await page.keyboard.press('Alt+ArrowUp');
    await page.locator('ol li:nth-child(2):has-text("Waves")').waitFor();
    await page.click('button[aria-label="Move Waves up"]');
    await first.filter({ hasText: 'Waves' }).waitFor();
    await page.click('button[aria-label="Remove Harbour from the collection"]');
    await page.locator('ol li', { hasText: 'Harbour' }).waitFor({ state: 'detached' });
    await page.click('button:has-text("Undo")');
    await page.locator('ol li:nth-child(2):has-text("Harbour")').waitFor();
    await page.goto(`${api.url}/item/${films[2]}`);
    await page.click('section a:has-text("By the sea")');
    await page.waitForSelector('article:has-text("Lights")');
    expect(await titles(page)).to.deep.equal(['Waves', 'Harbour', 'Lights']);
    await app.close();
  });

  it('makes one by rules with a live preview, also at 360 px, and deletes it', async () => {
    const app = await open('/collections', 360);
    const { page } = app;
    await page.click('button:has-text("New collection")');
    await page.fill('dialog input[name=name]', 'Since 2000');
    await page.selectOption('dialog select[name=kind]', 'smart');
    await page.waitForSelector('dialog p:has-text("2 titles match")');
    await page.fill('dialog input[aria-label=Value]', '2001');
    await page.waitForSelector('dialog p:has-text("1 title matches")');
    await page.fill('dialog input[aria-label=Value]', 'soon');
    await page.locator('dialog p[role=status]:not(:has-text("match"))').waitFor();
    await page.fill('dialog input[aria-label=Value]', '2000');
    await page.waitForSelector('dialog p:has-text("2 titles match")');
    expect(await violations(page)).to.deep.equal([]);
    await page.click('dialog button:has-text("Create")');
    await page.waitForSelector('h1:has-text("Since 2000")');
    await page.waitForSelector('article:has-text("Waves")');
    expect(await titles(page)).to.deep.equal(['Lights', 'Waves']);
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).to.be.at.most(360);
    await page.click('button:has-text("Delete")');
    await page.click('dialog button:has-text("Delete")');
    await page.waitForURL('**/collections');
    await page.locator('a:has-text("Since 2000")').waitFor({ state: 'detached' });
    await app.close();
  });

  it('saves a filter, pins it, applies it, renames it and makes a collection of it', async () => {
    const app = await open(`/library/${libraryId}?filter=year:gte:2001`);
    const { page } = app;
    await page.click('button[title="Saved filters"]');
    await page.click('[role=menuitem]:has-text("Save this filter")');
    await page.fill('dialog input[name=filter-name]', 'New ones');
    await page.check('dialog input[name=pinned]');
    await page.click('dialog button:has-text("Save")');
    await page.locator('nav a:has-text("New ones")').waitFor();
    await page.goto(`${api.url}/library/${libraryId}`);
    await page.click('button[title="Saved filters"]');
    await page.click('[role=menuitem]:has-text("New ones")');
    await page.waitForURL(/filter=year/);
    await page.click('button[title="Saved filters"]');
    await page.click('[role=menuitem]:has-text("Change saved filters")');
    await page.fill('dialog input[name^=name-]', 'Newest');
    await page.click('dialog button:has-text("Rename")');
    await page.locator('nav a:has-text("Newest")').waitFor();
    await page.keyboard.press('Escape');
    await page.click('button[title="Saved filters"]');
    await page.click('[role=menuitem]:has-text("Make a collection")');
    await page.fill('dialog input[name=name]', 'From a filter');
    await page.waitForSelector('dialog p:has-text("1 title matches")');
    await page.click('dialog button:has-text("Create")');
    await page.waitForSelector('h1:has-text("From a filter")');
    await page.waitForSelector('article:has-text("Waves")');
    await app.close();
  });
});
