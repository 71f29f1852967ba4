// The player by keyboard alone, and by the arrows, OK and Back of a remote.
import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { addFilm, type GivenFilm, playing, shelf } from './support/films.ts';
import type { AppPage } from './support/page.ts';
import { cueText, openSignedIn, pauseAt, playsFrom } from './support/player.ts';
import { ownedServer } from './support/server.ts';

const SRT = '1\n00:00:01,000 --> 00:01:30,000\nGuten Morgen.\n';

describe('the player without a pointer', function () {
  this.timeout(120_000);
  let api: Api;
  let film: GivenFilm;

  before(async () => {
    api = await ownedServer();
    const sidecars = [{ name: 'film.de.srt', text: SRT, codec: 'subrip' as const, language: 'de' }];
    film = await addFilm(api, await shelf(api), {
      name: 'film.mp4',
      title: 'Film',
      seconds: 100,
      sidecars,
      chapters: [0, 30],
    });
  });

  const focused = ({ page }: AppPage): Promise<string> =>
    page.evaluate<string>(
      `document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent?.trim() ?? ''`,
    );
  const isShown = ({ page }: AppPage): Promise<boolean> =>
    page.evaluate<boolean>(`!document.querySelector('.player.resting')`);

  it('reaches every control by Tab in the order of sight, each with its name', async () => {
    const app = await openSignedIn(api.url, `/play/${film.itemId}?t=10`);
    await playsFrom(app, 10.2);
    await pauseAt(app);
    const names: string[] = [];
    for (let i = 0; i < 14; i++) {
      await app.page.keyboard.press('Tab');
      names.push(await focused(app));
    }
    expect(names).to.deep.equal([
      'Back',
      'Position',
      'Play',
      'Back 10 seconds',
      'Forward 10 seconds',
      'Mute',
      'Volume',
      names[7],
      'Subtitles',
      'Audio',
      'Quality',
      'Speed',
      'Picture in picture',
      'Full screen',
    ]);
    expect(names[7]).to.match(/^Time 0:1\d \/ 1:40\./);
    await app.close();
  });

  it('opens a panel, chooses by arrows, and returns the focus to what opened it', async () => {
    const app = await openSignedIn(api.url, `/play/${film.itemId}?t=10`);
    const { page } = app;
    await playsFrom(app, 10.2);
    await pauseAt(app);
    await page.focus('[aria-label=Subtitles]');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=dialog][aria-label=Subtitles]');
    expect(await focused(app)).to.equal('Off');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await eventually(async () => (await cueText(app)) === 'Guten Morgen.');
    await page.keyboard.press('Escape');
    await eventually(async () => (await focused(app)) === 'Subtitles');
    for (let i = 0; i < 3; i++) await page.keyboard.press(']');
    await page.waitForSelector('text=Subtitle delay +0.15 s');
    await page.keyboard.press('>');
    await page.waitForSelector('text=Speed 1.25×');
    await eventually(async () => (await playing(page)).rate === 1.25);
    for (const [key, words] of [
      ['m', 'Muted'],
      ['m', 'Volume 100 %'],
      ['ArrowDown', 'Volume 95 %'],
    ] as const) {
      await page.keyboard.press(key);
      await page.waitForSelector(`[role=status] >> text=${words}`);
    }
    expect((await playing(page)).paused, 'no key played it').to.equal(true);
    await app.close();
  });

  it('says the position of the seek bar in words, and hides the controls only while it plays', async () => {
    const app = await openSignedIn(api.url, `/play/${film.itemId}?t=30`);
    const { page } = app;
    await playsFrom(app, 30.2);
    await eventually(async () => !(await isShown(app)), 15_000);
    await page.keyboard.press('k');
    await eventually(async () => (await playing(page)).paused);
    expect(await isShown(app)).to.equal(true);
    await page.keyboard.press('5');
    await eventually(async () => (await page.getAttribute('[role=slider]', 'aria-valuetext')) === '0:50 of 1:40');
    await page.waitForTimeout(4000);
    expect(await isShown(app), 'paused').to.equal(true);
    await app.close();
  });

  it('obeys a remote: OK plays and pauses, arrows seek, down shows the controls, Back hides them and then leaves', async () => {
    const app = await openSignedIn(api.url, `/play/${film.itemId}?t=30&tv=1`);
    const { page } = app;
    await playsFrom(app, 30.2);
    await eventually(async () => !(await isShown(app)), 15_000);
    await page.keyboard.press('Enter');
    await eventually(async () => (await playing(page)).paused);
    await page.keyboard.press('Enter');
    await playsFrom(app, 30.3);
    await eventually(async () => !(await isShown(app)), 15_000);
    const before = (await playing(page)).at;
    for (let i = 0; i < 3; i++) await page.keyboard.press('ArrowRight');
    await playsFrom(app, before + 29);
    await eventually(async () => !(await isShown(app)), 15_000);
    await page.keyboard.press('ArrowDown');
    await eventually(() => isShown(app));
    const name = await focused(app);
    expect(name).to.match(/^(Play|Pause)$/);
    await page.keyboard.press('ArrowRight');
    expect(await focused(app)).to.equal('Back 10 seconds');
    await page.keyboard.press('ArrowUp');
    expect(await focused(app)).to.equal('Position');
    await page.keyboard.press('Escape');
    await eventually(async () => !(await isShown(app)));
    await page.keyboard.press('Escape');
    await page.waitForURL(`${api.url}/item/${film.itemId}`);
    await app.close();
  });
});
