// The database or Redis is gone for a while: a film goes on, a page stays, and no write is lost that was shown as done.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { type Stage, worker } from '#support/hls-session.ts';
import { eventually, newDatabase, redisUrl } from '#support/stores.ts';
import { type Balancer, balancer } from './support/balancer.ts';
import { addFilm, type GivenFilm, playing, shelf } from './support/films.ts';
import { openSignedIn, playsFrom, storedMs } from './support/player.ts';
import { ownedServer } from './support/server.ts';

const GONE_MS = 20_000;
/** What the page meets while a store is gone: answers of 5xx, and what the browser says of them. */
const GONE = /^5\d\d: |Failed to load resource/;

/** Notes every failure that the player shows from now on. */
const WATCH_ALERTS = `(() => {
  window.alerts = [];
  const look = () => { for (const one of document.querySelectorAll('.player [role=alert]')) window.alerts.push(one.textContent); };
  new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
})()`;

describe('stores that are gone', function () {
  this.timeout(240_000);
  let api: Api;
  const stores: Partial<Record<'Postgres' | 'Redis', Balancer>> = {};
  const films: Partial<Record<'mp4' | 'mkv', GivenFilm>> = {};

  before(async () => {
    const [database, redis] = [new URL(await newDatabase()), new URL(await redisUrl())];
    stores.Postgres = await balancer([database.href]);
    stores.Redis = await balancer([redis.href]);
    database.port = new URL(stores.Postgres.url).port;
    redis.port = new URL(stores.Redis.url).port;
    api = await ownedServer({ FOYER_DATABASE_URL: database.href, FOYER_REDIS_URL: redis.href });
    worker({ ...api.deps, environment: {} } as Stage);
    const place = await shelf(api);
    films.mp4 = await addFilm(api, place, { name: 'direct.mp4', title: 'Direct', seconds: 180, kbits: 2000 });
    films.mkv = await addFilm(api, place, { name: 'streamed.mkv', title: 'Streamed', seconds: 180 });
  });

  /** Without the store for a time, while the test does something. */
  async function without(store: 'Postgres' | 'Redis', work: () => Promise<void>): Promise<void> {
    const end = sleep(GONE_MS);
    stores[store]?.cut();
    try {
      await work();
      await end;
    } finally {
      stores[store]?.restore();
    }
  }

  for (const store of ['Postgres', 'Redis'] as const)
    for (const kind of ['mp4', 'mkv'] as const)
      it(`a film goes on without ${store}: ${kind}`, async () => {
        const { itemId = '' } = films[kind] ?? {};
        const app = await openSignedIn(api.url, `/play/${itemId}?t=20`);
        app.expectFault(GONE);
        const { page } = app;
        await playsFrom(app, 24);
        await page.evaluate(WATCH_ALERTS);
        const { at } = await playing(page);
        await without(store, () => playsFrom(app, at + 15).then(() => undefined));
        await playsFrom(app, at + 25, 60_000);
        await page.keyboard.press('6'); // no part of it is buffered
        await playsFrom(app, 110);
        expect(await page.evaluate('window.alerts')).to.deep.equal([]);
        await page.keyboard.press('k');
        const { at: now } = await playing(page);
        await eventually(async () => Math.abs((await storedMs(api, itemId)) - now * 1000) < 2000);
        await app.close();
      });

  const mark = (page: Page): Locator => page.getByRole('button', { name: /^(Favourite|No favourite any more)/ });

  const isPressed = async (page: Page): Promise<boolean> => (await mark(page).getAttribute('aria-pressed')) === 'true';

  async function isStored(itemId: string): Promise<boolean> {
    const row = await api.deps.db('item_states').where({ item_id: itemId }).first<{ favorite: boolean } | undefined>();
    return row?.favorite ?? false;
  }

  for (const store of ['Postgres', 'Redis'] as const)
    it(`pages stay, and a mark is kept or refused for all to see, without ${store}`, async () => {
      const { itemId = '' } = films.mp4 ?? {};
      const app = await openSignedIn(api.url, `/item/${itemId}`);
      app.expectFault(GONE);
      const { page } = app;
      await mark(page).waitFor();
      let kept: boolean | undefined;
      await without(store, async () => {
        await mark(page).click();
        const result = page.locator('text=/is a favourite|Not saved: /');
        await result.waitFor({ timeout: 18_000 });
        kept = (await result.textContent())?.includes('is a favourite');
        expect(await isPressed(page), 'the page shows the same').to.equal(kept);
        await page.goto(`${api.url}/libraries`, { waitUntil: 'commit' });
        await eventually(async () => ((await page.textContent('body')) ?? '').trim().length > 20);
      });
      await page.waitForSelector('main a:has-text("Films"), main a[href^="/library/"]', { timeout: 60_000 });
      await page.goBack();
      await mark(page).waitFor({ timeout: 60_000 });
      await eventually(async () => !(await page.locator('.strip').count()));
      expect(await isStored(itemId)).to.equal(kept);
      await eventually(async () => (await isPressed(page)) === kept);
      await api.deps.db('item_states').where({ item_id: itemId }).update({ favorite: false });
      await app.close();
    });
});
