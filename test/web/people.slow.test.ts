import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { givenCredit, givenItem, givenLibrary, givenTag } from '#support/given-items.ts';
import { violations } from './support/axe.ts';
import { openApp } from './support/page.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

const HOSTILE = '<b onclick=alert(1)>Ana</b> Example';

describe('people and studios in a browser', function () {
  this.timeout(120_000);
  let api: Api;
  let film: string;
  let films: Awaited<ReturnType<typeof givenLibrary>>;
  let ana: string;
  let storageState: BrowserContextOptions['storageState'];
  before(async () => {
    api = await ownedServer();
    const { db } = api.deps;
    films = await givenLibrary(db, 'movies', { item_counts: JSON.stringify({ movie: 2 }) });
    film = await givenItem(db, films, { title: 'Harbour', top: true, year: 1999 });
    const other = await givenItem(db, films, { title: 'Lights', top: true, year: 2004 });
    ana = await givenCredit(db, film, { name: HOSTILE, character: 'The keeper' });
    await givenCredit(db, other, { name: '', personId: ana, role: 'director' });
    await givenCredit(db, film, { name: 'Bo Friend', role: 'writer' });
    await givenCredit(db, other, { name: 'Ana Ex.', role: 'actor', character: 'A guest' });
    for (const id of [film, other]) await givenTag(db, films, id, ['studio', 'Prana-Film']);
    await db('people')
      .where({ id: ana })
      .update({ birthday: '1960-02-03', birthplace: 'Rome', biography: 'A life. '.repeat(120) });
    storageState = await signedIn(api);
  });
  const open = (path: string, width = 1280, more: BrowserContextOptions = {}) =>
    openApp(api.url, path, { storageState: storageState as never, viewport: { width, height: 800 }, ...more });

  it('lead from a film to a person, to their titles and colleagues, and to the studio', async () => {
    const app = await open(`/item/${film}`);
    const { page } = app;
    await page.click('a:has-text("The keeper")');
    await page.waitForSelector('h1:has-text("Ana")', { state: 'attached' });
    expect(await page.locator('h1').textContent()).to.equal(HOSTILE);
    await page.waitForSelector('p:has-text("1960 in Rome")');
    await page.waitForSelector('a:has-text("Bo Friend")');
    expect(await page.locator('#person-titles ~ ul li').count()).to.equal(2);
    await page.click('button:has-text("Director 1")');
    await page.waitForSelector('a:has-text("Lights")');
    await page.locator('#person-titles ~ ul li').nth(1).waitFor({ state: 'detached' });
    await page.click('a:has-text("Lights") .title');
    await page.waitForURL('**/item/*');
    await page.waitForSelector('h1:has-text("Lights")', { state: 'attached' });
    await page.waitForSelector('button[aria-label^="Mark as watched"]');
    await page.click('a[href^="/studio/"]');
    await page.waitForSelector('h1:has-text("Prana-Film")');
    await page.waitForSelector('text=1999 – 2004');
    await page.click('a:has-text("All titles")');
    await page.waitForSelector('h1:has-text("movies")');
    await app.close();
  });

  it('are marked, changed and merged', async () => {
    const app = await open(`/person/${ana}`);
    const { page } = app;
    const { db } = api.deps;
    await page.click('button[aria-label^="Favourite"]');
    await page.click('button[aria-label^="Notify me"]');
    await page.waitForSelector('button[aria-label^="Notify me"][aria-pressed="true"]');
    expect(await db('person_favorites').where({ person_id: ana }).first('notify')).to.deep.equal({ notify: true });
    await page.click('button:has-text("Edit")');
    await page.fill('[name=sortName]', 'Example, Ana');
    await page.fill('[name=birthplace]', '');
    await page.click('dialog button:has-text("Save")');
    await page.waitForSelector('dialog', { state: 'hidden' });
    await page.waitForSelector('p:text-matches("1960$")');
    const row = await db('people').where({ id: ana }).first('sort_name', 'birthplace', 'locked_fields');
    expect(row).to.deep.equal({ sort_name: 'Example, Ana', birthplace: null, locked_fields: ['sortName'] });
    await page.click('button:has-text("Merge with another")');
    await page.fill('[name=other]', 'ana ex.');
    await page.click('dialog li:has-text("Ana Ex.") button');
    await page.waitForSelector('text=Ana Ex. is merged');
    await page.waitForSelector('button:has-text("Actor 2")');
    await app.close();
  });

  it('are found in lists', async () => {
    const app = await open('/libraries');
    const { page } = app;
    await page.click('a:has-text("People")');
    await page.waitForSelector('a:has-text("Bo Friend")');
    await page.fill('[name=q]', 'frie');
    await page.locator('main a[href^="/person/"]').nth(1).waitFor({ state: 'detached' });
    await page.fill('[name=q]', 'no such person');
    await page.waitForSelector('text=No person has this name.');
    await page.goto(`${api.url}/library/${films.id}/studios`);
    await page.waitForSelector('a:has-text("Prana-Film")');
    await page.goto(`${api.url}/person/${film}`);
    await page.waitForSelector('h1');
    await app.close();
  });

  for (const colorScheme of ['dark', 'light'] as const)
    for (const width of [360, 1280])
      it(`pass axe: ${colorScheme}, ${width} px`, async () => {
        const app = await open(`/person/${ana}`, width, { colorScheme });
        const { page } = app;
        await page.waitForSelector('a:has-text("Harbour")');
        expect(await violations(page), 'person').to.deep.equal([]);
        await page.click('button:has-text("Edit")');
        await page.waitForSelector('dialog [name=name]');
        expect(await violations(page), 'editing').to.deep.equal([]);
        for (const [path, ready] of [
          ['/people', 'a:has-text("Bo Friend")'],
          [`/library/${films.id}/studios`, 'a:has-text("Prana-Film")'],
        ] as const) {
          await page.goto(api.url + path);
          await page.waitForSelector(ready);
          expect(await violations(page), path).to.deep.equal([]);
        }
        await page.click('a:has-text("Prana-Film")');
        await page.waitForSelector('text=Best rated');
        expect(await violations(page), 'studio').to.deep.equal([]);
        await app.close();
      });
});
