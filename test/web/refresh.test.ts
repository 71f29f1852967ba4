import { expect } from 'chai';
import { build } from 'esbuild';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { startBrowser } from '#support/hls-browser.ts';
import { atEnd } from '#support/stores.ts';
import { openApp } from './support/page.ts';
import { OWNER, ownedServer } from './support/server.ts';
import { behindTls } from './support/tls.ts';

/** RUNS=100 for a campaign. */
const RUNS = Number(process.env.RUNS ?? 3);

/** The app's own client, to send many requests at one moment; it is a tab like the page that it runs in. */
async function clientScript(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: ['web/src/core/api/client.ts'],
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'core',
    target: 'es2022',
    logLevel: 'error',
  });
  return `${outputFiles[0]?.text}; window.core = core;`;
}

const TEN = 'Promise.all(Array.from({ length: 10 }, () => core.api.getMe().then(() => 200, (error) => error.status)))';

/** As the browser does at its max-age, in one step: a request at this moment still has the cookie of the refresh. */
async function expire(context: BrowserContext, page: Page, url: string): Promise<void> {
  const browser = await context.newCDPSession(page);
  for (const name of ['foyer_session', '__Host-foyer_session'])
    await browser.send('Network.deleteCookies', { name, url });
  await browser.detach();
}

async function withoutLimits({ deps: { redis } }: Api): Promise<void> {
  const keys = await redis.keys('limit:*');
  if (keys.length > 0) await redis.del(...keys);
}

describe('the end of a token, in two tabs', () => {
  let script: string;
  before(async () => {
    script = await clientScript();
  });

  async function signIn(page: Page): Promise<void> {
    await page.fill('[name=username]', OWNER.username);
    await page.fill('[name=password]', OWNER.password);
    await page.click('button[type=submit]');
    await page.waitForSelector('h1:has-text("Home")');
  }

  /** A browser for which a name that is not localhost is this machine; pages at it have no Web Locks. */
  async function namingBrowser(): Promise<Browser> {
    const browser = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
      args: ['--no-sandbox', '--host-resolver-rules=MAP foyer.test 127.0.0.1'],
    });
    atEnd(() => browser.close());
    return browser;
  }

  for (const isSecure of [true, false])
    it(`is met by 20 requests with one refresh, ${isSecure ? 'on https under Web Locks' : 'on plain http under leases'}`, async function () {
      this.timeout(60_000 + RUNS * 5000);
      const api = await ownedServer();
      const origin = isSecure ? await behindTls(api) : api.url.replace('127.0.0.1', 'foyer.test');
      const browser = isSecure ? await startBrowser() : await namingBrowser();
      const context = await browser.newContext({ locale: 'en-GB', ignoreHTTPSErrors: true });
      const first = await openApp(origin, '/', { context });
      await signIn(first.page);
      const second = await openApp(origin, '/libraries', { context });
      await second.page.waitForSelector('h1:has-text("Libraries")');
      const pages = [first.page, second.page];
      for (const page of pages) expect(await page.evaluate('Boolean(navigator.locks)')).to.equal(isSecure);
      await Promise.all(pages.map((page) => page.evaluate(script)));
      let refreshes = 0;
      context.on('request', (request) => {
        if (request.url().endsWith('/auth/refresh')) refreshes += 1;
      });
      for (let run = 1; run <= RUNS; run += 1) {
        await withoutLimits(api);
        await expire(context, first.page, origin);
        const statuses = await Promise.all(pages.map((page) => page.evaluate<number[]>(TEN)));
        expect(statuses.flat(), `run ${run}`).to.deep.equal(Array.from({ length: 20 }, () => 200));
        expect(refreshes, `refreshes after ${run} runs`).to.equal(run);
      }
      for (const page of pages) expect(await page.isVisible('nav'), 'every tab is still signed in').to.equal(true);
      await first.close();
      await second.close();
      await context.close();
    });
});
