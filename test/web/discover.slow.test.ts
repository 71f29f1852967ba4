import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import { Catalogues } from '#platform/agents/catalogues.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import type { Api } from '#support/api.ts';
import { startWikidataListings } from '#support/catalogues/listings.ts';
import { localOutbound, placeAgents } from '#support/catalogues/local.ts';
import { createDiscoverRefresh } from '#workers/discover/refresh.ts';
import type { Work } from '#workers/work.ts';
import { violations } from './support/axe.ts';
import { openApp } from './support/page.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

describe('discover in a browser', function () {
  this.timeout(120_000);
  let api: Api;
  let storageState: BrowserContextOptions['storageState'];
  before(async () => {
    api = await ownedServer();
    const wikidata = await startWikidataListings();
    await placeAgents(api, { wikidata: wikidata.url });
    await api.deps.db('profiles').update({ country: 'GB' });
    Object.assign(api.deps, { catalogues: new Catalogues(api.deps, localOutbound()) });
    const work = { report: async () => undefined, emit, enqueue, signal: new AbortController().signal };
    const place = { country: 'GB', language: 'en' };
    await createDiscoverRefresh({ catalogues: () => api.deps.catalogues })({ place }, {
      ...api.deps,
      ...work,
    } as unknown as Work);
    storageState = await signedIn(api);
  });

  it('shows the lists with their sources, a title with its offers, and finds one, at 360 px', async () => {
    const app = await openApp(api.url, '/', {
      storageState: storageState as never,
      viewport: { width: 1280, height: 800 },
    });
    const { page } = app;
    await page.click('nav a:has-text("Discover")');
    await page.waitForSelector('article:has-text("Quiet Harbour")');
    await page.setViewportSize({ width: 360, height: 700 });
    await page.waitForSelector('text=TMDB (needs a key)');
    expect(await violations(page)).to.deep.equal([]);
    await page.locator('[data-tab=cinemas]').focus();
    await page.keyboard.press('ArrowRight');
    await page.waitForSelector('text=Dates of discs need a key for TMDB');
    await page.keyboard.press('ArrowRight');
    await page.click('article:has-text("Listed Serial") a');
    await page.waitForSelector('h1:has-text("Listed Serial")');
    const offer = page.locator('a:has-text("Netflix")');
    expect(await offer.getAttribute('href')).to.equal('https://www.netflix.com/title/81111111');
    expect(await violations(page)).to.deep.equal([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).to.be.at.most(360);
    await page.goto(`${api.url}/discover`);
    await page.fill('input[type=search]', 'harbour');
    await page.keyboard.press('Enter');
    await page.waitForSelector('article:has-text("Quiet Harbour")');
    await app.close();
  });
});
