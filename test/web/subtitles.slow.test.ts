// Subtitles in a browser: sources are set, and a subtitle is found, fetched, removed and moved in time.
import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import { putSync } from '#areas/subtitles/public.ts';
import { Catalogues } from '#platform/agents/catalogues.ts';
import { saveSettings } from '#platform/settings.ts';
import { findSync } from '#platform/subtitles/syncs.ts';
import type { Api } from '#support/api.ts';
import { localOutbound } from '#support/catalogues/local.ts';
import { startOpenSubtitles, subtitlesKey } from '#support/catalogues/opensubtitles.ts';
import { givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { eventually } from '#support/stores.ts';
import { violations } from './support/axe.ts';
import { openApp } from './support/page.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

const SRT = '1\n00:00:01,000 --> 00:00:03,000\nGuten Tag\n';

describe('subtitles in a browser', function () {
  this.timeout(240_000);
  let api: Api;
  let itemId: string;
  let subtitledId: string;
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
    subtitledId = await givenItem(api.deps.db, films, { title: 'Ronin', year: 1998, top: true });
    const streams = [{ kind: 'subtitle', codec: 'subrip', language: 'en' }];
    await givenFile(api.deps.db, films, subtitledId, { path: 'Ronin.1998.mkv', streams });
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

  it('are moved for everyone, and keep their rate and pieces', async () => {
    const { db } = api.deps;
    const file = await db('media_files').where({ item_id: subtitledId }).first('id');
    const stream = await db('media_streams')
      .where({ file_id: file?.id ?? '' })
      .first('id');
    const now = () => findSync(db, stream?.id ?? '');
    const track = await now();
    if (!track) throw new Error('the film has no track');
    const given = { offsetMs: 200, rate: 1.04, pieces: [{ fromMs: 60_000, offsetMs: 1000 }] };
    await putSync(db, track, { ...given, source: 'manual', accountId: null });

    const { page } = await open(`/item/${subtitledId}`);
    await page.click('button:has-text("technical details")');
    await page.click('section button:has-text("Subtitles")');
    await page.click('dialog li button:has-text("Timing")');
    await page.waitForSelector('dialog li:has-text("Moved by +0.20 s")');
    await page.click('dialog li button:has-text("+0.50 s later")');
    await page.waitForSelector('dialog li:has-text("Moved by +0.70 s")');
    await eventually(async () => (await now())?.offsetMs === 700);
    expect(await now()).to.deep.include({ rate: 1.04, pieces: [{ fromMs: 60_000, offsetMs: 1500 }] });
    expect(await violations(page)).to.deep.equal([]);
    await page.click('dialog li button:has-text("-0.50 s earlier")');
    await page.waitForSelector('dialog li:has-text("Moved by +0.20 s")');
    await eventually(async () => (await now())?.offsetMs === 200);
    expect(await now()).to.deep.include(given);
    await page.click('dialog li button:has-text("Fit to the sound")');
    await page.waitForSelector('dialog li [role=alert]:has-text("This film has no sound")');
    expect(await violations(page)).to.deep.equal([]);
    await page.click('dialog li button:has-text("Back to its own times")');
    await page.waitForSelector('dialog li:has-text("Moved by 0.00 s")');
    expect(await now()).to.deep.include({ offsetMs: 0, rate: 1, pieces: [], source: 'none' });
  });
});
