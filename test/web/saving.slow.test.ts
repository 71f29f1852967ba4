import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { givenLibrary } from '#support/given-items.ts';
import { eventually } from '#support/stores.ts';
import { violations } from './support/axe.ts';
import type { AppPage } from './support/page.ts';
import { openSignedIn } from './support/player.ts';
import { ownedServer } from './support/server.ts';

describe('files next to media in a browser', function () {
  this.timeout(120_000);
  let api: Api;
  let app: AppPage;
  let id: string;
  before(async () => {
    api = await ownedServer();
    ({ id } = await givenLibrary(api.deps.db, 'movies', { name: 'Cinema', name_folded: 'cinema' }));
    app = await openSignedIn(api.url, '/me');
  });
  after(() => app?.close());

  it('are turned on for a library by its manager', async () => {
    const { page } = app;
    const row = 'main li:has-text("Cinema")';
    await page.click('a:has-text("Files next to media")');
    await eventually(async () => (await page.textContent(row))?.includes('Nothing'), 20_000);
    expect(await violations(page), 'the list').to.deep.equal([]);
    await page.click(`${row} button:has-text("Edit")`);
    await page.check('dialog[open] [name=saveNfo]');
    expect(await violations(page), 'the editor').to.deep.equal([]);
    await page.click('dialog[open] button:has-text("Save")');
    await eventually(async () => (await page.textContent(row))?.includes('Metadata'), 20_000);
    const library = await api.deps.db('libraries').where({ id }).first('settings');
    expect(library?.settings).to.include({ saveNfo: true }).and.not.have.property('saveArtwork');
  });
});
