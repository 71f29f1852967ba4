// Runs alone: the browser, the transcoder and ffmpeg share the cores, and it compares times.
// The position survives a closed tab, a killed browser and a lost network, and it is never 0.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { chromium } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { type Stage, worker } from '#support/hls-session.ts';
import { addFilm, type GivenFilm, playing, shelf } from './support/films.ts';
import { type AppPage, openApp } from './support/page.ts';
import { openSignedIn, playsFrom, storedMs } from './support/player.ts';
import { OWNER, ownedServer } from './support/server.ts';

const SECONDS = 300;
/** RUNS=50 for a campaign. */
const RUNS = Number(process.env.RUNS ?? 5);
/** Longer than from one report of a film that plays to the next. */
const REPORTS_MS = 11_000;

describe('the position in a film', function () {
  this.timeout(120_000);
  let api: Api;
  let film: GivenFilm;

  beforeEach(() => api.deps.redis.flushdb()); // ten sign-ins a minute are the limit
  before(async () => {
    api = await ownedServer();
    worker({ ...api.deps, environment: {} } as Stage);
    film = await addFilm(api, await shelf(api), { name: 'direct.mp4', title: 'Direct', seconds: SECONDS });
  });

  /** Stored at most so many seconds before. */
  const near = async (at: number, seconds = 10): Promise<void> => {
    const stored = (await storedMs(api, film.itemId)) / 1000;
    expect(stored).to.be.within(at - seconds, at + 2);
  };

  for (let run = 0; run < RUNS; run++) {
    const begin = 70 + (run % 8) * 20;
    const more = run % 5;

    it(`survives a closed tab, run ${run + 1}`, async () => {
      const app = await openSignedIn(api.url, `/play/${film.itemId}?t=${begin}`);
      await playsFrom(app, begin + 5 + more);
      const { at } = await playing(app.page);
      await app.page.close();
      await sleep(500); // the browser sends the last request after the tab has gone
      await near(at, 2);
      await app.close();
    });

    it(`survives a killed browser, run ${run + 1}`, async () => {
      const args = ['--no-sandbox', '--autoplay-policy=no-user-gesture-required', '--mute-audio'];
      const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
      const server = await chromium.launchServer({ executablePath, args });
      const browser = await chromium.connect(server.wsEndpoint());
      const page = await browser.newPage();
      await page.goto(`${api.url}/sign-in?return=${encodeURIComponent(`/play/${film.itemId}?t=${begin}`)}`);
      await page.fill('[name=username]', OWNER.username);
      await page.fill('[name=password]', OWNER.password);
      await page.click('button[type=submit]');
      const app = { page } as AppPage;
      await playsFrom(app, begin + 2);
      await page.waitForTimeout(REPORTS_MS + more * 1500);
      const { at } = await playing(page);
      await server.kill();
      await near(at);
    });

    it(`waits in the browser while the network is gone, run ${run + 1}`, async () => {
      const app = await openSignedIn(api.url, `/play/${film.itemId}?t=${begin}`);
      app.expectFault(/Failed to load resource: net::/);
      await playsFrom(app, begin + 1);
      await app.context.setOffline(true);
      await playsFrom(app, begin + 14); // farther than the positions are apart that pass the test
      const { at } = await playing(app.page);
      // A tab that ends in another way still sends its last request, past the network that the browser is without.
      const session = await app.context.newCDPSession(app.page);
      const crashed = app.page.waitForEvent('crash');
      session.send('Page.crash').catch(() => undefined); // it has no answer
      await crashed;
      await app.page.close();
      await app.context.setOffline(false);
      const again = await openApp(api.url, `/play/${film.itemId}`, { context: app.context });
      expect(await playsFrom(again, 0.1)).to.be.within(at - 9, at + 4);
      await again.close();
      await app.close();
    });
  }

  it('is not sent from the first second, and is what it was after a film is opened and left at once', async () => {
    const before = await storedMs(api, film.itemId);
    expect(before).to.be.greaterThan(60_000);
    const app = await openSignedIn(api.url, `/play/${film.itemId}`);
    await app.page.waitForSelector('.player');
    await app.close();
    expect(await storedMs(api, film.itemId)).to.be.closeTo(before, 10_000);
  });
});
