// Another quality, audio track or subtitle in the middle of a film: it goes on at the second, whether it plays or stands still.
import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { type Stage, worker } from '#support/hls-session.ts';
import { eventually } from '#support/stores.ts';
import { addFilm, type GivenFilm, playing, shelf } from './support/films.ts';
import { type AppPage, openApp } from './support/page.ts';
import { cueText, isInTime, isWell, pauseAt, playsFrom, turnOnSubtitles, watchMotion } from './support/player.ts';
import { ownedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

const SECONDS = 150;
const cueAll = (text: string): string => `1\n00:00:00,100 --> 00:02:30,000\n${text}\n`;

describe('a change in the middle of a film', function () {
  this.timeout(180_000);
  let api: Api;
  let storageState: Awaited<ReturnType<typeof signedIn>>;
  const films: Partial<Record<'mp4' | 'mkv', GivenFilm>> = {};

  before(async () => {
    api = await ownedServer();
    worker({ ...api.deps, environment: {} } as Stage);
    const place = await shelf(api);
    for (const kind of ['mp4', 'mkv'] as const) {
      const sidecars = [
        { name: `${kind}.de.srt`, text: cueAll('Guten Morgen.'), codec: 'subrip' as const, language: 'de' },
        { name: `${kind}.en.srt`, text: cueAll('Good morning.'), codec: 'subrip' as const, language: 'en' },
      ];
      const film = {
        name: `${kind}.${kind}`,
        title: kind,
        seconds: SECONDS,
        kbits: 2000,
        audio: ['eng', 'deu'],
        sidecars,
      };
      films[kind] = await addFilm(api, place, film);
    }
    storageState = await signedIn(api);
  });

  const choose = async ({ page }: AppPage, key: string, choice: string): Promise<void> => {
    await page.keyboard.press(key);
    await page.click(`[role=menuitemradio]${choice}`);
    await page.waitForSelector(`[role=menuitemradio][aria-checked=true]${choice}`);
    await page.keyboard.press('Escape');
  };

  for (const kind of ['mp4', 'mkv'] as const) {
    const open = (at: number): Promise<AppPage> =>
      openApp(api.url, `/play/${films[kind]?.itemId}?t=${at}`, {
        storageState,
        viewport: { width: 1280, height: 720 },
      });

    for (const [what, key, choice] of [
      ['quality', 'q', ':last-child'],
      ['audio track', 'a', ':has-text("German")'],
    ] as const) {
      it(`keeps the second of a film that plays, and its subtitles: ${what}, ${kind}`, async () => {
        const app = await open(40);
        const { page } = app;
        await playsFrom(app, 41);
        await turnOnSubtitles(app);
        const text = await eventually(() => cueText(app));
        await page.evaluate(
          `window.texts = new Set(); setInterval(() => texts.add(document.querySelector('.overlay').textContent.trim()), 50)`,
        );
        const motion = await watchMotion(app);
        const { src, at } = await playing(page);
        const began = Date.now();
        await choose(app, key, choice);
        await eventually(async () => (await playing(page)).src !== src, 30_000);
        await playsFrom(app, at + 5);
        const now = (await playing(page)).at;
        expect(now - at, 'nothing is left out').to.be.lessThan((Date.now() - began) / 1000 + 0.5);
        const { backS, onS } = await motion();
        expect(backS, 'seconds played twice').to.be.lessThan(0.5);
        expect(onS, 'seconds left out').to.be.lessThan(0.5);
        expect(await page.evaluate('[...window.texts]'), 'the subtitles stay').to.deep.equal([text]);
        await isWell(app);
        await isInTime(app);
        await app.close();
      });

      it(`keeps the picture of a film that stands still: ${what}, ${kind}`, async () => {
        const app = await open(60);
        const { page } = app;
        await playsFrom(app, 61);
        await pauseAt(app);
        const { src, at } = await playing(page);
        await choose(app, key, what === 'quality' ? choice : ':has-text("English")');
        await eventually(async () => (await playing(page)).src !== src && (await playing(page)).ready >= 2, 30_000);
        await eventually(async () => Math.abs((await playing(page)).at - at) < 0.1);
        expect((await playing(page)).paused).to.equal(true);
        await isInTime(app);
        await app.close();
      });
    }

    it(`leaves pictures and sound alone when the subtitles change: ${kind}`, async () => {
      const app = await open(40);
      const { page } = app;
      await playsFrom(app, 41);
      const motion = await watchMotion(app);
      const { src } = await playing(page);
      for (const [choice, text] of [
        ['German', 'Guten Morgen.'],
        ['English', 'Good morning.'],
        ['Off', ''],
      ] as const) {
        await page.click('.controls [aria-label=Subtitles]');
        await page.click(`[role=menuitemradio]:has-text("${choice}")`);
        await eventually(async () => (await cueText(app)) === text);
        await page.keyboard.press('Escape');
      }
      expect((await playing(page)).src).to.equal(src);
      const { stillMs, backS, onS } = await motion();
      expect(Math.max(backS, onS)).to.be.lessThan(0.5);
      expect(stillMs).to.be.lessThan(1500);
      await isInTime(app);
      await app.close();
    });
  }
});
