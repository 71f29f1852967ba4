// Runs alone: the browser, the transcoder and ffmpeg share the cores, and it compares times.
// Subtitles: their time, hostile files, and ASS against ffmpeg's own drawing.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { addFilm, type GivenFilm, playing, type Shelf, shelf } from './support/films.ts';
import { cueText, openSignedIn, pauseAt, playsFrom, turnOnSubtitles } from './support/player.ts';
import { ownedServer } from './support/server.ts';

const two = (value: number): string => String(value).padStart(2, '0');
const srtTime = (ms: number): string =>
  `00:${two(Math.floor(ms / 60_000))}:${two(Math.floor(ms / 1000) % 60)},${String(ms % 1000).padStart(3, '0')}`;

/** A cue in each second, 400 ms long. */
const SRT = Array.from({ length: 90 }, (_, i) => {
  const from = i * 1000 + 300;
  return `${i + 1}\n${srtTime(from)} --> ${srtTime(from + 400)}\ncue ${i}\n`;
}).join('\n');

const HEAD = `[Script Info]
ScriptType: v4.00+
PlayResX: 1280
PlayResY: 720
ScaledBorderAndShadow: yes

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
Style: Default,Liberation Sans,72,&H0000FFFF,&H000000FF,&H00FF0000,&H00000000,0,0,0,0,100,100,0,0,1,4,0,2,10,10,40,1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
`;
const line = (text: string): string => `Dialogue: 0,0:00:01.00,0:01:30.00,Default,,0,0,0,,${text}\n`;
const TURNED = `${HEAD}${line('{\\frz20\\pos(640,360)}Turned text')}`;
const DRAWINGS = `${HEAD}${line('{\\p1}m 0 0 l 100 0 100 100 0 100{\\p0}').repeat(100_000)}`;

const FIFTY_MB = 50_000_000;
/** Behind a first cue of one hour, what a file repeats; and the text that is visible. */
const HUGE = {
  'many cues': { unit: '00:00:00.000 --> 00:00:01.000\n<b><i>\n\n', text: 'long' },
  'cues of one hour': { unit: '00:00:00.000 --> 01:00:00.000\nover it\n\n', text: 'over it' },
  'one cue': { unit: 'a\n', text: 'long' },
  'one line': { unit: 'a', text: 'long' },
  'pieces of style': { unit: `00:00:20.000 --> 01:00:01.000\n${'a<i>b</i>'.repeat(440)}\n\n`, text: 'ababab' },
};

/** Notes the longest task of the page from now on. */
const WATCH_TASKS = `(() => {
  window.longest = 0;
  new PerformanceObserver((list) => { for (const one of list.getEntries()) window.longest = Math.max(window.longest, one.duration); })
    .observe({ entryTypes: ['longtask'] });
})()`;
const longest = (page: Page): Promise<number> => page.evaluate<number>('window.longest');

describe('subtitles in a browser', function () {
  this.timeout(240_000);
  let api: Api;
  let place: Shelf;
  const films: Partial<Record<'timed' | 'turned' | 'drawings', GivenFilm>> = {};

  before(async () => {
    api = await ownedServer();
    place = await shelf(api);
    const film = (name: string, text: string, codec: 'subrip' | 'ass') =>
      addFilm(api, place, {
        name: `${name}.mp4`,
        title: name,
        seconds: 90,
        sidecars: [{ name: `${name}.de.${codec === 'ass' ? 'ass' : 'srt'}`, text, codec, language: 'de' }],
      });
    films.timed = await film('timed', SRT, 'subrip');
    films.turned = await film('turned', TURNED, 'ass');
    films.drawings = await film('drawings', DRAWINGS, 'ass');
  });

  const open = async (film: GivenFilm | undefined, seconds: number) => {
    const app = await openSignedIn(api.url, `/play/${film?.itemId}?t=${seconds}`);
    await playsFrom(app, seconds + 0.1);
    await turnOnSubtitles(app);
    return app;
  };

  it('appear within 50 ms of their time, also with an offset', async () => {
    const app = await open(films.timed, 10);
    const { page } = app;
    await eventually(async () => (await cueText(app)) !== '');
    /** By the picture or by the clock of the film: on a busy machine the picture may stand while the sound goes on. */
    const errors = (lateMs = 0): Promise<number[]> =>
      page.evaluate<number[]>(`new Promise((done) => {
        const found = [];
        const video = document.querySelector('video');
        const overlay = document.querySelector('.overlay');
        let media = 0;
        const shown = () => /cue (\\d+)/.exec(overlay.textContent)?.[1];
        let last = shown(); // it is drawn again where more of the track has come
        const frame = (_now, { mediaTime }) => { media = mediaTime; video.requestVideoFrameCallback(frame); };
        video.requestVideoFrameCallback(frame);
        new MutationObserver(() => {
          const n = shown();
          const isNew = n !== undefined && n !== last;
          last = n ?? last;
          const from = (at) => at * 1000 - (Number(n) * 1000 + 300) - ${lateMs};
          if (isNew) found.push([media, video.currentTime].map(from).sort((a, b) => Math.abs(a) - Math.abs(b))[0]);
          if (found.length === 8) done(found);
        }).observe(overlay, { childList: true, subtree: true, characterData: true });
      })`);
    for (const error of await errors()) expect(error).to.be.within(-50, 50);
    for (let i = 0; i < 4; i++) await page.keyboard.press(']');
    for (const error of (await errors(200)).slice(1)) expect(error).to.be.within(-50, 50);
    await app.close();
  });

  for (const [shape, { unit, text }] of Object.entries(HUGE))
    it(`of 50 MB neither freeze the page nor stop the film: ${shape}`, async () => {
      const body = `WEBVTT\n\n00:00:00.000 --> 01:00:00.000\nlong\n\n${unit.repeat(FIFTY_MB / unit.length)}`;
      const large = createServer((_request, response) => response.end(body)).listen(0, '127.0.0.1');
      await once(large, 'listening');
      const address = `http://127.0.0.1:${(large.address() as AddressInfo).port}/`;
      const app = await openSignedIn(api.url, `/play/${films.timed?.itemId}?t=10`);
      const { page } = app;
      await page.route('**/subtitles/**', (route) => route.continue({ url: address }));
      await playsFrom(app, 10.1);
      await page.evaluate(WATCH_TASKS);
      const { at } = await playing(page);
      await turnOnSubtitles(app);
      await eventually(async () => (await cueText(app)).includes(text), 60_000);
      await playsFrom(app, at + 8, 60_000);
      expect(await longest(page)).to.be.lessThan(200);
      await app.close();
      large.close();
    });

  it('with 100,000 drawings do not freeze the page', async () => {
    const app = await openSignedIn(api.url, `/play/${films.drawings?.itemId}?t=10`);
    const { page } = app;
    await playsFrom(app, 10.1);
    await page.evaluate(WATCH_TASKS);
    await turnOnSubtitles(app);
    const { at } = await playing(page);
    await playsFrom(app, at + 8, 60_000);
    expect(await longest(page)).to.be.lessThan(200);
    await app.close();
  });

  it('are drawn as ffmpeg draws them, also in a paused film', async () => {
    const app = await open(films.turned, 10);
    const { page } = app;
    await pauseAt(app);
    await page.keyboard.press('2');
    await page.waitForSelector('.drawn canvas');
    await page.waitForTimeout(3000);
    const folder = temporaryFolder('ass');
    const ours = join(folder, 'ours.png');
    await page.evaluate(
      `for (const one of document.querySelectorAll('.stage, .chrome, .place')) one.style.visibility = 'hidden'`,
    );
    await page.screenshot({ path: ours });
    const file = join(place.folder, 'turned.de.ass');
    const ffmpeg = (args: string[]): Buffer => {
      const { stdout, stderr, status } = spawnSync('ffmpeg', ['-v', 'error', ...args], { maxBuffer: 2 ** 28 });
      if (status !== 0) throw new Error(stderr.toString());
      return stdout;
    };
    const raw = ['-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'];
    const black = ['-f', 'lavfi', '-i', 'color=black:s=1280x720:r=1:d=30'];
    const theirs = ffmpeg([...black, '-vf', `subtitles=${file}`, '-ss', '18', '-frames:v', '1', ...raw]);
    const shown = ffmpeg(['-i', ours, ...raw]);
    expect(shown.length).to.equal(theirs.length);
    let [sum, drawn] = [0, 0];
    for (let i = 0; i < shown.length; i++) {
      sum += Math.abs((shown[i] ?? 0) - (theirs[i] ?? 0));
      if ((shown[i] ?? 0) > 128) drawn += 1;
    }
    expect(drawn, 'there is text').to.be.greaterThan(10_000);
    expect(sum / 255 / shown.length).to.be.lessThan(0.02);
    await app.close();
  });
});
