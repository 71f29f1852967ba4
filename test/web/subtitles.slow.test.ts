// Subtitles in a browser: sources are set, and a subtitle is found, fetched and removed.
import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import { Catalogues } from '#platform/agents/catalogues.ts';
import { saveSettings } from '#platform/settings.ts';
import type { Api } from '#support/api.ts';
import { localOutbound } from '#support/catalogues/local.ts';
import { startOpenSubtitles, subtitlesKey } from '#support/catalogues/opensubtitles.ts';
import { givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { violations } from './support/axe.ts';
import { openApp } from './support/page.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

const SRT = '1\n00:00:01,000 --> 00:00:03,000\nGuten Tag\n';

describe('subtitles in a browser', function () {
  this.timeout(240_000);
  let api: Api;
  let itemId: string;
  let storageState: BrowserContextOptions['storageState'];

  before(async () => {
    api = await ownedServer();
    await api.deps.objects.prepare(['foyer-subtitles']);
    const release = 'Heat.1995.1080p.BluRay';
    const fake = await startOpenSubtitles([{ language: 'de', release, imdb: 113_277, files: [{ id: 7, bytes: SRT }] }]);
    await saveSettings(api.deps.db, { 'subtitles.opensubtitles.baseUrl': fake.main.url }, null);
    await api.deps.settings.reload();
    Object.assign(api.deps, { catalogues: new Catalogues(api.deps, localOutbound()) });
    const films = await givenLibrary(api.deps.db, 'movies', { item_counts: JSON.stringify({ movie: 1 }) });
    const ids = { external_ids: { imdb: 'tt0113277' } };
    itemId = await givenItem(api.deps.db, films, { title: 'Heat', year: 1995, top: true, ...ids });
    await givenFile(api.deps.db, films, itemId, { path: 'Heat.1995.mkv' });
    storageState = await signedIn(api);
  });

  const open = (path: string) =>
    openApp(api.url, path, { storageState: storageState as never, viewport: { width: 1280, height: 900 } });

  it('get their sources from an administrator', async () => {
    const { page } = await open('/admin/subtitles');
    await page.fill('input[name=apiKey]', subtitlesKey);
    await page.selectOption('select[name=find]', 'everyone');
    expect(await violations(page)).to.deep.equal([]);
    await page.click('button:has-text("Save")');
    await page.waitForSelector('text=Saved');
    const row = await api.deps.db('catalogue_keys').where({ name: 'opensubtitles.apiKey' }).first('sealed');
    expect(row?.sealed).to.not.equal(null);
  });

  it('are found, fetched, listed and removed on the page of a film', async () => {
    const { page } = await open(`/item/${itemId}`);
    await page.click('button:has-text("technical details")');
    await page.click('section button:has-text("Subtitles")');
    await page.waitForSelector('dialog:has-text("This film has no subtitles")');
    await page.click('dialog [role=tab]:has-text("Find")');
    await page.selectOption('dialog select[name=language]', 'de');
    await page.click('dialog button:has-text("Search")');
    await page.waitForSelector('dialog li:has-text("Heat.1995.1080p.BluRay")');
    expect(await violations(page)).to.deep.equal([]);
    await page.click('dialog li button:has-text("Get")');
    await page.waitForSelector('dialog li:has-text("Is here")');
    await page.click('dialog [role=tab]:has-text("Tracks")');
    await page.waitForSelector('dialog li:has-text("German"):has-text("Fetched")');
    expect(await violations(page)).to.deep.equal([]);
    await page.click('dialog li button:has-text("Remove")');
    await page.waitForSelector('dialog:has-text("This film has no subtitles")');
    expect(await api.deps.db('kept_subtitles')).to.have.length(0);
  });
});
