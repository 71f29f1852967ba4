import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { givenFile, givenItem } from '#support/given-items.ts';
import { eventually } from '#support/stores.ts';
import { violations } from './support/axe.ts';
import type { AppPage } from './support/page.ts';
import { openSignedIn } from './support/player.ts';
import { ownedServer } from './support/server.ts';

describe('the libraries of a server in a browser', function () {
  this.timeout(120_000);
  let api: Api;
  let app: AppPage;
  before(async () => {
    api = await ownedServer();
    for (const folder of ['films/Heat (1995)', 'more', 'later'])
      mkdirSync(join(api.mediaRoot, folder), { recursive: true });
    writeFileSync(join(api.mediaRoot, 'films/Heat (1995)/Heat (1995).mkv'), 'film');
    app = await openSignedIn(api.url, '/me');
  });
  after(() => app?.close());

  const ROW = 'main li:has-text("Cinema")';
  const stored = () => api.deps.db('libraries').where({ name: 'Cinema' }).first();
  const folders = async (): Promise<string[]> =>
    (await api.deps.db('library_folders').orderBy('path')).map(({ path }) => path);
  /** `meanwhile` is awaited while the server has not listed the folder yet. */
  async function choose(name: string, meanwhile?: () => Promise<unknown>): Promise<void> {
    const { page } = app;
    const listed = Promise.withResolvers<unknown>();
    await page.click('dialog[open] button:has-text("Add a folder")');
    await page.waitForSelector(`dialog[open] li button:has-text("${name}")`);
    if (meanwhile)
      await page.route('**/entries?*', async (route) => {
        await listed.promise;
        await route.continue();
      });
    await page.click(`dialog[open] li button:has-text("${name}")`);
    await meanwhile?.();
    listed.resolve(undefined);
    await page.click('dialog[open] button:has-text("Use this folder")');
    if (meanwhile) await page.unroute('**/entries?*');
  }

  it('are added with folders of a storage, and scanned', async () => {
    const { page } = app;
    await page.click('main a:has-text("Libraries")');
    await page.waitForSelector('text=There are no libraries yet');
    await page.click('button:has-text("Add a library")');
    await page.fill('dialog[open] [name=name]', 'Cinema');
    await page.selectOption('dialog[open] [name=type]', 'movies');
    await choose('films');
    expect(await violations(page), 'the form').to.deep.equal([]);
    await page.click('dialog[open] button:has-text("Create")');
    await page.waitForSelector(`${ROW}:has-text("1 folder")`);
    expect(await folders()).to.deep.equal(['films']);
    expect((await stored())?.type).to.equal('movies');
    expect(await api.deps.db('scans').where({ mode: 'full' })).to.have.length(1);
  });

  it('show the fault of a name that is taken', async () => {
    const { page } = app;
    await page.click('button:has-text("Add a library")');
    await page.fill('dialog[open] [name=name]', 'cinema');
    await page.click('dialog[open] button:has-text("Create")');
    await page.waitForSelector('dialog[open] [role=alert]');
    await page.click('dialog[open] button:has-text("Cancel")');
  });

  it('take another folder and lose one with titles after a confirmation, and write next to media', async () => {
    const { page } = app;
    const library = await stored();
    const [folder] = await api.deps.db('library_folders').select('id');
    const given = { id: library?.id ?? '', folderId: folder?.id ?? '' };
    const item = await givenItem(api.deps.db, given as never, { title: 'Heat', top: true });
    await givenFile(api.deps.db, given as never, item);
    await page.click(`${ROW} button:has-text("Edit")`);
    await choose('more', () => page.waitForSelector('dialog[open] button:has-text("Use this folder"):disabled'));
    await page.click('dialog[open] button[aria-label="Remove the folder films"]');
    await page.check('dialog[open] [name=saveNfo]');
    expect(await violations(page), 'the editor').to.deep.equal([]);
    await page.click('dialog[open] button:has-text("Save")');
    await page.waitForSelector('dialog[open] [role=alert]:has-text("1 title has no other file")');
    expect(await folders(), 'nothing is removed before').to.deep.equal(['films']);
    await page.click('dialog[open] button:has-text("Remove and save")');
    await page.waitForSelector(`${ROW}:has-text("writes metadata")`);
    await eventually(async () => (await folders()).join() === 'more');
    expect((await stored())?.settings)
      .to.include({ saveNfo: true })
      .and.not.have.property('saveArtwork');
  });

  it('keep what another admin changed while the editor was open', async () => {
    const { page } = app;
    await page.click(`${ROW} button:has-text("Edit")`);
    const admin = api.as(await api.given.admin());
    const library = await stored();
    const [kept] = await api.deps.db('library_folders').select('id', 'storage_id');
    const theirs = [{ id: kept?.id ?? '' }, { storageId: kept?.storage_id ?? '', path: 'films' }];
    const body = { name: 'Pictures', folders: theirs, settings: { saveNfo: false } };
    const { status } = await admin.updateLibrary({ params: { id: library?.id ?? '' }, body });
    expect(status).to.equal(200);
    await page.fill('dialog[open] [name=name]', 'Films');
    await choose('later');
    await page.check('dialog[open] [name=saveArtwork]');
    await page.click('dialog[open] button:has-text("Save")');
    await page.waitForSelector('dialog[open] [role=alert]:has-text("Yours: Films"):has-text("Now: Pictures")');
    expect(await folders(), 'nothing is written over theirs').to.deep.equal(['films', 'more']);
    expect(await violations(page), 'the conflict').to.deep.equal([]);
    await page.click('dialog[open] button:has-text("Keep mine: Name")');
    await page.click('dialog[open] button:has-text("Save")');
    await page.waitForSelector('main li:has-text("Films"):has-text("3 folders")');
    expect(await folders()).to.deep.equal(['films', 'later', 'more']);
    const changed = await api.deps.db('libraries').where({ name: 'Films' }).first('settings');
    expect(changed?.settings).to.include({ saveArtwork: true }).and.not.include({ saveNfo: true });
  });

  it('are deleted', async () => {
    const { page } = app;
    const row = 'main li:has-text("Films")';
    await page.click(`${row} button:has-text("Delete")`);
    await page.click('dialog[open] footer button:has-text("Delete")');
    await page.waitForSelector(row, { state: 'detached' });
    expect(await violations(page), 'the list').to.deep.equal([]);
  });
});
