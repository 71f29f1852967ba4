import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { type Relay, startRelay } from '#platform/relay.ts';
import { type Api, clientFor } from '#support/api.ts';
import type { GivenLibrary } from '#support/given-items.ts';
import { violations } from './support/axe.ts';
import { openApp } from './support/page.ts';
import { OWNER, ownedServer } from './support/server.ts';
import { filmLibrary, signedIn } from './support/shelves.ts';

const COUNT = 20_000;

/** The item with the focus, and how far its card is from the top of the viewport. */
const focused = (page: Page): Promise<{ name: string; top: number }> =>
  page.evaluate(
    `(({ activeElement: one }) => ({ name: one.querySelector('.fy-title')?.textContent, top: Math.round(one.getBoundingClientRect().top) }))(document)`,
  );

describe('a library of 20,000 films in a browser', () => {
  let api: Api;
  let library: GivenLibrary;
  let relay: Relay;
  let storageState: BrowserContextOptions['storageState'];
  before(async () => {
    api = await ownedServer();
    library = await filmLibrary(api, COUNT);
    storageState = await signedIn(api);
    relay = startRelay(api.deps.config.databaseUrl, api.deps.redis, api.deps.log);
  });
  after(() => relay.stop());

  async function openGrid(query = '', options: BrowserContextOptions = {}) {
    const viewport = { width: 1280, height: 800 };
    const app = await openApp(api.url, `/library/${library.id}${query}`, {
      storageState: storageState as never,
      viewport,
      ...options,
    });
    await app.page.waitForSelector('[role=grid] a[href]');
    return app;
  }

  it('shows its last film after End, by one request, with a bounded number of cells', async () => {
    const app = await openGrid();
    const { page } = app;
    const pages: string[] = [];
    page.on('request', (request) => {
      if (request.url().includes(`/libraries/${library.id}/items`)) pages.push(request.url());
    });
    expect(await page.getAttribute('[role=grid]', 'aria-rowcount')).to.equal(String(Math.ceil(COUNT / 6)));
    await page.focus('[role=grid] a[tabindex="0"]');
    await page.keyboard.press('End');
    await page.waitForSelector('a:focus:has-text("Z film")');
    const [last] = await api.deps.db('items').where({ library_id: library.id }).orderBy('sort_title', 'desc').limit(1);
    expect((await focused(page)).name).to.equal((last as { title: string }).title);
    expect(pages.length, 'requests').to.be.at.most(2);
    expect(await page.getAttribute('[role=scrollbar]', 'aria-valuetext')).to.match(/^Z, (99|100) %$/);
    expect(await page.locator('[role=gridcell]').count()).to.be.at.most(400);
    await page.keyboard.press('Home');
    await page.waitForSelector('a:focus:has-text("A film")');
    await app.close();
  });

  it('opens with what the list of libraries has, so that its index is the first request', async () => {
    const app = await openApp(api.url, '/libraries', { storageState: storageState as never });
    const { page } = app;
    const card = page.locator(`#app main a[href^="/library/${library.id}"]`).first();
    await card.waitFor();
    const sent: string[] = [];
    page.on('request', (request) => sent.push(new URL(request.url()).pathname));
    await card.click();
    await page.waitForSelector('[role=grid] a[href]');
    expect(sent).to.include(`/api/v1/libraries/${library.id}/index`);
    expect(sent).to.not.include(`/api/v1/libraries/${library.id}`);
    await app.close();
  });

  it('goes to a letter by the rail, and Back returns to the film, its place and the filter', async () => {
    const app = await openGrid('?filter=year%3Agte%3A1960');
    const { page } = app;
    await page.locator('[role=scrollbar] .letter', { hasText: /^M$/ }).click();
    await page.waitForSelector('[role=grid] a:has-text("M film")');
    await page.focus('[role=grid] a[tabindex="0"]');
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight', 'ArrowRight']) await page.keyboard.press(key);
    await page.mouse.move(400, 400);
    await page.mouse.wheel(0, 130); // a place to which the focus alone would not lead
    await page.waitForTimeout(500);
    const before = await focused(page);
    expect(before.name).to.match(/^M film/);
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("M film")', { state: 'attached' });
    await page.goBack();
    await page.waitForSelector('a:focus:has-text("M film")');
    expect(await focused(page)).to.deep.equal(before);
    expect(new URL(page.url()).search).to.equal('?filter=year%3Agte%3A1960');
    await app.close();
  });

  it('shows a mark of another device without moving', async () => {
    const app = await openGrid();
    const { body } = await api.anyone.login({ body: OWNER });
    const other = clientFor(api.url, { authorization: `Bearer ${body.accessToken}` });
    await app.page.locator('[role=gridcell][data-index="4"] a[href]').focus();
    const before = await focused(app.page);
    const href = await app.page.getAttribute('[role=gridcell][data-index="4"] a', 'href');
    await other.markWatched({ params: { id: String(href?.split('/').at(-1)) } });
    await app.page.waitForSelector('[role=gridcell][data-index="4"] a:has-text("Watched")', { timeout: 8000 });
    expect(await focused(app.page)).to.deep.equal(before);
    await other.unmarkWatched({ params: { id: String(href?.split('/').at(-1)) } });
    await app.close();
  });

  it('marks a selection, and all that match but some', async () => {
    const app = await openGrid();
    const { page } = app;
    const watched = async (): Promise<number> => {
      const [row] = await api.deps.db('item_states').where({ watched: true }).count('* as count');
      return Number((row as { count: string }).count);
    };
    await page.focus('[role=grid] a[tabindex="0"]');
    for (const key of ['x', 'ArrowRight', 'x', 'ArrowDown', 'x']) await page.keyboard.press(key);
    await page.waitForSelector('text=3 selected');
    await page.click('[role=toolbar] button:has-text("Watched")');
    await page.waitForSelector('text=Marked 3 items');
    expect(await watched()).to.equal(3);
    expect(await page.locator('[role=grid] a:has-text("Watched")').count()).to.equal(3);

    await page.focus('[role=grid] a[tabindex="0"]');
    await page.keyboard.press('Control+a');
    await page.keyboard.press('x');
    await page.waitForSelector('text=19,999 selected');
    const [request] = await Promise.all([
      page.waitForRequest((one) => one.method() === 'POST'),
      page.click('[role=toolbar] button:has-text("Favourite")'),
    ]);
    const { select, set } = request.postDataJSON() as { select: { except: string[]; expect: number }; set: object };
    expect([select.except.length, select.expect, set]).to.deep.equal([1, COUNT, { favorite: true }]);
    await page.waitForSelector('text=items are being marked');
    await app.close();
  });

  for (const colorScheme of ['dark', 'light'] as const)
    for (const width of [360, 1280])
      it(`has no accessibility violations in its views: ${colorScheme}, ${width} px`, async () => {
        const app = await openGrid('', { colorScheme, viewport: { width, height: 800 } });
        const { page } = app;
        expect(await violations(page), 'grid').to.deep.equal([]);
        await page.click('button:has-text("Filter"), button[title=Filter]');
        await page.waitForSelector('aside input');
        expect(await violations(page), 'filter').to.deep.equal([]);
        await page.click('aside button[aria-label="Close the filter"]');
        await page.focus('[role=grid] a[tabindex="0"]');
        await page.keyboard.press('x');
        expect(await violations(page), 'selection').to.deep.equal([]);
        for (const view of ['table', 'list']) {
          await page.goto(`${api.url}/library/${library.id}?view=${view}&filter=year%3Aeq%3A1960`);
          await page.waitForSelector('main a[href^="/item/"]');
          expect(await violations(page), view).to.deep.equal([]);
        }
        await page.goto(`${api.url}/library/${library.id}?filter=year%3Aeq%3A1066`);
        await page.waitForSelector('text=Nothing matches');
        expect(await violations(page), 'nothing').to.deep.equal([]);
        await app.close();
      });
});
