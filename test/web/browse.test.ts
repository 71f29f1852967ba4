import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { openApp } from './support/page.ts';
import { ownedServer } from './support/server.ts';
import { filmLibrary, signedIn } from './support/shelves.ts';

const COUNT = 600;

interface Point {
  x: number;
  y: number;
}

describe('browsing with a mouse, a finger and the arrow keys alone', () => {
  let api: Api;
  let library: GivenLibrary;
  let storageState: BrowserContextOptions['storageState'];
  before(async () => {
    api = await ownedServer();
    library = await filmLibrary(api, COUNT);
    storageState = await signedIn(api);
  });

  const open = async (path = `/library/${library.id}`, more: BrowserContextOptions = {}) => {
    const viewport = { width: 1280, height: 800 };
    const app = await openApp(api.url, path, { storageState: storageState as never, viewport, ...more });
    await app.page.waitForSelector('main a[href^="/item/"]');
    return app;
  };
  const cell = (index: number): string => `[role=gridcell][data-index="${index}"]`;
  const middle = async (page: Page, index: number): Promise<Point> => {
    const box = await page.locator(`${cell(index)} .fy-art`).boundingBox();
    if (!box) throw new Error(`no card ${index}`);
    return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
  };
  const press = async (page: Page, ...keys: string[]): Promise<void> => {
    for (const key of keys) await page.keyboard.press(key);
  };

  it('plays from the middle of a card and opens the menu from its corner with a mouse', async () => {
    const app = await open();
    const { page } = app;
    const { x, y } = await middle(page, 1);
    await page.mouse.move(x, y - 40);
    await page.mouse.move(x, y, { steps: 5 });
    await page.mouse.move(x + 3, y + 3);
    await page.locator(`${cell(1)} .fy-more`).click();
    await page.waitForSelector('dialog[open] [role=menuitem]');
    await press(page, 'Escape');
    await page.mouse.move(x, y);
    await page.mouse.click(x, y);
    await page.waitForURL(/\/play\//);
    await app.close();
  });

  it('selects by clicks in the middle of cards, and a range by Shift over items that are not loaded', async () => {
    const app = await open();
    const { page } = app;
    const at = async (index: number): Promise<Point> => middle(page, index);
    await page.locator(`${cell(0)} a`).focus();
    await press(page, 'x', 'Escape');
    const second = await at(2);
    await page.mouse.click(second.x, second.y, { button: 'right' });
    await page.locator('dialog[open] button:has-text("Select")').click();
    await page.waitForSelector('text=1 selected');
    await page.waitForSelector(`${cell(2)} a:focus`);
    const fourth = await at(4);
    await page.keyboard.down('Shift');
    await page.mouse.click(fourth.x, fourth.y);
    await page.keyboard.up('Shift');
    await page.waitForSelector('text=3 selected');
    const sixth = await at(5);
    await page.mouse.click(sixth.x, sixth.y);
    await page.waitForSelector('text=4 selected');
    await press(page, 'End');
    await page.waitForSelector(`${cell(COUNT - 1)} a[href]`);
    const last = await at(COUNT - 1);
    await page.keyboard.down('Shift');
    await page.mouse.click(last.x, last.y);
    await page.keyboard.up('Shift');
    await page.waitForSelector(`text=${COUNT - 2} selected`);
    const { db } = api.deps;
    await page.click('[role=toolbar] button:has-text("Watched")');
    await page.waitForSelector(`text=Marked ${COUNT - 2} items`);
    expect((await db('item_states').where({ watched: true })).length).to.equal(COUNT - 2);
    await db('item_states').del();
    await app.close();
  });

  it('keeps the menu of a long press open when the finger lifts', async () => {
    const app = await open(undefined, { hasTouch: true, isMobile: true, viewport: { width: 390, height: 800 } });
    const { page } = app;
    const point = await middle(page, 1);
    const client = await app.context.newCDPSession(page);
    await client.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [point] });
    await page.waitForSelector('dialog[open]');
    await page.waitForTimeout(400);
    await client.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
    await page.waitForTimeout(400);
    expect(await page.locator('dialog[open] [role=menuitem]').count()).to.be.greaterThan(3);
    await app.close();
  });

  it('is used by arrows, Enter and Escape alone', async () => {
    const app = await open('/');
    const { page } = app;
    await press(page, 'ArrowDown');
    await page.waitForSelector('main .rail a:focus');
    await press(page, 'ArrowRight', 'ArrowDown');
    const href = await page.getAttribute('main .rail a:focus', 'href');
    await press(page, 'Enter');
    await page.waitForURL(`**${href}`);
    await page.waitForSelector('.play a');
    await press(page, 'ArrowDown');
    await page.waitForSelector('.play a:focus');
    await press(page, 'Escape');
    await page.waitForSelector(`main .rail a[href="${href}"]:focus`);
    for (let steps = 0; steps < 30 && (await page.locator('header nav a:focus').count()) === 0; steps += 1)
      await press(page, 'ArrowLeft');
    for (let steps = 0; steps < 30; steps += 1) {
      if (await page.locator(`nav a[href^="/library/${library.id}"]:focus`).count()) break;
      await press(page, 'ArrowDown');
    }
    await press(page, 'Enter');
    await page.waitForSelector('[role=grid] a[href]');
    await press(page, 'ArrowDown');
    await page.waitForSelector(`${cell(0)} a:focus`);
    await press(page, 'ArrowDown', 'ArrowRight', 'Enter');
    await page.waitForSelector('.play a');
    await press(page, 'Escape');
    await page.waitForSelector(`${cell(7)} a:focus`);
    await press(page, 'ArrowUp', 'ArrowUp');
    await page.waitForSelector('[role=toolbar] :focus');
    await press(page, 'ArrowDown', 'x');
    await page.waitForSelector('text=1 selected');
    await press(page, 'Escape');
    await page.waitForSelector('text=1 selected', { state: 'detached' });
    await press(page, 'Escape');
    await page.waitForURL(`${api.url}/`);
    await app.close();
  });

  it('lists all of a folder while it is scrolled', async () => {
    const { db } = api.deps;
    const videos = await givenLibrary(db, 'videos', { item_counts: JSON.stringify({ video: 405 }) });
    await db('library_folders')
      .where({ id: videos.folderId })
      .update({ path: `media/${videos.id}` });
    for (let at = 1; at <= 405; at += 1) {
      const title = `Clip ${String(at).padStart(3, '0')}`;
      const item = await givenItem(db, videos, { type: 'video', title, top: true });
      await givenFile(db, videos, item, { path: `many/${at}.mkv` });
    }
    const app = await openApp(api.url, `/library/${videos.id}?view=folders`, { storageState: storageState as never });
    const { page } = app;
    await page.locator('main .rows a').first().click();
    await page.locator('main .rows a:has-text("many")').click();
    await page.waitForSelector('main .rows a:has-text("Clip 001")');
    for (let turns = 0; turns < 20 && (await page.locator('text=Clip 405').count()) === 0; turns += 1) {
      await page.mouse.move(700, 500);
      await page.mouse.wheel(0, 20_000);
      await page.waitForTimeout(300);
    }
    expect(await page.locator('main .rows a').count()).to.equal(405);
    await app.close();
  });

  it('keeps the view and the sort of a library, not its filter', async () => {
    const app = await open(`/library/${library.id}?filter=year%3Agte%3A1990`);
    const { page } = app;
    await page.click('[role=toolbar] button[title="View"]');
    await page.click('[role=menuitem]:has-text("Table")');
    await page.waitForURL(/view=table/);
    await page.click('nav a:has-text("Home")');
    await page.waitForSelector('h1:has-text("Home")');
    await page.click(`nav a[href="/library/${library.id}"]`);
    await page.waitForSelector('.fy-record a[href]');
    expect(new URL(page.url()).search).to.equal('?view=table');
    await page.click('[role=toolbar] button[title="View"]');
    await page.click('[role=menuitem]:has-text("Grid")');
    await page.waitForSelector('.fy-art');
    expect(new URL(page.url()).search).to.equal('');
    await app.close();
  });

  it('removes a favourite in the menu of a card', async () => {
    const app = await open();
    const { page } = app;
    const favorite = async (): Promise<boolean> => {
      const id = (await page.getAttribute(`${cell(3)} a`, 'href'))?.split('/').at(-1);
      const row = (await api.deps.db('item_states').where({ item_id: id }).first()) as
        | { favorite: boolean }
        | undefined;
      return row?.favorite ?? false;
    };
    const choose = async (label: string): Promise<void> => {
      await page.locator(`${cell(3)} a`).focus();
      await press(page, 'm');
      await page.locator(`dialog[open] button:text-is("${label}")`).click();
    };
    await choose('Favourite');
    await page.waitForSelector('text=is a favourite');
    expect(await favorite()).to.equal(true);
    await page.reload();
    await page.waitForSelector(`${cell(3)} a[href]`);
    await choose('Remove from favourites');
    await page.waitForSelector('text=is no favourite');
    expect(await favorite()).to.equal(false);
    await app.close();
  });

  it('names the page at once, and says that an address leads nowhere', async () => {
    const app = await open();
    const { page } = app;
    await page.route('**/items/*?*', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 1500));
      await route.continue().catch(() => undefined); // the page may have gone on
    });
    await page.locator(`${cell(0)} .fy-title`).click();
    await page.waitForURL(/\/item\//);
    await page.waitForSelector('main article[aria-busy]');
    expect(await page.title(), 'before the item is there').to.match(/^[A-Z] film/);
    await page.unroute('**/items/*?*');
    for (const path of ['/item/nope', '/item/00000000-0000-4000-8000-000000000000']) {
      await page.goto(api.url + path);
      await page.waitForSelector('text=This page does not exist');
    }
    await app.close();
  });

  it('shows resolutions and decades as people write them', async () => {
    await api.deps.db('items').where({ library_id: library.id }).limit(1).update({ height: 480 });
    const app = await open(`/library/${library.id}?filter=decade%3Aeq%3A1990`);
    const { page } = app;
    await page.click('button[title=Filter]');
    await page.waitForSelector('aside label:has-text("1990s")');
    await page.waitForSelector('button[aria-label$="1990s"]');
    await page.waitForSelector('aside label:has-text("SD")');
    await app.close();
  });
});
