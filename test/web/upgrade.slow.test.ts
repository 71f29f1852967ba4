// The server is replaced by one with another build of the app, while a film plays and another tab is open.
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { startApiProcess } from '#support/processes.ts';
import { eventually } from '#support/stores.ts';
import { BUILD } from '../../api/web/files.ts';
import { publishBuild } from '../../api/web/other-versions.ts';
import { balancer } from './support/balancer.ts';
import { addFilm, type GivenFilm, shelf } from './support/films.ts';
import { otherBuild, podOf } from './support/other-build.ts';
import { openApp } from './support/page.ts';
import { isInTime, isWell, openSignedIn, playsFrom } from './support/player.ts';
import { ownedServer } from './support/server.ts';

/** The words of the browser for broken connections. */
const BROKEN = /Failed to load resource: net::|ERR_/;

describe('another version of the server, with tabs open', function () {
  this.timeout(180_000);
  let api: Api;
  let film: GivenFilm;

  before(async () => {
    api = await ownedServer();
    const place = await shelf(api);
    const counts = JSON.stringify({ movie: 1 });
    await api.deps.db('libraries').where({ id: place.library.id }).update({ item_counts: counts });
    film = await addFilm(api, place, { name: 'film.mp4', title: 'Film', seconds: 240, kbits: 2000 });
  });

  /** Chunks that the page received, and those that failed. */
  function chunksOf(page: Page): { came: Set<string>; failed: string[] } {
    const [came, failed] = [new Set<string>(), [] as string[]];
    page.on('response', (one) => {
      const { pathname } = new URL(one.url());
      if (!pathname.startsWith('/_app/')) return;
      if (one.ok() || one.status() === 304) came.add(pathname);
      else failed.push(`${one.status()} ${pathname}`);
    });
    return { came, failed };
  }

  it('goes on in the old tabs with the old chunks, without a reload, and new tabs have the new ones', async () => {
    const next = otherBuild();
    for (const folder of [BUILD, next]) await publishBuild(api.deps.objects, folder); // as the migrations do
    const before = await startApiProcess(api, { FOYER_MEDIA_ROOTS: JSON.stringify(api.config.mediaRoots) });
    const after = await podOf(api, next);
    const service = await balancer([before.url, after.url]);
    const player = await openSignedIn(service.url, `/play/${film.itemId}?t=20`);
    await playsFrom(player, 21);
    const home = await openApp(service.url, '/', { context: player.context });
    await home.page.waitForSelector('h1:has-text("Home")');
    const tabs = [player, home];
    for (const tab of tabs) {
      tab.expectFault(BROKEN);
      await tab.page.evaluate('window.isOldTab = true');
    }
    const chunks = tabs.map(({ page }) => chunksOf(page));

    process.kill(before.pid, 'SIGKILL');
    await player.page.keyboard.press('6'); // no part of it is buffered
    await playsFrom(player, 145);
    await isWell(player);
    await isInTime(player);
    await player.page.keyboard.press('Escape');
    await player.page.waitForURL(`${service.url}/item/${film.itemId}`);
    await player.page.waitForSelector('h1:has-text("Film")');

    const { page } = home;
    for (const [link, heading] of [
      ['a[href="/libraries"]', 'Libraries'],
      ['a[href="/search"]', 'Search'],
      ['a[href="/me"]', 'Mine'],
      ['main a[href="/me/history"]', 'History'],
    ] as const) {
      await page.click(link);
      await page.waitForSelector(`h1:has-text("${heading}")`);
    }
    for (const tab of tabs) expect(await tab.page.evaluate('window.isOldTab'), 'not reloaded').to.equal(true);
    expect(chunks.flatMap(({ failed }) => failed)).to.deep.equal([]);
    const came = chunks.flatMap((one) => [...one.came]).filter((path) => path.includes('/immutable/'));
    expect(came.length, 'chunks that the new server had to find').to.be.greaterThan(3);
    expect(came.filter((path) => path.includes('-next.'))).to.deep.equal([]);

    const fresh = await openApp(service.url, '/favicon.svg', { context: player.context });
    const news = chunksOf(fresh.page);
    await fresh.page.goto(`${service.url}/libraries`);
    await fresh.page.waitForSelector('h1:has-text("Libraries")');
    const scripts = [...news.came].filter((path) => path.endsWith('.js') && path.includes('/immutable/'));
    expect(scripts.length).to.be.greaterThan(3);
    expect(scripts.filter((path) => !path.includes('-next.'))).to.deep.equal([]);
    await eventually(async () => (await fresh.page.locator('main a').count()) > 0);
    await fresh.close();
    await home.close();
    await player.close();
  });

  it('loads the page again at the next navigation where the chunks of a tab are gone, after two newer versions', async () => {
    const builds = [BUILD, otherBuild(), otherBuild('third')];
    for (const folder of builds) await publishBuild(api.deps.objects, folder);
    const before = await startApiProcess(api);
    const after = await podOf(api, builds[2] ?? '');
    const service = await balancer([before.url, after.url]);
    const app = await openSignedIn(service.url, '/libraries');
    const { page } = app;
    await page.waitForSelector('h1:has-text("Libraries")');
    app.expectFault(BROKEN);
    app.expectFault(/dynamically imported/);
    await page.evaluate('window.isOldTab = true');
    process.kill(before.pid, 'SIGKILL');
    await page.click('a[href="/me"]');
    await page.click('main a[href="/stats"]');
    await page.waitForSelector('h1:has-text("Statistics")');
    expect(await page.evaluate('window.isOldTab')).to.equal(undefined);
    await app.close();
  });
});
