import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { type Relay, startRelay } from '#platform/relay.ts';
import { type Api, clientFor, type TestClient } from '#support/api.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { eventually } from '#support/stores.ts';
import { changeInBulk } from '#workers/editing/bulk.ts';
import type { Work } from '#workers/work.ts';
import { violations } from './support/axe.ts';
import { openApp } from './support/page.ts';
import { openSignedIn } from './support/player.ts';
import { OWNER, ownedServer } from './support/server.ts';
import { filmLibrary, signedIn } from './support/shelves.ts';

describe('editing a selection in a browser', function () {
  this.timeout(180_000);
  let api: Api;
  let admin: TestClient;
  let relay: Relay;
  let storageState: BrowserContextOptions['storageState'];

  before(async () => {
    api = await ownedServer();
    relay = startRelay(api.deps.config.databaseUrl, api.deps.redis, api.deps.log);
    const { body } = await api.anyone.login({ body: OWNER });
    admin = clientFor(api.url, { authorization: `Bearer ${body.accessToken}` });
    storageState = await signedIn(api);
  });
  after(() => relay.stop());

  const detail = async (id: string) => (await admin.getItem({ params: { id }, query: { include: 'people' } })).body;
  const films = async (titles: readonly string[]): Promise<{ library: GivenLibrary; ids: string[] }> => {
    const { db } = api.deps;
    const library = await givenLibrary(db, 'movies', { item_counts: JSON.stringify({ movie: titles.length }) });
    const ids: string[] = [];
    for (const title of titles) ids.push(await givenItem(db, library, { title, top: true }));
    for (const id of ids) await givenFile(db, library, id);
    return { library, ids };
  };
  const openGrid = async (libraryId: string, more: BrowserContextOptions = {}) => {
    const settings = { storageState: storageState as never, viewport: { width: 1280, height: 800 }, ...more };
    const app = await openApp(api.url, `/library/${libraryId}`, settings);
    await app.page.waitForSelector('[role=grid] a[href]');
    return app;
  };
  /** Selects the first items, and opens the dialog by the keyboard. */
  const openDialog = async (page: Page, count: number | 'all') => {
    await page.focus('[role=grid] a[tabindex="0"]');
    await page.keyboard.press('Home');
    if (count === 'all') await page.keyboard.press('Control+a');
    for (let n = 0; n < (count === 'all' ? 0 : count); n += 1) {
      if (n > 0) await page.keyboard.press('ArrowRight');
      await page.keyboard.press('x');
    }
    await page.locator('[role=toolbar] button:has-text("Edit")').press('Enter');
    await page.waitForSelector('dialog[open] [role=tab]');
  };
  const pressIn = (page: Page, text: string) =>
    page.locator(`dialog[open] footer button:has-text("${text}")`).press('Enter');

  it('counts first, changes the fields, and gives everything back by Undo', async () => {
    const { library, ids } = await films(['Alraune', 'Bestie', 'Caligari']);
    const [first = '', second = '', third = ''] = ids;
    const own = { genres: ['Mine'], people: [{ name: 'Conrad Veidt', role: 'actor' as const }] };
    await admin.updateItem({ params: { id: first }, body: own });
    const app = await openGrid(library.id);
    const { page } = app;
    await openDialog(page, 2);
    expect(await page.textContent('dialog h2')).to.equal('Edit 2 items');
    await page.fill('[data-change=genres] input', 'Horror');
    await page.keyboard.press('Enter');
    await page.locator('dialog button:has-text("Another change")').press('Enter');
    await page.locator('fieldset:last-of-type select[name=field]').selectOption('year');
    await page.fill('[data-change=year] input', '1928');
    await page.locator('dialog button:has-text("Another change")').press('Enter');
    await page.locator('fieldset:last-of-type select[name=field]').selectOption('people');
    await page.locator('[data-change=people] button:has-text("Add a person")').press('Enter');
    await page.fill('[data-change=people] input[aria-label^="Name"]', 'Brigitte Helm');
    expect(await violations(page)).to.deep.equal([]);
    await pressIn(page, 'Check');
    await page.waitForSelector('dialog [role=status]:has-text("2 items change.")');
    expect((await detail(second)).year).to.equal(undefined);
    expect(await violations(page)).to.deep.equal([]);
    await pressIn(page, 'Change 2 items');
    await page.waitForSelector('[role=status]:has-text("Changed 2 items")');
    await page.waitForSelector('[role=grid] a:focus');
    expect((await detail(first)).genres).to.have.members(['Mine', 'Horror']);
    expect((await detail(first)).year).to.equal(1928);
    expect((await detail(second)).people?.items.map(({ name }) => name)).to.deep.equal(['Brigitte Helm']);
    expect((await detail(third)).lockedFields).to.deep.equal([]);
    await page.waitForSelector('[role=gridcell][data-index="1"]:has-text("1928")');

    await page.locator('button:has-text("Undo")').press('Enter');
    await page.waitForSelector('[role=status]:has-text("Undone for 2 items")');
    const back = await detail(first);
    expect(back).to.deep.include({ genres: ['Mine'], lockedFields: ['genres', 'people'] });
    expect(back.people?.items.map(({ name }) => name)).to.deep.equal(['Conrad Veidt']);
    expect(back).to.not.have.property('year');
    expect(await detail(second)).to.deep.include({ genres: [], lockedFields: [] });
    expect((await detail(second)).people?.items ?? []).to.deep.equal([]);
    await app.close();
  });

  it('unlocks, and moves a selection to the trash and back', async () => {
    const { library, ids } = await films(['Dirnentragödie', 'Erdgeist']);
    const [first = ''] = ids;
    await admin.updateItem({ params: { id: first }, body: { year: 1927, tagline: 'x' } });
    const app = await openGrid(library.id);
    const { page } = app;
    await openDialog(page, 2);
    await page.click('dialog [role=tab]:has-text("Locks")');
    await page.check('dialog label:has-text("Year") input');
    expect(await violations(page)).to.deep.equal([]);
    await pressIn(page, 'Check');
    await pressIn(page, 'Unlock fields of 1 item');
    await page.waitForSelector('[role=status]:has-text("Unlocked fields of 1 item")');
    expect((await detail(first)).lockedFields).to.deep.equal(['tagline']);

    await openDialog(page, 2);
    await page.click('dialog [role=tab]:has-text("Trash")');
    await pressIn(page, 'Check');
    await page.waitForSelector('dialog [role=status]:has-text("Move 2 items to the trash?")');
    expect(await violations(page)).to.deep.equal([]);
    await pressIn(page, 'Move 2 items to the trash');
    await page.waitForSelector('[role=status]:has-text("2 items are in the trash")');
    expect((await admin.getItem({ params: { id: first } })).status).to.equal(404);
    await page.locator('button:has-text("Undo")').press('Enter');
    await page.waitForSelector('[role=status]:has-text("2 items are back")');
    expect((await admin.getItem({ params: { id: first } })).status).to.equal(200);
    await app.close();
  });

  it('shows the progress of a job for more than 200 items, and refuses another number than it showed', async () => {
    const library = await filmLibrary(api, 260, 'Many films');
    const app = await openGrid(library.id);
    const { page } = app;
    await openDialog(page, 'all');
    await page.locator('[data-change] select[name=field]').selectOption('year');
    await page.fill('[data-change=year] input', '1931');
    await pressIn(page, 'Check');
    await page.waitForSelector('dialog [role=status]:has-text("260 items change.")');
    await pressIn(page, 'Change 260 items');
    await page.waitForSelector('section[aria-label="Work in progress"] progress');
    expect(await violations(page)).to.deep.equal([]);
    const { db } = api.deps;
    const job = await db('jobs').where({ kind: 'items.bulk' }).orderBy('created_at', 'desc').first('id', 'payload');
    const work = { ...api.deps, signal: new AbortController().signal, checkpoint: null, keep: async () => undefined };
    await changeInBulk(job?.payload as { changeId: string }, work as unknown as Work);
    await db('jobs').where({ id: job?.id }).update({ state: 'completed', progress: 1, finished_at: new Date() });
    await page.waitForSelector('[role=status]:has-text("Changed 260 items")');
    expect(await db('items').where({ library_id: library.id, year: 1931 }).pluck('id')).to.have.length(260);
    await page.waitForSelector('[role=gridcell][data-index="0"]:has-text("1931")');

    await openDialog(page, 'all');
    await page.click('dialog [role=tab]:has-text("Trash")');
    await db('items').where({ library_id: library.id }).whereLike('sort_title', 'a%').delete();
    await pressIn(page, 'Check');
    await page.waitForSelector('dialog:has-text("items match now")');
    await app.close();
  });

  it('is offered to those alone who edit', async () => {
    const { library } = await films(['Faust']);
    await api.deps.db('libraries').where({ id: library.id }).update({ everyone: true });
    const login = { username: 'mia', password: 'another good one' };
    await admin.createUser({ body: { ...login, role: 'member', mustChangePassword: false } });
    const app = await openSignedIn(api.url, `/library/${library.id}`, { login });
    const { page } = app;
    await page.waitForSelector('[role=grid] a[href]');
    await page.focus('[role=grid] a[tabindex="0"]');
    await page.keyboard.press('x');
    await page.waitForSelector('[role=toolbar] button:has-text("Watched")');
    expect(await page.locator('[role=toolbar] button:has-text("Edit")').count()).to.equal(0);
    await eventually(async () => (await page.locator('[role=toolbar] button').count()) > 3);
    await app.close();
  });
});
