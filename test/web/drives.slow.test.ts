import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { webdavPlace } from '#support/remote-places.ts';
import { violations } from './support/axe.ts';
import type { AppPage } from './support/page.ts';
import { openSignedIn } from './support/player.ts';
import { OWNER, ownedServer } from './support/server.ts';

describe('the drives of a member in a browser', function () {
  this.timeout(120_000);
  let api: Api;
  let app: AppPage;
  before(async () => {
    api = await ownedServer({ FOYER_STORAGE_NETWORKS: '["127.0.0.0/8"]' });
    app = await openSignedIn(api.url, '/me');
  });
  after(() => app?.close());

  it('are connected after a test, listed, and removed', async () => {
    const { page } = app;
    const place = await webdavPlace();
    const { body } = await api.anyone.login({ body: OWNER });
    const headers = { authorization: `Bearer ${body.accessToken}` };
    const values = { 'storages.personalHosts': ['127.0.0.1'] };
    expect((await api.anyone.updateSettings({ headers, body: { values } })).status).to.equal(200);
    const row = 'main li:has-text("Cellar")';
    await page.click('a:has-text("My drives")');
    await page.click('button:has-text("Connect a drive")');
    await page.fill('dialog[open] [name=name]', 'Cellar');
    await page.fill('dialog[open] [name=url]', String(place.settings['url']));
    await page.fill('dialog[open] [name=username]', 'ada');
    await page.fill('dialog[open] [name=password]', 'wrong');
    expect(await violations(page), 'the form').to.deep.equal([]);
    const connect = 'dialog[open] footer button:has-text("Connect")';
    await page.click(connect);
    await page.waitForSelector('dialog[open] [role=alert]');
    await page.fill('dialog[open] [name=password]', String(place.secrets['password']));
    await page.click(connect);
    await page.waitForSelector(`${row}:has-text("Available")`);
    expect(await violations(page), 'the list').to.deep.equal([]);
    const stored = await api.deps.db('storages').where({ name: 'Cellar' }).first('kind', 'read_only', 'owner_id');
    expect(stored).to.include({ kind: 'webdav', read_only: true });
    expect(stored?.owner_id).to.be.a('string');
    await page.click(`${row} button:has-text("Remove")`);
    await page.click('dialog[open] footer button:has-text("Remove")');
    await page.waitForSelector('main li:has-text("No drive is connected.")');
    expect(await api.deps.db('storages').where({ name: 'Cellar' })).to.deep.equal([]);
  });
});
