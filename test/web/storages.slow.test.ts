import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { watchStorages } from '#workers/scan/watch/storages.ts';
import { violations } from './support/axe.ts';
import type { AppPage } from './support/page.ts';
import { openSignedIn } from './support/player.ts';
import { ownedServer } from './support/server.ts';

describe('storages in a browser', function () {
  this.timeout(120_000);
  let api: Api;
  let app: AppPage;
  before(async () => {
    api = await ownedServer();
    await mkdir(join(api.mediaRoot, 'archive/inner'), { recursive: true });
    await writeFile(join(api.mediaRoot, 'archive/a.mkv'), 'film');
    await api.deps.db('storages').delete();
    app = await openSignedIn(api.url, '/me');
  });
  after(() => app?.close());

  it('are added from a folder of the server, tested, accepted, moved and deleted', async () => {
    const { page } = app;
    const row = 'main li:has-text("Archive")';
    await page.click('a:has-text("Storages")');
    await page.click('button:has-text("Add a storage")');
    await page.fill('dialog[open] [name=name]', 'Archive');
    await page.click('dialog[open] button:has-text("Choose a folder")');
    await page.click('dialog[open] li button:has-text("archive")');
    await page.waitForSelector('dialog[open] li button:has-text("inner")');
    expect(await violations(page), 'the folders').to.deep.equal([]);
    await page.click('dialog[open] button:has-text("Use this folder")');
    await page.click('dialog[open] footer button:has-text("Test")');
    await page.waitForSelector('dialog[open] [role=status]:has-text("The test succeeded.")');
    expect(await violations(page), 'the form').to.deep.equal([]);
    await page.uncheck('dialog[open] [name=readOnly]');
    await page.click('dialog[open] button:has-text("Save")');
    await page.waitForSelector(`${row}:has-text("Available")`);
    expect(await violations(page), 'the list').to.deep.equal([]);
    const stored = await api.deps.db('storages').where({ name: 'Archive' }).first('root_name', 'path', 'read_only');
    expect(stored).to.deep.equal({ root_name: 'films', path: 'archive', read_only: false });

    await rm(join(api.mediaRoot, 'archive/.foyer-storage'));
    const stop = new AbortController();
    const watching = watchStorages(api.deps, stop.signal, { lookMs: 50 });
    await eventually(async () => (await api.deps.db('storages').where({ state: 'suspect' }).first('id')) !== undefined);
    stop.abort();
    await watching;
    await page.reload();
    await page.click(`${row} button:has-text("It is the right one")`);
    await page.click('dialog[open] footer button:has-text("It is the right one")');
    await page.waitForSelector(`${row}:has-text("Available")`);

    await rename(join(api.mediaRoot, 'archive'), join(api.mediaRoot, 'moved'));
    await page.click(`${row} button:has-text("Move")`);
    await page.click('dialog[open] button:has-text("Choose a folder")');
    await page.click('dialog[open] li button:has-text("moved")');
    await page.click('dialog[open] button:has-text("Use this folder")');
    await page.click('dialog[open] button:has-text("Compare the files")');
    await page.click('dialog[open] footer button:has-text("Move")');
    await eventually(async () => (await api.deps.db('storages').where({ path: 'moved' }).first('id')) !== undefined);

    await page.click(`${row} button:has-text("Delete")`);
    await page.click('dialog[open] footer button:has-text("Delete")');
    await page.waitForSelector(row, { state: 'detached' });
    expect(await api.deps.db('storages').first('id')).to.equal(undefined);
  });
});
