import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { type Api, clientFor } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { violations } from './support/axe.ts';
import type { AppPage } from './support/page.ts';
import { openSignedIn } from './support/player.ts';
import { ownedServer } from './support/server.ts';

describe('types of libraries and custom fields in a browser', function () {
  this.timeout(180_000);
  let api: Api;
  let app: AppPage;
  before(async () => {
    api = await ownedServer();
    app = await openSignedIn(api.url, '/me');
  });
  after(() => app?.close());

  const sees = (text: string, within = 'main') =>
    eventually(async () => (await app.page.textContent(within))?.includes(text), 20_000);
  const dialog = 'dialog[open]';

  it('makes a type as a copy, and shows the effect of its patterns while they are written', async () => {
    const { page } = app;
    await page.click('a:has-text("Library types")');
    await sees('Films');
    expect(await violations(page), 'the list').to.deep.equal([]);
    await page.click('li:has-text("Films") button:has-text("Copy")');
    await page.fill(`${dialog} [name=key]`, 'concerts');
    await page.fill(`${dialog} [name=name]`, 'Concerts');
    await page.fill(`${dialog} [name=plural]`, 'Concerts');
    await page.selectOption(`${dialog} [name=layout]`, 'landscape');
    await page.fill(`${dialog} [name=pattern-0]`, '{date} {nothing}');
    await page.fill(`${dialog} [name=sample-0]`, '1997-07-24 Roseland');
    await page.fill(`${dialog} textarea`, '1997-07-24 Roseland.mkv\nnotes.txt');
    await sees('there is no placeholder', dialog);
    await page.fill(`${dialog} [name=pattern-0]`, '{date} {title}');
    await sees('date: 1997-07-24 · title: Roseland', dialog);
    await sees('passed over', dialog);
    expect(await violations(page), 'the editor').to.deep.equal([]);
    await page.click(`${dialog} button:has-text("Create")`);
    await eventually(async () => (await page.locator('li:has-text("Concerts") button:has-text("Edit")').count()) === 1);
    const row = await api.deps.db('library_types').where({ key: 'custom:concerts' }).first('rules');
    expect(row?.rules.naming[0]).to.deep.equal({
      pattern: '{date} {title}',
      sample: '1997-07-24 Roseland',
      on: 'name',
    });
  });

  it('makes a field, and shows its values on the pages of items', async () => {
    const { page } = app;
    await page.goto(`${api.url}/admin/fields`);
    await sees('There are no custom fields yet');
    await page.click('button:has-text("New field")');
    await page.fill(`${dialog} [name=key]`, 'venue');
    await page.fill(`${dialog} [name=label]`, 'Venue');
    await page.selectOption(`${dialog} [name=kind]`, 'choice');
    await page.fill(`${dialog} textarea`, 'hall = Concert hall\npark');
    await page.fill(`${dialog} [name=group]`, 'Stage');
    expect(await violations(page), 'the editor').to.deep.equal([]);
    await page.click(`${dialog} button:has-text("Create")`);
    await sees('Venue');
    const { db } = api.deps;
    const operator = clientFor(api.url, { authorization: `Bearer ${api.operatorKey}` });
    const { id } = (await operator.createLibrary({ body: { name: 'Gigs', type: 'custom:concerts' } })).body;
    const item = newId();
    const titles = { title: 'Roseland', sort_title: 'roseland', identity_key: 'roseland' };
    await db('items').insert({ id: item, library_id: id, type: 'movie', top: true, ...titles });
    const field = await db('custom_fields').where({ key: 'venue' }).first('id');
    const value = { text_value: 'hall', text_key: 'hall' };
    await db('custom_values').insert({ item_id: item, field_id: field?.id ?? '', ...value });
    await page.goto(`${api.url}/item/${item}`);
    await sees('Concert hall');
    expect(await page.textContent('section:has(dt) h2')).to.equal('Stage');
    expect(await violations(page), 'the item').to.deep.equal([]);
  });

  it('draws a library of the type in the layout of the type', async () => {
    const { page } = app;
    const library = await api.deps.db('libraries').where({ name: 'Gigs' }).first('id');
    await page.goto(`${api.url}/library/${library?.id}`);
    await sees('Roseland');
    const style = "getComputedStyle(document.querySelector('[role=grid]')).getPropertyValue('--cell-ratio')";
    await eventually(async () => (await page.evaluate(style)) === '16 / 9');
  });

  it('shows why a type in use is not deleted', async () => {
    const { page } = app;
    await page.goto(`${api.url}/admin/types`);
    await page.click('li:has-text("Concerts") button:has-text("Delete")');
    await page.click(`${dialog} footer button:has-text("Delete")`);
    await eventually(async () => (await page.locator(`${dialog} [role=alert], ${dialog} .failure`).count()) > 0);
  });
});
