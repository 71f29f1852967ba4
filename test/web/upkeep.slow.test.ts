// The pages of icons, of history and figures, and of maintenance.
import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import { recordPlay } from '#areas/stats/public.ts';
import type { Api } from '#support/api.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { eventually } from '#support/stores.ts';
import { zipOf } from '#support/zip-files.ts';
import { violations } from './support/axe.ts';
import { type AppPage, openApp } from './support/page.ts';
import { OWNER, ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

const HOSTILE = '<img src=x onerror=alert(1)>';
const drawing = (path: string): Buffer =>
  Buffer.from(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="${path}"/></svg>`);

describe('icons, history and maintenance in a browser', function () {
  this.timeout(180_000);
  let api: Api;
  let libraryId: string;
  let storageState: BrowserContextOptions['storageState'];
  before(async () => {
    api = await ownedServer();
    const { db } = api.deps;
    const films = await givenLibrary(db, 'movies', { item_counts: JSON.stringify({ movie: 1 }) });
    libraryId = films.id;
    const [profile] = await db('profiles as p')
      .join('accounts as a', 'a.id', 'p.account_id')
      .where('a.username', OWNER.username)
      .select('p.id');
    for (const [n, title] of [HOSTILE, 'Harbour'].entries()) {
      const startedAt = new Date(Date.now() - (n + 1) * 3_600_000);
      await recordPlay(db, {
        ...{ profileId: profile?.id ?? '', itemId: await givenItem(db, films, { title, top: true }), startedAt },
        ...{ endedAt: new Date(startedAt.getTime() + 1_800_000), playedMs: 1_800_000, completed: true },
        ...{ method: 'direct_play', source: 'playback', client: 'Firefox on Linux' },
      });
    }
    storageState = await signedIn(api);
  });
  const open = (path: string, width = 1280): Promise<AppPage> =>
    openApp(api.url, path, { storageState: storageState as never, viewport: { width, height: 900 } });

  it('fill a set by files, show it in the navigation, and give a library an icon', async () => {
    const app = await open('/admin/icons');
    const { page } = app;
    await page.waitForSelector('li:has-text("Foyer Bold")');
    await page.click('button:has-text("New set")');
    await page.fill('[name=name]', 'Retro');
    await page.click('dialog button:has-text("Create")');
    await page.waitForSelector('dialog', { state: 'hidden' });
    await page.click('li:has-text("Retro") button:has-text("Icons")');
    const files = [
      {
        name: 'icons.zip',
        mimeType: 'application/zip',
        buffer: zipOf({ 'nav-home.svg': drawing('M0 0h9v9H0z'), 'ship.svg': drawing('M0 0h9v9z') }),
      },
      {
        name: 'evil.svg',
        mimeType: 'image/svg+xml',
        buffer: Buffer.from('<svg xmlns="x"><script>alert(1)</script></svg>'),
      },
    ];
    await page.setInputFiles('[name=files]', files);
    await page.waitForSelector('text=2 added, 0 replaced, 1 refused');
    await page.waitForSelector('text=evil.svg: svg-active-content');
    await page.click('dialog button:has-text("Ship")');
    await page.fill('[name=label]', 'Steamer');
    await page.selectOption('[name=slot]', 'nav.search');
    await page.click('dialog button:has-text("Save")');
    await page.waitForSelector('dialog button:has-text("Steamer")');
    expect(await violations(page)).to.deep.equal([]);
    await page.keyboard.press('Escape');
    await page.click('li:has-text("Retro") button:has-text("Show this set")');
    await page.waitForSelector('li:has-text("Retro"):has-text("Shown")');
    await page.waitForSelector('nav a[href="/"] span[style*="/image?v="]');
    await page.goto(`${api.url}/admin/libraries`);
    await page.click('main button:has-text("Edit")');
    await page.fill('[name=icon-search]', 'steamer');
    await page.click('dialog button[aria-label="Steamer"]');
    await page.click('dialog button:has-text("Save")');
    await page.waitForSelector(`nav a[href="/library/${libraryId}"] img`);
    await app.close();
  });

  it('show the own history, which is deleted one by one and as a whole, and figures with their table', async () => {
    const app = await open('/me/history');
    const { page } = app;
    await page.waitForSelector(`a:text-is("${HOSTILE}")`);
    await page.waitForSelector('li:has-text("Harbour"):has-text("30 min"):has-text("Firefox on Linux")');
    expect(await violations(page)).to.deep.equal([]);
    await page.click('button[aria-label="Delete the entry Harbour"]');
    await page.locator('li:has-text("Harbour")').waitFor({ state: 'detached' });
    await page.click('main a:has-text("Statistics")');
    await page.waitForSelector('dl:has-text("Plays")');
    await page.click('summary');
    await page.waitForSelector('tbody tr:has-text("30 min")');
    await page.selectOption('[name=scope]', 'server');
    await page.waitForSelector('h2:has-text("How it was played")');
    expect(await violations(page)).to.deep.equal([]);
    await page.goBack();
    await page.click('main button:has-text("Delete all entries")');
    await page.click('dialog footer button:has-text("Delete all entries")');
    await page.waitForSelector('text=What you play appears here.');
    expect(await api.deps.db('plays')).to.have.length(0);
    await app.close();
  });

  it('list the tasks, start one, change when it runs, and hold everything', async () => {
    const app = await open('/admin/maintenance', 390);
    const { page } = app;
    const task = 'li:has-text("Unused files")';
    await page.click(`${task} button:has-text("Start now")`);
    await page.waitForSelector(`${task}:has-text("runs since")`);
    expect(await api.deps.db('jobs').where({ kind: 'objects.sweep' })).to.have.length(1);
    await page.click(`${task} button:has-text("Change")`);
    await page.selectOption('[name=trigger]', 'interval');
    await page.fill('[name=minutes]', '30');
    await page.click('dialog button:has-text("Save")');
    await page.waitForSelector('dialog', { state: 'hidden' });
    await eventually(
      async () =>
        (await api.deps.db('maintenance_tasks').where({ id: 'objects.sweep' }).first())?.every_ms === 1_800_000,
    );
    await page.click('button:has-text("Hours")');
    await page.fill('[name=from]', '23:00');
    await page.fill('[name=to]', '05:30');
    await page.click('dialog button:has-text("Save")');
    await page.waitForSelector('text=Heavy work from 23:00 to 05:30');
    await page.click('button:has-text("Hold for a day")');
    await page.waitForSelector('[role=status]:has-text("On hold")');
    expect(await violations(page)).to.deep.equal([]);
    await page.click('button:has-text("End the hold")');
    await page.waitForSelector('button:has-text("Hold for a day")');
    await app.close();
  });
});
