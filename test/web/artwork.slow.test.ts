import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { Catalogues } from '#platform/agents/catalogues.ts';
import { resumeAgents } from '#platform/agents/pace.ts';
import { type Api, clientFor, type TestClient } from '#support/api.ts';
import { localOutbound, placeAgents } from '#support/catalogues/local.ts';
import { startTmdb, tmdbKey } from '#support/catalogues/tmdb.ts';
import { type GivenLibrary, givenItem, givenLibrary } from '#support/given-items.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { formOf, painted } from '../areas/artwork/support.ts';
import { violations } from './support/axe.ts';
import { openApp } from './support/page.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

describe('the artwork picker in a browser', function () {
  this.timeout(120_000);
  let api: Api;
  let admin: TestClient;
  let films: GivenLibrary;
  let storageState: BrowserContextOptions['storageState'];

  before(async () => {
    api = await ownedServer({ FOYER_TMDB_API_KEY: tmdbKey });
    const poster = await painted(2000, 3000, '#c04020');
    const pictures = createServer((_request, response) => response.end(poster)).listen(0, '127.0.0.1');
    await once(pictures, 'listening');
    atEnd(() => void pictures.close());
    const { port } = pictures.address() as { port: number };
    await placeAgents(api, { tmdb: (await startTmdb({ pictures: `http://127.0.0.1:${port}/t/p/` })).url });
    Object.assign(api.deps, { catalogues: new Catalogues(api.deps, localOutbound()) });
    await resumeAgents(api.deps.redis, ['tmdb']);
    admin = clientFor(api.url, (await api.given.admin()).headers);
    films = await givenLibrary(api.deps.db, 'movies', { item_counts: JSON.stringify({ movie: 1 }) });
    storageState = await signedIn(api);
  });

  const add = async (id: string, kind: string, bytes: Buffer): Promise<string> => {
    const { body } = await admin.uploadItemArtwork({ params: { id }, body: formOf({ kind, bytes, select: 'false' }) });
    return body.id;
  };
  const info = async (id: string) => (await admin.getImageInfo({ params: { id } })).body;
  const setOf = async (id: string) => (await admin.listItemArtwork({ params: { id } })).body.kinds;
  const openPicker = async (id: string, { width = 1280, kind = 'poster' } = {}) => {
    const settings = { storageState: storageState as never, viewport: { width, height: 800 } };
    const app = await openApp(api.url, `/item/${id}`, settings);
    await app.page.click('button[aria-label="Pictures"]');
    await app.page.selectOption('dialog select[name=kind]', kind);
    await app.page.waitForSelector('dialog li button');
    return app;
  };
  const press = (page: Page, name: string) => page.locator(`dialog button:has-text("${name}")`).last().press('Enter');
  const openTool = async (page: Page) => {
    await page.locator('dialog button[aria-label="Focus and crop"]').first().press('Enter');
    await page.waitForSelector('dialog .stage');
  };
  /** Drags on the picture, from and to fractions of it. */
  const drag = async (page: Page, [x1, y1]: readonly [number, number], [x2, y2]: readonly [number, number]) => {
    const box = await page.locator('dialog .stage').boundingBox();
    const { x = 0, y = 0, width = 0, height = 0 } = box ?? {};
    await page.mouse.move(x + x1 * width, y + y1 * height);
    await page.mouse.down();
    await page.mouse.move(x + x2 * width, y + y2 * height, { steps: 4 });
    await page.mouse.up();
  };

  it('takes the focus of a picture by a press and by keys, for narrow pages too', async () => {
    const id = await givenItem(api.deps.db, films, { title: 'Pictured', top: true });
    const image = await add(id, 'poster', await painted(600, 900, '#c04020'));
    for (const width of [1280, 360]) {
      const app = await openPicker(id, { width });
      const { page } = app;
      expect(await page.locator('dialog li img').first().getAttribute('style')).to.include('data:image/bmp');
      await openTool(page);
      expect(await violations(page), `${width}`).to.deep.equal([]);
      await drag(page, [0.5, 0.5], [0.25, 0.75]);
      await press(page, 'Save');
      await page.waitForSelector('dialog .stage', { state: 'detached' });
      const { focus } = await info(image);
      expect(focus?.x).to.be.closeTo(0.25, 0.02);
      expect(focus?.y).to.be.closeTo(0.75, 0.02);
      await openTool(page);
      await page.focus('dialog input[name=focusX]');
      for (let n = 0; n < 10; n += 1) await page.keyboard.press('ArrowRight');
      await press(page, 'Save');
      await page.waitForSelector('dialog .stage', { state: 'detached' });
      expect((await info(image)).focus?.x).to.be.closeTo(0.35, 0.02);
      await app.close();
    }
  });

  it('crops by a drag, turns and crops by sliders, and undoes both', async () => {
    const id = await givenItem(api.deps.db, films, { title: 'Cropped', top: true });
    const image = await add(id, 'poster', await painted(600, 900, '#20a040'));
    const app = await openPicker(id);
    const { page } = app;
    const openCrop = async () => {
      await openTool(page);
      await page.locator('dialog [role=tab]:has-text("Focus")').press('ArrowRight');
      await eventually(() =>
        page.evaluate<boolean>(`document.querySelector('dialog .stage img').naturalWidth === 600`),
      );
    };
    const saved = async () => {
      await press(page, 'Save');
      await page.waitForSelector('dialog .stage', { state: 'detached' });
      const { width, height } = await info(image);
      return { width, height };
    };
    await openCrop();
    expect(await violations(page)).to.deep.equal([]);
    await drag(page, [0.25, 0.25], [0.75, 0.75]);
    const part = await saved();
    expect(part.width).to.be.closeTo(300, 12);
    expect(part.height).to.be.closeTo(450, 18);

    await openCrop();
    await press(page, 'Turn by 90 degrees');
    await page.focus('dialog input[name=right]');
    await page.keyboard.press('PageDown');
    const right = Number(await page.inputValue('dialog input[name=right]'));
    expect(right).to.be.lessThan(100);
    expect(await saved()).to.deep.equal({ width: Math.round(9 * right), height: 600 });

    await openTool(page);
    await press(page, 'Undo focus, crop and turn');
    await page.waitForSelector('dialog .stage', { state: 'detached' });
    const { width, height } = await info(image);
    expect([width, height]).to.deep.equal([600, 900]);
    await app.close();
  });

  it('orders and hides backdrops, and keeps a choice or leaves it to the server', async () => {
    const id = await givenItem(api.deps.db, films, { title: 'With backdrops', top: true });
    const colours = ['#204060', '#604020', '#206040'];
    const images: string[] = [];
    for (const [n, colour] of colours.entries())
      images.push(await add(id, 'backdrop', await painted(960 + n * 16, 540, colour)));
    const [one = '', two = '', three = ''] = images;
    await admin.setItemArtwork({ params: { id, kind: 'backdrop' }, body: { imageIds: [one, two, three] } });
    const app = await openPicker(id, { kind: 'backdrop' });
    const { page } = app;
    await page.waitForSelector('dialog li button[aria-label$="it is number 3"]');
    expect(await violations(page)).to.deep.equal([]);
    const of = (width: number) => page.locator(`dialog li:has(button[aria-label*="${width} by"])`);
    const isShown = (...ids: string[]) =>
      eventually(async () => JSON.stringify((await setOf(id)).backdrop?.selected) === JSON.stringify(ids));
    await of(992).locator('button[aria-label="Show it earlier"]').press('Enter');
    await isShown(one, three, two);
    await of(960).locator('button[aria-label="Do not show this picture"]').press('Enter');
    await isShown(three, two);
    await of(960).locator('button[aria-label^="Show this picture"]').press('Enter');
    await isShown(one, three, two);
    await page.uncheck('dialog input[name=locked]');
    await eventually(async () => (await setOf(id)).backdrop?.locked === false);
    await page.waitForSelector('dialog:has-text("Chosen automatically")');
    await page.check('dialog input[name=locked]');
    await page.waitForSelector('dialog:has-text("Your choice is kept")');
    expect((await setOf(id)).backdrop?.selected).to.deep.equal([one, three, two]);
    await app.close();
  });

  it('offers the pictures of the catalogues with their source, size and language, and fetches the one that is pressed', async () => {
    const settings = JSON.stringify({ agents: ['tmdb'] });
    await api.deps.db('libraries').where({ id: films.id }).update({ settings });
    const id = await givenItem(api.deps.db, films, { title: 'Heat', top: true, external_ids: { tmdb: '949' } });
    await add(id, 'poster', await painted(600, 900, '#104080'));
    const app = await openPicker(id);
    const { page } = app;
    expect(await page.locator('dialog [data-candidate]').count(), 'none is looked for before').to.equal(0);
    await press(page, 'Search the catalogues');
    const offered = page.locator('dialog [data-candidate=tmdb]');
    await offered.first().waitFor();
    const texts = await offered.allTextContents();
    expect(
      texts.map((text) => text.trim()),
      texts.join(),
    ).to.include('TMDB · 2,000 by 3,000 · English');
    expect(texts.some((text) => text.includes('Without text'))).to.equal(true);
    expect(await violations(page)).to.deep.equal([]);
    await page.selectOption('dialog select[name=language]', 'en');
    await eventually(async () => (await offered.allTextContents()).every((text) => text.includes('English')));
    const preview = offered.locator('img').first();
    await eventually(
      async () => (await preview.evaluate((one) => (one as { naturalWidth?: number }).naturalWidth ?? 0)) > 0,
    );
    expect(await preview.getAttribute('src')).to.match(/^\/api\/v1\/images\//);
    await offered.locator('button').first().press('Enter');
    await offered.filter({ hasText: 'Already among the pictures' }).first().waitFor();
    const poster = (await setOf(id)).poster;
    const taken = poster?.images.find(({ source }) => source === 'agent');
    expect(poster?.selected).to.deep.equal([taken?.id]);
    expect([taken?.width, taken?.language]).to.deep.equal([2000, 'en']);
    await app.close();
  });
});
