import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { openApp } from './support/page.ts';
import { OWNER, ownedServer } from './support/server.ts';
import { filmLibrary } from './support/shelves.ts';

const KB = 1024;
/** Most bytes of the first load of Home, as they are sent. */
const BUDGET = { js: 110 * KB, css: 20 * KB, woff2: 49 * KB };
/** Of everything that is sent before the first title is on the page: shell, script, style, font and the API. */
const MOST_REQUESTS = 12;

describe('the first load of Home', () => {
  let api: Api;
  before(async () => {
    api = await ownedServer();
    for (const name of ['Films', 'More films', 'Other films']) await filmLibrary(api, 30, name);
  });

  it('is small, moves nothing, and requests nothing from other hosts', async () => {
    const app = await openApp(api.url, '/');
    await app.page.fill('[name=username]', OWNER.username);
    await app.page.fill('[name=password]', OWNER.password);
    await app.page.click('button[type=submit]');
    await app.page.waitForSelector('main article a');
    const mode = `JSON.parse(localStorage.getItem('foyer.look'))?.mode`; // of the profile that is signed in
    await eventually(() => app.page.evaluate<string | undefined>(mode));
    const cookies = await app.context.storageState();
    await app.close();

    const fresh = await openApp(api.url, '/favicon.svg', { storageState: cookies });
    const sent: Record<string, number> = { js: 0, css: 0, woff2: 0 };
    fresh.page.on('requestfinished', async (request) => {
      const type = request.url().split('.').at(-1) ?? '';
      const { responseBodySize } = await request.sizes();
      if (type in sent) sent[type] = (sent[type] ?? 0) + responseBodySize;
    });
    const cdp = await fresh.context.newCDPSession(fresh.page);
    await cdp.send('Network.enable');
    await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
    const sentAt: number[] = [];
    // A row that was late for the answer of Home is read by itself, which depends on how busy the machine is.
    cdp.on('Network.requestWillBeSent', ({ wallTime, request }) => {
      if (!request.url.includes('/home/rows/')) sentAt.push(wallTime * 1000);
    });
    await fresh.page.addInitScript(`new MutationObserver((_, seen) => {
      if (!document.querySelector('main article a')) return;
      seen.disconnect();
      requestAnimationFrame(() => (globalThis.firstTitleAt = Date.now()));
    }).observe(document, { childList: true, subtree: true })`);
    await fresh.page.goto(`${api.url}/`);
    await fresh.page.waitForSelector('main article a');
    await fresh.page.waitForLoadState('load');
    await fresh.page.waitForTimeout(500);
    for (const [type, most] of Object.entries(BUDGET)) expect(sent[type], type).to.be.within(1, most);
    const firstTitleAt = await fresh.page.evaluate<number>('firstTitleAt');
    const requests = sentAt.filter((at) => at < firstTitleAt).length;
    expect(requests).to.be.within(1, MOST_REQUESTS);
    const moved = await fresh.page.evaluate<number>(
      `new Promise((done) => new PerformanceObserver((list) => done(list.getEntries().reduce((sum, { value }) => sum + value, 0))).observe({ type: 'layout-shift', buffered: true }) || setTimeout(() => done(0), 500))`,
    );
    expect(moved).to.be.at.most(0.02);
    if (process.env.TEST_LOG)
      process.stdout.write(`${JSON.stringify(sent)} ${requests} of ${sentAt.length} requests\n`);
    await fresh.close();
  });
});
