import { expect } from 'chai';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { startBrowser } from '#support/hls-browser.ts';
import { openApp } from './support/page.ts';
import { OWNER, ownedServer } from './support/server.ts';

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

describe('the end of a token, in two tabs', () => {
  let api: Api;
  let script: string;
  before(async () => {
    api = await ownedServer();
    script = await clientScript();
  });

  async function signIn(page: Page): Promise<void> {
    await page.fill('[name=username]', OWNER.username);
    await page.fill('[name=password]', OWNER.password);
    await page.click('button[type=submit]');
    await page.waitForSelector('h1:has-text("Home")');
  }

  for (const locks of [true, false])
    it(`is met by 20 requests with one refresh, ${locks ? 'under Web Locks' : 'under leases, as over plain http'}`, async () => {
      const context = await (await startBrowser()).newContext({ locale: 'en-GB' });
      if (!locks) await context.addInitScript('Object.defineProperty(navigator, "locks", { value: undefined })');
      const first = await openApp(api.url, '/', { context });
      await signIn(first.page);
      const second = await openApp(api.url, '/libraries', { context });
      await second.page.waitForSelector('h1:has-text("Libraries")');
      const pages = [first.page, second.page];
      await Promise.all(pages.map((page) => page.evaluate(script)));
      let refreshes = 0;
      context.on('request', (request) => {
        if (request.url().endsWith('/auth/refresh')) refreshes += 1;
      });
      await context.clearCookies({ name: 'foyer_session' }); // as the browser does at its max-age
      const statuses = await Promise.all(pages.map((page) => page.evaluate<number[]>(TEN)));
      expect(statuses.flat()).to.deep.equal(Array.from({ length: 20 }, () => 200));
      expect(refreshes).to.equal(1);
      for (const page of pages) expect(await page.isVisible('nav'), 'every tab is still signed in').to.equal(true);
      await first.close();
      await second.close();
      await context.close();
    });
});
