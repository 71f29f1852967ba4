// From one episode to the next and the previous: by keys, and by the countdown at the end.
import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { givenItem } from '#support/given-items.ts';
import { eventually } from '#support/stores.ts';
import { addFilm, type GivenFilm, playing, shelf } from './support/films.ts';
import { type AppPage, openApp } from './support/page.ts';
import { pauseAt, playsFrom } from './support/player.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

const SECONDS = 70;

describe('the episodes of a show in the player', function () {
  this.timeout(120_000);
  let api: Api;
  let storageState: Awaited<ReturnType<typeof signedIn>>;
  let film: GivenFilm;
  const episodes: GivenFilm[] = [];

  before(async () => {
    api = await ownedServer();
    const { db } = api.deps;
    const place = await shelf(api, 'shows');
    const show = await givenItem(db, place.library, { type: 'show', title: 'Show', top: true });
    for (const season of [1, 2]) {
      const parent = { type: 'season', title: `S${season}`, parent_id: show, index_number: season };
      const parentId = await givenItem(db, place.library, parent);
      const part = { type: 'episode', top: false, parent_id: parentId, grandparent_id: show, parent_index: season };
      const item = { ...part, index_number: 1 };
      episodes.push(
        await addFilm(api, place, { name: `${season}.mp4`, title: `Part ${season}`, seconds: SECONDS, item }),
      );
    }
    const films = await shelf(api);
    await addFilm(api, films, { name: 'a.mp4', title: 'A film', seconds: 5 });
    film = await addFilm(api, films, { name: 'b.mp4', title: 'B film', seconds: 60 });
    storageState = await signedIn(api);
  });

  const open = async (path: string): Promise<AppPage> =>
    openApp(api.url, path, { storageState, viewport: { width: 1280, height: 720 } });
  const [first, second] = [0, 1].map((n) => (): string => episodes[n]?.itemId ?? '') as [() => string, () => string];

  it('follow and precede each other by N, Shift N and Shift P over the end of a season, and by the keys of a headset', async () => {
    const app = await open(`/play/${first()}`);
    const { page } = app;
    await playsFrom(app, 0.2);
    for (const [key, id] of [
      ['n', second()],
      ['Shift+P', first()],
      ['Shift+N', second()],
      ['MediaTrackPrevious', first()],
      ['MediaTrackNext', second()],
    ] as const) {
      if (key.startsWith('Media'))
        await page.evaluate(
          `document.body.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true }))`,
        );
      else await page.keyboard.press(key);
      await page.waitForURL(`${api.url}/play/${id}`);
      await playsFrom(app, 0.2);
      await page.waitForSelector(`h1 + p:has-text("Part ${id === first() ? 1 : 2}")`);
    }
    await page.goto(`${api.url}/play/${first()}`);
    await playsFrom(app, 0.2);
    await page.keyboard.press('Shift+P');
    await page.waitForSelector('text=There is no previous item');
    await page.goto(`${api.url}/play/${film.itemId}`);
    await playsFrom(app, 0.2);
    await page.keyboard.press('Shift+P');
    await page.waitForSelector('text=There is no previous item');
    expect(page.url(), 'the film before it in the library is no previous part').to.contain(film.itemId);
    await app.close();
  });

  it('are listed with every other key in the sheet', async () => {
    const app = await open(`/play/${first()}`);
    const { page } = app;
    await playsFrom(app, 0.2);
    await pauseAt(app);
    await page.keyboard.press('?');
    await page.waitForSelector('[role=dialog]');
    const rows = await page.locator('[role=dialog] dt').allInnerTexts();
    const keys = rows.map((row) => row.replace(/\s+/g, ' ').trim());
    expect(keys).to.include.members(['N', 'Shift P', 'Home End', 'S Enter', '?', 'Esc']);
    const names = await page.locator('[role=dialog] dd').allInnerTexts();
    expect(
      names.filter((name) => name.trim() === ''),
      'each has its words',
    ).to.deep.equal([]);
    await app.close();
  });

  it('begin by a countdown that can be ended; the one before is watched', async () => {
    const app = await open(`/play/${first()}?t=${SECONDS - 6}`);
    const { page } = app;
    await page.click('text=Watch the credits');
    await page.waitForSelector('text=Play again', { timeout: 30_000 });
    await page.waitForTimeout(11_000); // longer than the countdown
    expect(page.url(), 'ended').to.contain(first());

    await page.goto(`${api.url}/play/${first()}?t=${SECONDS - 12}`);
    const left = async (): Promise<number> => {
      const text = await page.textContent('button:has-text("Plays in")');
      return Number(/\d+/.exec(text ?? '')?.[0]);
    };
    await page.waitForSelector('button:has-text("Plays in")', { timeout: 30_000 });
    const before = await left();
    await eventually(async () => (await left()) < before);
    await page.waitForURL(`${api.url}/play/${second()}`, { timeout: 30_000 });
    await playsFrom(app, 0.2);
    expect((await playing(page)).at).to.be.lessThan(10);
    const watched = async (): Promise<boolean> =>
      ((await api.deps.db('item_states').where({ item_id: first() }).first())?.watched as boolean) === true;
    await eventually(watched);
    await app.close();
  });
});
