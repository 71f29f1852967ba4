import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { openApp } from './support/page.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

/** The words of Chromium for requests without a network. */
const OFFLINE = /ERR_INTERNET_DISCONNECTED|Failed to fetch|dynamically imported/;

describe('the app while the server cannot be reached', () => {
  let api: Api;
  before(async () => {
    api = await ownedServer();
  });

  it('opens a page by itself that it could not load', async () => {
    const app = await openApp(api.url, '/', { storageState: (await signedIn(api)) as never });
    const { page } = app;
    await page.waitForSelector('h1:has-text("Home")');
    app.expectFault(OFFLINE);
    await page.context().setOffline(true);
    await page.click('a[href="/search"]');
    await page.waitForSelector('text=The server cannot be reached');
    await page.context().setOffline(false);
    await page.waitForSelector('h1:has-text("Search")');
    expect(new URL(page.url()).pathname).to.equal('/search');
    await app.close();
  });

  it('says that a sign-out did not reach the server', async () => {
    const app = await openApp(api.url, '/me', { storageState: (await signedIn(api)) as never });
    const { page } = app;
    await page.waitForSelector('main button:has-text("Sign out")');
    app.expectFault(OFFLINE);
    await page.context().setOffline(true);
    await page.click('main button:has-text("Sign out")');
    await page.waitForSelector('text=You are still signed in');
    await page.context().setOffline(false);
    await app.close();
  });
});
