// The page of identity packs.
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import { saveSettings } from '#platform/settings.ts';
import type { Api } from '#support/api.ts';
import { film, makePack, trustedText } from '#support/spine-packs.ts';
import { eventually } from '#support/stores.ts';
import { createSpineImport } from '#workers/spine/import.ts';
import type { Work } from '#workers/work.ts';
import { violations } from './support/axe.ts';
import { type AppPage, openApp } from './support/page.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

describe('identity packs in a browser', function () {
  this.timeout(180_000);
  let api: Api;
  let storageState: BrowserContextOptions['storageState'];
  before(async () => {
    api = await ownedServer();
    await saveSettings(api.deps.db, { 'spine.trustedKeys': [trustedText] }, null);
    await api.deps.settings.reload();
    storageState = await signedIn(api);
  });

  const open = (path: string, width = 1280): Promise<AppPage> =>
    openApp(api.url, path, { storageState: storageState as never, viewport: { width, height: 900 } });
  /** Runs the import that waits, as a worker does. */
  const runJob = async (): Promise<void> => {
    const { db } = api.deps;
    const waiting = () => db('jobs').where({ kind: 'spine.import', state: 'waiting' }).first();
    await eventually(async () => (await waiting()) !== undefined);
    const job = await waiting();
    const work = {
      keep: async () => undefined,
      report: async () => undefined,
      emit: async () => undefined,
      enqueue: async () => '',
    };
    const all = {
      ...api.deps,
      ...work,
      signal: new AbortController().signal,
      jobId: job?.id,
      attempt: 1,
      checkpoint: undefined,
    };
    await createSpineImport()(job?.payload as never, all as unknown as Work);
    await db('jobs').where({ id: job?.id }).update({ state: 'completed', progress: 1, finished_at: new Date() });
  };

  it('are loaded from a file, shown with their version and counts, and removed', async () => {
    const { bytes } = await makePack(Array.from({ length: 1200 }, (_, n) => film(n + 1)));
    const app = await open('/me');
    const { page } = app;
    await page.click('a:has-text("Identity packs")');
    await page.waitForSelector('text=No pack is loaded.');
    await page.waitForSelector('text=Packs signed by');
    await page.click('button:has-text("Load a pack")');
    expect(await violations(page)).to.deep.equal([]);
    await page.setInputFiles('dialog [name=file]', {
      name: 'films.foyerspine',
      mimeType: 'application/octet-stream',
      buffer: bytes,
    });
    await page.waitForSelector('dialog', { state: 'hidden' });
    await runJob();
    await page.waitForSelector('li:has-text("version 2026.11.1")');
    expect(await page.textContent('li:has-text("version 2026.11.1")'))
      .to.include('1,200 works')
      .and.include('signed by Tests');
    expect(await page.textContent('div:has(> dt:text-is("Films")) dd')).to.equal('1,200');
    expect(await violations(page)).to.deep.equal([]);
    await page.click('li:has-text("films") button:has-text("Remove")');
    await page.click('dialog:has-text("Remove the pack films?") button:has-text("Remove")');
    await page.waitForSelector('dialog', { state: 'hidden' });
    await runJob();
    await page.waitForSelector('text=No pack is loaded.');
    await app.close();
  });

  it('that are altered are refused in the dialog, and nothing is loaded, on a narrow page too', async () => {
    const { path } = await makePack([film(1)]);
    const bytes = await readFile(path);
    bytes[bytes.indexOf('Tests')] = 88;
    const app = await open('/admin/spine', 360);
    app.expectFault(/spine\/packs/);
    const { page } = app;
    await page.click('button:has-text("Load a pack")');
    await page.setInputFiles('dialog [name=file]', {
      name: 'x.foyerspine',
      mimeType: 'application/octet-stream',
      buffer: bytes,
    });
    await page.waitForSelector('dialog [role=alert]');
    expect(await violations(page)).to.deep.equal([]);
    expect(await api.deps.db('jobs').where({ kind: 'spine.import', state: 'waiting' })).to.deep.equal([]);
    await app.close();
  });
});
