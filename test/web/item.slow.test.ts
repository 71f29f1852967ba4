import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import { type Api, clientFor } from '#support/api.ts';
import { givenCredit, givenFile, givenItem, givenLibrary, givenShow, givenTag } from '#support/given-items.ts';
import { eventually } from '#support/stores.ts';
import { violations } from './support/axe.ts';
import { openApp } from './support/page.ts';
import { OWNER, ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

const HOSTILE = '<img src=x onerror=alert(1)> & "Harbour"';

/** hls.js is by far the largest script. */
const HAS_HLS = `performance.getEntriesByType('resource').some((one) => one.name.endsWith('.js') && one.decodedBodySize > 400_000)`;

describe('home, search and the pages of items in a browser', () => {
  let api: Api;
  let film: string;
  let show: Awaited<ReturnType<typeof givenShow>>;
  let storageState: BrowserContextOptions['storageState'];
  before(async () => {
    api = await ownedServer();
    const { db } = api.deps;
    const films = await givenLibrary(db, 'movies', { item_counts: JSON.stringify({ movie: 2 }) });
    const shows = await givenLibrary(db, 'shows', { item_counts: JSON.stringify({ show: 1, season: 3, episode: 12 }) });
    const details = {
      top: true,
      year: 1999,
      overview: 'A lighthouse at the end of the world. '.repeat(20),
      runtime_ms: 5_400_000,
    };
    film = await givenItem(db, films, { title: HOSTILE, ...details });
    await givenItem(db, films, { title: 'Harbour Lights', top: true });
    await givenFile(db, films, film, {
      streams: [
        { kind: 'video', codec: 'h264' },
        { kind: 'audio', codec: 'aac', language: 'de' },
      ],
    });
    await givenTag(db, films, film, ['genre', 'Drama']);
    await givenCredit(db, film, { name: 'Ana Example', character: 'The keeper' });
    show = await givenShow(db, shows, { seasons: 3, episodes: 4, title: 'Harbour Stories' });
    storageState = await signedIn(api);
  });

  const open = (path: string, more: BrowserContextOptions = {}) =>
    openApp(api.url, path, { storageState: storageState as never, viewport: { width: 1280, height: 800 }, ...more });

  it('shows a film with its facts and people, and the details of its file one press deeper', async () => {
    const app = await open(`/item/${film}`);
    const { page } = app;
    await page.waitForSelector('text=1 h 30 min');
    expect(await page.locator('h1').textContent()).to.equal(HOSTILE);
    expect(await page.locator('a:has-text("Ana Example")').textContent()).to.include('The keeper');
    expect(await page.locator('text=H264').count()).to.equal(0);
    await page.click('button:has-text("technical details")');
    await page.waitForSelector('text=H264');
    await page.waitForSelector('dd:has-text("German")');
    await app.close();
  });

  it('changes own marks at once, keeps them, and undoes them', async () => {
    const app = await open(`/item/${film}`);
    const { page } = app;
    const state = async () =>
      (await api.deps.db('item_states').where({ item_id: film }).first()) as
        | { watched: boolean; favorite: boolean }
        | undefined;
    await page.waitForSelector('text=1 h 30 min');
    await page.keyboard.press('w');
    await page.waitForSelector('button[aria-pressed="true"][aria-label^="Watched"]');
    await page.waitForSelector('text=is watched');
    expect((await state())?.watched).to.equal(true);
    await page.click('button:has-text("Undo")');
    await page.waitForSelector('text=is not watched');
    expect((await state())?.watched).to.equal(false);
    await page.keyboard.press('f');
    await page.waitForSelector('text=is a favourite');
    expect((await state())?.favorite).to.equal(true);
    await app.close();
  });

  it('takes back a mark that the server refuses, and says why', async () => {
    const app = await open(`/item/${film}`);
    const { page } = app;
    await page.waitForSelector('text=1 h 30 min');
    await page.route('**/items/*/watched', (route) =>
      route.fulfill({
        status: 403,
        json: { error: { code: 'FORBIDDEN', message: 'No', details: {}, requestId: 'r' } },
      }),
    );
    await page.keyboard.press('w');
    await page.waitForSelector('[role=status]:has-text("not allowed"), [role=status]:has-text("may not")');
    expect(await page.locator('button[aria-pressed="true"][aria-label^="Watched"]').count()).to.equal(0);
    await app.close();
  });

  it('opens the session at the press on Play, by code and measurements that the page loaded at rest', async () => {
    const app = await open(`/item/${film}`);
    const { page } = app;
    app.expectFault(/./); // the film has no bytes
    await eventually(() => page.evaluate<boolean>(`localStorage.getItem('foyer.profile') !== null && ${HAS_HLS}`));
    const paths: string[] = [];
    page.on('request', (request) => paths.push(new URL(request.url()).pathname));
    await Promise.all([page.waitForRequest('**/items/*/playback'), page.click('.play a')]);
    await page.waitForSelector('.player');
    expect(paths.filter((path) => path.endsWith('.js'))).to.deep.equal([]);
    expect(paths[0]).to.match(/\/playback$/);
    await app.close();
  });

  it('shows seasons and episodes as one tree, opened by number keys, and finds it so on return', async () => {
    const app = await open(`/item/${show.id}`);
    const { page } = app;
    await page.waitForSelector('a:has-text("S1E1")');
    expect(await page.locator('a:has-text("S3E2")').count()).to.equal(0);
    await page.keyboard.press('3');
    await page.click('.title:has-text("S3E2")');
    await page.waitForSelector('h1:has-text("S3E2")', { state: 'attached' });
    await page.waitForSelector('nav a:has-text("Harbour Stories")');
    await page.goBack();
    await page.waitForSelector('a:has-text("S3E2")');
    await page.click('button[aria-label="Mark Season 1 as watched"]');
    await page.waitForSelector('text=All 4 watched');
    await app.close();
  });

  it('finds titles from the first letter, by keyboard alone', async () => {
    const app = await open('/');
    const { page } = app;
    await page.waitForSelector('main a[href^="/item/"]');
    await page.keyboard.press('/');
    await page.waitForSelector('input[type=search]:focus');
    for (const letters of ['h', 'arb']) {
      await page.keyboard.type(letters);
      await page.waitForSelector('[role=option]:has-text("Harbour Lights")');
    }
    await page.keyboard.press('Enter');
    await page.waitForSelector('h2:has-text("Films · 2")');
    await page.waitForSelector('h2:has-text("Shows · 1")');
    await page.keyboard.press('ArrowDown');
    expect(await page.evaluate('document.activeElement.querySelector(".title").textContent')).to.equal(
      'Harbour Lights',
    );
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("Harbour Stories")', { state: 'attached' });
    await page.goBack();
    await page.waitForSelector('h2:has-text("Shows · 1")');
    await app.close();
  });

  it('plays and marks the card with the focus on Home and in search by the keys of a grid', async () => {
    const app = await open('/search?q=harbour');
    const { page } = app;
    const card = (place: string) => page.locator(`${place} .strip a:has-text("Harbour Lights")`).first();
    const mark = async () =>
      api.deps.db('item_states').join('items', 'items.id', 'item_id').where({ title: 'Harbour Lights' }).first();
    await card('.results').focus();
    await page.keyboard.press('w');
    await eventually(async () => (await mark())?.watched === true);
    await page.goto(`${api.url}/`);
    await card('main').focus();
    await page.keyboard.press('f');
    await eventually(async () => (await mark())?.favorite === true);
    await card('main').focus();
    await page.keyboard.press('w');
    await eventually(async () => (await mark())?.watched === false);
    app.expectFault(/./); // the film has no bytes
    await card('main').focus();
    await page.keyboard.press('p');
    await page.waitForURL('**/play/*');
    await app.close();
  });

  it('shows on Home what to continue, with the time that is left', async () => {
    const { db } = api.deps;
    const [episode] = show.episodes[1] ?? [];
    await db('items').where({ id: episode }).update({ runtime_ms: 3_600_000 });
    const { body } = await api.anyone.login({ body: OWNER });
    const me = clientFor(api.url, { authorization: `Bearer ${body.accessToken}` });
    await me.setItemProgress({ params: { id: String(episode) }, body: { positionMs: 1_800_000 } });
    const app = await open('/');
    const card = app.page.locator('section:has(h2:has-text("Continue")) li', { hasText: 'Harbour Stories' });
    await card.waitFor();
    expect(await card.textContent()).to.include('30 min left');
    expect(await card.locator('a').getAttribute('href')).to.equal(`/play/${episode}`);
    await app.close();
  });

  for (const colorScheme of ['dark', 'light'] as const)
    for (const width of [360, 1280])
      it(`has no accessibility violations: ${colorScheme}, ${width} px`, async () => {
        const app = await open('/', { colorScheme, viewport: { width, height: 800 } });
        const { page } = app;
        await page.waitForSelector('main a[href^="/item/"]');
        expect(await violations(page), 'home').to.deep.equal([]);
        for (const [path, shown] of [
          [`/item/${film}`, 'text=Ana Example'],
          [`/item/${show.id}`, 'button:has-text("Season 3")'],
          [`/item/${show.episodes[0]?.[1]}`, 'nav a:has-text("S1E1")'],
          ['/search?q=harb', 'h2:has-text("Films")'],
          ['/search?q=zzzz', 'text=Nothing was found'],
        ] as const) {
          await page.goto(api.url + path);
          await page.waitForSelector(shown);
          expect(await violations(page), path).to.deep.equal([]);
        }
        await app.close();
      });
});
