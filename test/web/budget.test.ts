import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { openApp } from './support/page.ts';
import { OWNER, ownedServer } from './support/server.ts';

const KB = 1024;
/** Most bytes of the first load of Home, as they are sent. */
const BUDGET = { js: 110 * KB, css: 20 * KB, woff2: 49 * KB };
/** Of everything: shell, script, style, font and the API. */
const MOST_REQUESTS = 32;

describe('the first load of Home', () => {
  let api: Api;
  before(async () => {
    api = await ownedServer();
  });

  it('is small, moves nothing, and requests nothing from other hosts', async () => {
    const app = await openApp(api.url, '/');
    await app.page.fill('[name=username]', OWNER.username);
    await app.page.fill('[name=password]', OWNER.password);
    await app.page.click('button[type=submit]');
    await app.page.waitForSelector('h1:has-text("Home")');
    const cookies = await app.context.storageState();
    await app.close();

    const fresh = await openApp(api.url, '/favicon.svg', { storageState: cookies });
    const sent: Record<string, number> = { js: 0, css: 0, woff2: 0 };
    let requests = 0;
    fresh.page.on('requestfinished', async (request) => {
      const type = request.url().split('.').at(-1) ?? '';
      requests += 1;
      const { responseBodySize } = await request.sizes();
      if (type in sent) sent[type] = (sent[type] ?? 0) + responseBodySize;
    });
    const cdp = await fresh.context.newCDPSession(fresh.page);
    await cdp.send('Network.enable');
    await cdp.send('Network.setCacheDisabled', { cacheDisabled: true });
    await fresh.page.goto(`${api.url}/`);
    await fresh.page.waitForSelector('h1:has-text("Home")');
    await fresh.page.waitForLoadState('load');
    await fresh.page.waitForTimeout(500);
    for (const [type, most] of Object.entries(BUDGET)) expect(sent[type], type).to.be.within(1, most);
    expect(requests).to.be.at.most(MOST_REQUESTS);
    const moved = await fresh.page.evaluate<number>(
      `new Promise((done) => new PerformanceObserver((list) => done(list.getEntries().reduce((sum, { value }) => sum + value, 0))).observe({ type: 'layout-shift', buffered: true }) || setTimeout(() => done(0), 500))`,
    );
    expect(moved).to.be.at.most(0.02);
    if (process.env.TEST_LOG) process.stdout.write(`${JSON.stringify(sent)} ${requests} requests\n`);
    await fresh.close();
  });
});
