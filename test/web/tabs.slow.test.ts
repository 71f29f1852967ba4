// Live updates in the browser: one event stream for all tabs, which loses and repeats nothing, and new titles that move nothing.
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { emitMany } from '#platform/outbox.ts';
import { startRelay } from '#platform/relay.ts';
import { type Api, clientFor, type TestClient } from '#support/api.ts';
import { type GivenLibrary, givenItem } from '#support/given-items.ts';
import { startBrowser } from '#support/hls-browser.ts';
import { PATIENCE } from '#support/patience.ts';
import { startApiProcess } from '#support/processes.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { eventStreams } from '../../api/areas/events/streams.ts';
import { balancer } from './support/balancer.ts';
import { type AppPage, openApp } from './support/page.ts';
import { OWNER, ownedServer } from './support/server.ts';
import { filmLibrary, signedIn } from './support/shelves.ts';

const TABS = 6;
const FILMS = 120;
const NEW = 12;
const LIVE_MS = 2000;
/** An event is in the stream of the server by then. */
const PUBLISHED_MS = 2000;
/** What the browser itself says of broken connections. */
const BROKEN = /Failed to load resource: net::|ERR_/;
/** Notes the changes of items, and those that were missed, as the tab with the stream passes them on. */
const NOTE = `globalThis.passed = [];
new BroadcastChannel('foyer-events').onmessage = ({ data }) => {
  if (data.event === 'item.updated' || data.payload.missed) passed.push(data.payload.itemId ?? data.event);
};`;

describe('live updates in a browser', function () {
  this.timeout(180_000);
  let api: Api;
  let library: GivenLibrary;
  let ids: string[];
  let client: TestClient;
  let storageState: Awaited<ReturnType<typeof signedIn>>;

  before(async () => {
    api = await ownedServer();
    const relay = startRelay(api.deps.config.databaseUrl, api.deps.redis, api.deps.log);
    atEnd(() => relay.stop());
    library = await filmLibrary(api, FILMS);
    const rows = await api.deps.db('items').where({ library_id: library.id }).orderBy('sort_title').select('id');
    ids = rows.map(({ id }: { id: string }) => id);
    storageState = await signedIn(api);
    const { body } = await api.anyone.login({ body: OWNER });
    client = clientFor(api.url, { authorization: `Bearer ${body.accessToken}` });
  });

  const contexts: BrowserContext[] = [];
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    await eventually(async () => (await streams()) === 0);
  });

  const streams = async (): Promise<number> => (await eventStreams(api.deps as never)).size;
  const passed = ({ page }: AppPage): Promise<string[]> => page.evaluate<string[]>('passed');

  /** Says of items that they changed. */
  const change = (from: number, to: number): Promise<void> =>
    emitMany(
      api.deps.db as never,
      'item.updated',
      ids.slice(from, to).map((itemId) => ({ payload: { itemId, libraryId: library.id } })),
    );

  async function openTabs(origin: string): Promise<{ tabs: AppPage[]; leader: () => Page }> {
    const context = await (await startBrowser()).newContext({ locale: 'en-GB', storageState });
    contexts.push(context);
    await context.addInitScript(NOTE);
    let leader: Page | undefined;
    context.on('request', (request) => {
      if (/\/api\/v1\/events/.test(request.url())) leader = request.frame().page();
    });
    const tabs: AppPage[] = [];
    for (let n = 0; n < TABS; n += 1) {
      const tab = await openApp(origin, '/libraries', { context });
      tab.expectFault(BROKEN);
      await tab.page.waitForSelector('main a:has-text("Films")');
      tabs.push(tab);
    }
    return { tabs, leader: () => leader as Page };
  }

  async function allHave(tabs: readonly AppPage[], count: number): Promise<void> {
    for (const tab of tabs) {
      await eventually(async () => (await passed(tab)).length >= count, 30_000 * PATIENCE);
      expect(await passed(tab)).to.deep.equal(ids.slice(0, count));
    }
  }

  it('come by one stream for six tabs, which passes to another tab when its own is closed', async () => {
    const { tabs, leader } = await openTabs(api.url);
    await eventually(async () => (await streams()) === 1);
    await change(0, 5);
    await allHave(tabs, 5);
    expect(await streams()).to.equal(1);
    const first = leader();
    const rest = tabs.filter(({ page }) => page !== first);
    expect(rest.length).to.equal(TABS - 1);
    const opens = Promise.withResolvers<void>();
    await first.context().route('**/api/v1/events*', (route) => opens.promise.then(() => route.continue()));
    await first.close();
    await change(5, 10);
    await rest[0]?.page.waitForTimeout(PUBLISHED_MS); // no tab has the stream meanwhile
    opens.resolve();
    await allHave(rest, 10);
    expect(await streams()).to.equal(1);
    expect(leader()).to.not.equal(first);
    for (const tab of rest) await tab.close();
  });

  it('lose and repeat nothing when the pod of the stream is killed', async () => {
    const pod = await startApiProcess(api);
    const service = await balancer([pod.url, api.url]);
    const { tabs } = await openTabs(service.url);
    await change(0, 5);
    await allHave(tabs, 5);
    expect(await streams(), 'of the other pod').to.equal(0);
    process.kill(pod.pid, 'SIGKILL');
    await change(5, 20);
    await allHave(tabs, 20);
    expect(await streams()).to.equal(1);
    for (const tab of tabs) await tab.close();
  });

  async function open(path: string): Promise<AppPage> {
    const app = await openApp(api.url, path, { storageState, viewport: { width: 1280, height: 800 } });
    contexts.push(app.context);
    return app;
  }

  it('are on the screen of another device within two seconds', async () => {
    const [item = ''] = ids;
    const app = await open(`/item/${item}`);
    await app.page.waitForSelector('button[aria-label^="Mark as watched"]');
    await eventually(async () => (await streams()) === 1);
    for (const [act, shows] of [
      // Nothing else changed the item before its marks do.
      [() => client.markWatched({ params: { id: item } }), 'button[aria-label^="Watched; mark"]'],
      [
        () => client.updateItem({ params: { id: item }, body: { title: 'Another title' } }),
        'h1:has-text("Another title")',
      ],
    ] as const) {
      const began = performance.now();
      expect((await act()).status).to.be.oneOf([200, 204]);
      await app.page.waitForSelector(shows, { state: 'attached' });
      const took = performance.now() - began;
      if (process.env.TIMES) console.log(`    ${shows}: ${Math.round(took)} ms`);
      expect(took, shows).to.be.below(LIVE_MS * PATIENCE);
    }
    await app.close();
  });

  /** As a scan does: its titles come with the newest dates and before all others by name. */
  async function scan(name: string): Promise<void> {
    const { db } = api.deps;
    const events = [];
    for (let n = 0; n < NEW; n += 1) {
      const itemId = await givenItem(db, library, {
        title: `0 ${name} ${n}`,
        top: true,
        year: 2020,
        added_at: new Date(),
      });
      events.push({ payload: { itemId, libraryId: library.id } });
    }
    await db('libraries').where({ id: library.id }).increment('change_seq', 1);
    await emitMany(db as never, 'item.added', events);
  }

  /** The card with the focus, and where it is. */
  const looked = (page: Page): Promise<unknown> =>
    page.evaluate(`(() => {
      const { x, y } = document.activeElement.getBoundingClientRect();
      return { text: document.activeElement.textContent, x, y };
    })()`);

  for (const [where, path, card] of [
    ['a library', () => `/library/${library.id}`, '[role=gridcell][data-index="3"] a[href]'],
    ['Home', () => '/', 'section:has(h2:has-text("Recently added")) li:nth-child(3) a[href]'],
  ] as const)
    it(`count new titles and move nothing until they are wanted: ${where}`, async () => {
      const app = await open(path());
      const { page } = app;
      await page.locator(card).first().focus();
      await eventually(async () => (await streams()) === 1);
      await page.waitForTimeout(3000); // titles that come with the page do not wait
      const before = await looked(page);
      await scan(where);
      const pill = page.locator(`button:has-text("${NEW} new: show")`);
      await pill.waitFor();
      await page.waitForTimeout(500);
      expect(await looked(page)).to.deep.equal(before);
      await pill.click();
      await page.locator(`main a:has-text("0 ${where}")`).first().waitFor();
      expect(await pill.count()).to.equal(0);
      await app.close();
    });
});
