import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { type Stage, worker } from '#support/hls-session.ts';
import { eventually } from '#support/stores.ts';
import { addFilm, FPS, type GivenFilm, playing, shelf, shownFrame } from './support/films.ts';
import type { AppPage } from './support/page.ts';
import { cueText, openSignedIn, pauseAt, playsFrom, storedMs } from './support/player.ts';
import { ownedServer } from './support/server.ts';

const SECONDS = 100;
const shots = process.env.SHOTS;

const srt = (lines: readonly [from: string, to: string, text: string][]): string =>
  lines.map(([from, to, text], i) => `${i + 1}\n00:${from} --> 00:${to}\n${text}\n`).join('\n');

describe('playing in a browser', function () {
  this.timeout(90_000);
  let api: Api;
  let direct: GivenFilm;
  let streamed: GivenFilm;

  before(async () => {
    api = await ownedServer();
    worker({ ...api.deps, environment: {} } as Stage);
    const place = await shelf(api);
    const german = srt([
      ['00:01,000', '00:08,000', 'Guten <i>Morgen</i>.'],
      [
        '00:40,000',
        '01:30,000',
        '<script>document.title = "bad"</script>Es ist <b>spät</b> &amp; dunkel. &lt;img src=x&gt;',
      ],
    ]);
    const english = srt([['00:40,000', '01:30,000', 'It is late.']]);
    const sidecars = (name: string) => [
      { name: `${name}.de.srt`, text: german, codec: 'subrip' as const, language: 'de' },
      { name: `${name}.en.srt`, text: english, codec: 'subrip' as const, language: 'en' },
    ];
    direct = await addFilm(api, place, {
      name: 'direct.mp4',
      title: 'The direct film',
      seconds: SECONDS,
      sidecars: sidecars('direct'),
      chapters: [0, 30, 60],
    });
    streamed = await addFilm(api, place, {
      name: 'streamed.mkv',
      title: 'The streamed film',
      seconds: SECONDS,
      audio: ['eng', 'deu'],
      sidecars: sidecars('streamed'),
    });
  });

  /** The picture is that of a time, within a frame. */
  async function shows(app: AppPage, seconds: number): Promise<void> {
    const expected = Math.round(seconds * FPS);
    const frame = await eventually(async () => {
      const now = await shownFrame(app.page);
      return Math.abs(now - expected) <= 1 && now;
    }).catch(() => shownFrame(app.page));
    expect(frame).to.be.within(expected - 1, expected + 1);
  }

  it('plays a file directly, seeks to the frame, shows subtitles, and resumes where it was left', async () => {
    const app = await openSignedIn(api.url, `/play/${direct.itemId}`);
    const { page } = app;
    await playsFrom(app, 0.5);
    expect((await playing(page)).src).to.include(`/files/${direct.fileId}/stream`);
    expect(await page.textContent('h1')).to.equal('The direct film');
    await pauseAt(app);
    await page.keyboard.press('7');
    await eventually(async () => (await playing(page)).at === 70);
    await shows(app, 70);
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    await eventually(async () => (await playing(page)).at === 50);
    await shows(app, 50);
    for (let i = 0; i < 7; i++) await page.keyboard.press('.'); // between keyframes, which are two seconds apart
    await eventually(async () => (await playing(page)).at > 50.2);
    await shows(app, (await playing(page)).at);
    await page.keyboard.press('c');
    await eventually(async () => (await cueText(app)) === 'document.title = "bad"Es ist spät & dunkel. <img src=x>');
    if (shots) await page.screenshot({ path: `${shots}/player-1280.png` });
    await page.keyboard.press('PageUp');
    await eventually(async () => (await playing(page)).at === 60);
    await page.keyboard.press('k');
    await playsFrom(app, 62);
    const at = await pauseAt(app);
    await eventually(async () => Math.abs((await storedMs(api, direct.itemId)) - at * 1000) < 1000);
    await page.reload();
    expect(await playsFrom(app, 0.1)).to.be.within(at - 4, at + 3);
    await eventually(async () => (await cueText(app)).includes('spät'));
    await app.close();
  });

  it('keeps the second while the audio changes in a stream', async () => {
    const app = await openSignedIn(api.url, `/play/${streamed.itemId}?t=40`);
    const { page } = app;
    await playsFrom(app, 40.5);
    expect((await playing(page)).src).to.match(/^blob:/);
    await page.keyboard.press('c');
    await eventually(async () => (await cueText(app)).includes('spät'));
    await pauseAt(app);
    await page.keyboard.press('5');
    const before = SECONDS / 2;
    await shows(app, before);
    await page.keyboard.press('a');
    await page.waitForSelector('[role=dialog]');
    await page.click('[role=menuitemradio]:has-text("German")');
    await page.waitForSelector('[role=menuitemradio][aria-checked=true]:has-text("German")');
    await page.keyboard.press('Escape');
    await eventually(
      async () => (await playing(page)).ready >= 2 && Math.abs((await playing(page)).at - before) < 0.1,
      30_000,
    );
    await shows(app, before);
    expect(await cueText(app), 'the subtitles stay').to.include('spät');
    await page.keyboard.press('k');
    await playsFrom(app, before + 1);
    await app.close();
  });
});
