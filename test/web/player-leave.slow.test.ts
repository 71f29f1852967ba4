// Where the player leads when it is left, what it offers at the end, and fingers on the picture.
import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { givenItem } from '#support/given-items.ts';
import { eventually } from '#support/stores.ts';
import { addFilm, type GivenFilm, playing, shelf } from './support/films.ts';
import { openSignedIn, pauseAt, playsFrom } from './support/player.ts';
import { ownedServer } from './support/server.ts';

describe('leaving the player', function () {
  this.timeout(120_000);
  let api: Api;
  const episodes: GivenFilm[] = [];

  before(async () => {
    api = await ownedServer();
    const place = await shelf(api, 'shows');
    const { db } = api.deps;
    const show = await givenItem(db, place.library, { type: 'show', title: 'Show', top: true });
    const season = await givenItem(db, place.library, {
      type: 'season',
      title: 'S1',
      parent_id: show,
      index_number: 1,
    });
    for (const n of [1, 2]) {
      const item = { type: 'episode', top: false, parent_id: season, grandparent_id: show, parent_index: 1 };
      const film = { name: `${n}.mp4`, title: `Part ${n}`, seconds: 12, item: { ...item, index_number: n } };
      episodes.push(await addFilm(api, place, film));
    }
  });

  it('leads to the item after the next episode, in a tab that began with the player', async () => {
    const [first, second] = episodes.map(({ itemId }) => itemId);
    const signedIn = await openSignedIn(api.url, `/play/${first}`);
    const page = await signedIn.context.newPage();
    const app = { ...signedIn, page };
    await page.goto(`${api.url}/play/${first}`);
    await playsFrom(app, 0.2);
    await page.keyboard.press('n');
    await page.waitForURL(`${api.url}/play/${second}`);
    await playsFrom(app, 0.2);
    await page.keyboard.press('Escape');
    await page.waitForTimeout(1000);
    expect(page.url()).to.equal(`${api.url}/item/${second}`);
    await signedIn.close();
  });

  it('leads back to the page of the app before the first episode', async () => {
    const [first, second] = episodes.map(({ itemId }) => itemId);
    const app = await openSignedIn(api.url, `/item/${first}`);
    const { page } = app;
    await page.click(`a[href^="/play/${first}"]`);
    await playsFrom(app, 0.2);
    await page.keyboard.press('n');
    await page.waitForURL(`${api.url}/play/${second}`);
    await playsFrom(app, 0.2);
    await page.keyboard.press('Escape');
    await page.waitForURL(`${api.url}/item/${first}`);
    await app.close();
  });

  it('confirms the last position, so that none waits in the browser', async () => {
    const [first] = episodes.map(({ itemId }) => itemId);
    const app = await openSignedIn(api.url, `/play/${first}?t=3`);
    const { page } = app;
    const refused: string[] = [];
    page.on('response', (one) => one.status() === 409 && refused.push(one.url()));
    await playsFrom(app, 4);
    await page.keyboard.press('Escape');
    await page.waitForURL(`${api.url}/item/${first}`);
    await eventually(async () => (await page.evaluate<number>(`(localStorage['foyer.positions'] ?? '').length`)) === 0);
    expect(refused).to.deep.equal([]);
    await app.close();
  });

  it('offers the item again and the way back at the end, and the next one after the credits', async () => {
    const [first, second] = episodes.map(({ itemId }) => itemId);
    const app = await openSignedIn(api.url, `/play/${second}?t=8`);
    const { page } = app;
    await page.click('text=Play again', { timeout: 30_000 });
    await playsFrom(app, 0.2);
    expect((await playing(page)).at).to.be.lessThan(6);
    await page.goto(`${api.url}/play/${first}?t=10.9`);
    await page.click('text=Watch the credits');
    await page.waitForSelector('text=Play again', { timeout: 30_000 });
    expect(await page.isVisible('text=/^\\s*Play now/')).to.equal(true);
    expect(await page.isVisible('text=/Plays in/')).to.equal(false);
    await page.click('text=Go back');
    await page.waitForURL(/item/);
    await app.close();
  });

  it('seeks by a finger that is drawn across the picture', async () => {
    const app = await openSignedIn(api.url, `/play/${episodes[0]?.itemId}?t=1`, { hasTouch: true });
    const { page } = app;
    await playsFrom(app, 1.1);
    await pauseAt(app);
    const before = (await playing(page)).at;
    const touches = await app.context.newCDPSession(page);
    const touch = (type: 'touchStart' | 'touchMove' | 'touchEnd', x: number) =>
      touches.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : [{ x, y: 300 }] });
    await touch('touchStart', 300);
    for (let x = 310; x <= 360; x += 10) await touch('touchMove', x);
    await touch('touchEnd', 360);
    await eventually(async () => (await playing(page)).at > before + 4);
    expect((await playing(page)).at).to.be.closeTo(before + 5.6, 0.5);
    await app.close();
  });

  it('fills the screen by two fingers that go apart and shows the whole picture by two that meet; a named control does both', async () => {
    const viewport = { width: 800, height: 300 };
    const app = await openSignedIn(api.url, `/play/${episodes[0]?.itemId}?t=1`, { hasTouch: true, viewport });
    const { page } = app;
    await playsFrom(app, 1.1);
    await pauseAt(app);
    const fit = (): Promise<string> =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('video')).objectFit`);
    expect(await fit()).to.equal('contain');
    const touches = await app.context.newCDPSession(page);
    const send = (type: 'touchStart' | 'touchMove' | 'touchEnd', apart: number) => {
      const touchPoints = [-1, 1].map((side, id) => ({ x: 400 + (side * apart) / 2, y: 120, id }));
      return touches.send('Input.dispatchTouchEvent', { type, touchPoints: type === 'touchEnd' ? [] : touchPoints });
    };
    const pinch = async (from: number, to: number): Promise<void> => {
      await send('touchStart', from);
      for (let step = 1; step <= 5; step++) await send('touchMove', from + ((to - from) * step) / 5);
      await send('touchEnd', to);
    };
    const before = await playing(page);
    await pinch(80, 300);
    await eventually(async () => (await fit()) === 'cover');
    await page.waitForSelector('[role=status] >> text=The picture fills the screen');
    await page.reload();
    await playsFrom(app, 1);
    await pauseAt(app);
    expect(await fit(), 'in this tab').to.equal('cover');
    await pinch(300, 80);
    await eventually(async () => (await fit()) === 'contain');
    expect(await page.evaluate('visualViewport.scale'), 'the page is as large as before').to.equal(1);
    expect((await playing(page)).paused, 'two fingers press nothing').to.equal(before.paused);
    await page.keyboard.press('q');
    await page.click('[role=dialog] button:has-text("Fill the screen")');
    await eventually(async () => (await fit()) === 'cover');
    await page.waitForSelector('[role=dialog] button[aria-pressed=true]:has-text("Fill the screen")');
    await app.close();
  });
});
