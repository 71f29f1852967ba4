import { expect } from 'chai';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { putLayers, raiseChanges, settleItems } from '#areas/libraries/public.ts';
import { type Api, clientFor, type TestClient } from '#support/api.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary, givenTag } from '#support/given-items.ts';
import { startBrowser } from '#support/hls-browser.ts';
import { eventually } from '#support/stores.ts';
import { violations } from './support/axe.ts';
import { openApp } from './support/page.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

const row = (field: string) => `dialog [data-field="${field}"]`;

describe('editing items in a browser', function () {
  this.timeout(180_000);
  let api: Api;
  let admin: TestClient;
  let films: GivenLibrary;
  let storageState: BrowserContextOptions['storageState'];

  const detail = async (id: string) => (await admin.getItem({ params: { id } })).body;
  /** What an NFO file says. */
  const nfo = (id: string, values: object) =>
    api.deps.db.transaction(async (db) => {
      await raiseChanges(db, [id]);
      await putLayers(db, [{ itemId: id, layers: [{ source: 'nfo', values }] }]);
      await settleItems(db, [id], { place: { language: 'en', country: null } });
    });
  const open = (path: string, more: BrowserContextOptions & { context?: BrowserContext } = {}) =>
    openApp(api.url, path, { storageState: storageState as never, viewport: { width: 1280, height: 800 }, ...more });
  const openDrawer = async (page: Page) => {
    await page.click('button[aria-label^="Edit"]');
    await page.waitForSelector(row('title'));
  };

  /** The drawer closes once the server has the changes. */
  const saveDrawer = async (page: Page) => {
    await page.click('dialog footer button:has-text("Save")');
    await page.waitForSelector(row('title'), { state: 'detached' });
  };

  before(async () => {
    api = await ownedServer();
    admin = clientFor(api.url, (await api.given.admin()).headers);
    films = await givenLibrary(api.deps.db, 'movies', { name: 'Films', item_counts: JSON.stringify({ movie: 3 }) });
    storageState = await signedIn(api);
  });

  it('are changed, locked and returned to their source; a draft outlives the drawer and the sign-in', async () => {
    const id = await givenItem(api.deps.db, films, { title: 'Nosferatu', top: true });
    await givenFile(api.deps.db, films, id);
    await givenTag(api.deps.db, films, await givenItem(api.deps.db, films, { title: 'Another', top: true }), [
      'genre',
      'Silent',
    ]);
    await nfo(id, { overview: 'Of the NFO', genres: ['Horror'], people: [{ name: 'Max Schreck', role: 'actor' }] });
    const app = await open(`/item/${id}`);
    const { page } = app;
    await openDrawer(page);
    expect(await page.locator(row('overview')).textContent()).to.include('From the NFO file');
    await page.waitForSelector(`${row('genres')} option[value="Silent"]`, { state: 'attached' });
    expect(await violations(page)).to.deep.equal([]);

    await page.fill(`${row('overview')} textarea`, 'Mine');
    await page.fill(`${row('genres')} input`, 'Silent');
    await page.keyboard.press('Enter');
    await page.fill(`${row('people')} input[aria-label^="Character"]`, 'Count Orlok');
    await page.waitForSelector('dialog [role=status]:has-text("3 unsaved changes")');
    await page.keyboard.press('Escape');
    await page.waitForSelector('text=Unsaved changes');

    await app.context.clearCookies();
    await page.reload();
    await page.waitForSelector('[name=username]');
    await page.fill('[name=username]', 'ana');
    await page.fill('[name=password]', 'a good long one');
    await page.click('button[type=submit]');
    await openDrawer(page);
    expect(await page.inputValue(`${row('overview')} textarea`)).to.equal('Mine');
    await saveDrawer(page);
    await page.waitForSelector('text=Nosferatu is saved');
    const saved = await detail(id);
    expect(saved.overview).to.equal('Mine');
    expect(saved.genres).to.have.members(['Horror', 'Silent']);
    expect(saved.lockedFields).to.have.members(['overview', 'genres', 'people']);
    expect(await api.deps.db('credits').where({ item_id: id }).first('character')).to.deep.equal({
      character: 'Count Orlok',
    });
    expect(await page.locator('text=Unsaved changes').count()).to.equal(0);

    await openDrawer(page);
    await page.waitForSelector(`${row('overview')}:has-text("Edited by")`);
    await page.waitForSelector(`${row('overview')}:has-text("A refresh would set: Of the NFO")`);
    await page.click(`${row('title')} button[aria-label="Lock Title"]`);
    await page.waitForSelector(`${row('title')} button[aria-label="Unlock Title"]`);
    expect((await detail(id)).lockedFields).to.include('title');
    await page.click(`${row('overview')} button:has-text("Back to the source")`);
    await page.waitForSelector(`${row('overview')}:has-text("Returns to its source")`);
    await saveDrawer(page);
    expect(await detail(id)).to.deep.include({ overview: 'Of the NFO' });
    await app.close();
  });

  it('takes files out, to an item of their own', async () => {
    const id = await givenItem(api.deps.db, films, { title: 'Crash', top: true });
    await givenFile(api.deps.db, films, id, { path: 'Crash.mkv' });
    await givenFile(api.deps.db, films, id, { path: 'Other film (2004).mkv', edition: 'Other' });
    const app = await open(`/item/${id}`);
    const { page } = app;
    await openDrawer(page);
    await page.click('dialog summary:has-text("Take files out")');
    const button = page.locator('dialog button:has-text("Take them out")');
    expect(await button.isDisabled()).to.equal(true);
    await page.click('dialog label:has-text("Other")');
    await button.click();
    await page.waitForSelector('text=1 file is in an item of its own');
    await page.click('a:has-text("Open it")');
    await page.waitForSelector('h1:has-text("Other film")');
    await page.waitForSelector('dialog[open]', { state: 'detached' });
    expect((await detail(id)).files.length).to.equal(1);
    await app.close();
  });

  it('offers a choice for each field when another tab changed the same', async () => {
    const id = await givenItem(api.deps.db, films, { title: 'Vampyr', top: true });
    const context = await (await startBrowser()).newContext({ locale: 'en-GB', storageState: storageState as never });
    const [one, other] = [await open(`/item/${id}`, { context }), await open(`/item/${id}`, { context })];
    for (const { page } of [one, other]) await openDrawer(page);
    await other.page.fill(`${row('title')} input`, 'Theirs');
    await other.page.fill(`${row('tagline')} input`, 'Theirs');
    await saveDrawer(other.page);

    await one.page.fill(`${row('title')} input`, 'Mine');
    await one.page.fill(`${row('tagline')} input`, 'Mine');
    await one.page.fill(`${row('year')} input`, '1932');
    await one.page.click('dialog button:has-text("Save")');
    await one.page.waitForSelector('dialog [role=alert]:has-text("Now: Theirs")');
    expect(await violations(one.page)).to.deep.equal([]);
    await one.page.click('dialog button:has-text("Keep mine: Title")');
    await one.page.click('dialog button:has-text("Take theirs: Tagline")');
    await saveDrawer(one.page);
    expect(await detail(id)).to.deep.include({ title: 'Mine', tagline: 'Theirs', year: 1932 });
    for (const app of [one, other]) await app.close();
    await context.close();
  });

  it('go to the trash and come back, by keyboard alone', async () => {
    const id = await givenItem(api.deps.db, films, { title: 'The Golem', top: true });
    await givenFile(api.deps.db, films, id);
    const app = await open(`/item/${id}`);
    const { page } = app;
    await page.waitForSelector('button[aria-label^="Edit"]');
    await page.keyboard.press('e');
    await page.waitForSelector(row('title'));
    const reach = async (name: string, back = false) => {
      for (let steps = 0; steps < 80; steps += 1) {
        if (await page.evaluate<boolean>(`document.activeElement.matches(${JSON.stringify(name)})`)) return;
        await page.keyboard.press(back ? 'Shift+Tab' : 'Tab');
      }
      throw new Error(`${name} is not reached`);
    };
    await reach(`${row('title')} input`);
    await page.keyboard.press('Control+a');
    await page.keyboard.type('The Golem, edited');
    await page.keyboard.press('Enter');
    await page.waitForSelector(row('title'), { state: 'detached' });
    expect((await detail(id)).title).to.equal('The Golem, edited');
    await page.keyboard.press('e');
    await page.waitForSelector(row('title'));
    await reach('dialog .more .danger');
    await page.keyboard.press('Enter');
    await page.waitForSelector('dialog:has-text("files stay where they are")');
    expect(await violations(page)).to.deep.equal([]);
    await reach('dialog[open] footer .danger');
    await page.keyboard.press('Enter');
    await page.waitForSelector('text=The Golem, edited is in the trash');
    expect((await api.deps.db('items').where({ id }).first('trashed_at')).trashed_at).to.be.instanceOf(Date);
    await page.click('button:has-text("Undo")');
    await page.waitForSelector('text=is back');
    await eventually(async () => (await admin.getItem({ params: { id } })).status === 200);
    await app.close();
  });
});
