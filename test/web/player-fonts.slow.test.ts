// Fonts of a file that lie, and a renderer of subtitles that dies: the film goes on.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page, Worker } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { type Stage, worker } from '#support/hls-session.ts';
import { atEnd, eventually, temporaryFolder } from '#support/stores.ts';
import { handlers } from '#workers/handlers.ts';
import { startRuntime } from '#workers/runtime.ts';
import { addFilm, type GivenFilm, playing, type Shelf, shelf } from './support/films.ts';
import { endlessFont, lyingFonts } from './support/fonts.ts';
import type { AppPage } from './support/page.ts';
import { openSignedIn, playsFrom, turnOnSubtitles } from './support/player.ts';
import { ownedServer } from './support/server.ts';

/** Text in yellow, in a font that only the file has. */
const ASS = `[Script Info]
ScriptType: v4.00+
PlayResX: 1280
PlayResY: 720

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
Style: Default,Liar,90,&H0000FFFF,&H000000FF,&H00000000,&H00000000,0,0,0,0,100,100,0,0,1,2,0,5,10,10,40,1

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Dialogue: 0,0:00:01.00,0:05:00.00,Default,,0,0,0,,Text of the film
`;

const RENDERER = /workers\/worker-/;

describe('fonts that lie', function () {
  this.timeout(240_000);
  let api: Api;
  let place: Shelf;
  const films: Record<string, GivenFilm> = {};

  before(async () => {
    api = await ownedServer();
    worker({ ...api.deps, environment: {} } as Stage);
    const runtime = await startRuntime(api.deps, handlers, () => undefined);
    atEnd(() => runtime.stop());
    place = await shelf(api);
    const film = (name: string, fonts: Record<string, Buffer>) =>
      addFilm(api, place, {
        ...{ name: `${name}.mkv`, title: name, seconds: 120, fonts },
        sidecars: [{ name: `${name}.de.ass`, text: ASS, codec: 'ass', language: 'de' }],
      });
    films['lying'] = await film('lying', lyingFonts('Liar'));
    films['endless'] = await film('endless', { 'endless.ttf': endlessFont('Liar') });
  });

  const open = async (film: GivenFilm | undefined): Promise<AppPage> => {
    const app = await openSignedIn(api.url, `/play/${film?.itemId}?t=5`);
    await playsFrom(app, 5.1);
    await turnOnSubtitles(app);
    return app;
  };

  /** Points of the text's colour on the screen. */
  async function drawn(page: Page): Promise<number> {
    const path = join(temporaryFolder('drawn'), 'page.png');
    await page.screenshot({ path });
    const args = ['-v', 'error', '-i', path, '-f', 'rawvideo', '-pix_fmt', 'rgb24', '-'];
    const { stdout } = spawnSync('ffmpeg', args, { maxBuffer: 2 ** 28 });
    let count = 0;
    for (let i = 0; i < stdout.length; i += 3)
      if ((stdout[i] ?? 0) > 200 && (stdout[i + 1] ?? 0) > 200 && (stdout[i + 2] ?? 255) < 80) count += 1;
    return count;
  }

  const goesOn = async (app: AppPage): Promise<void> => {
    const { at } = await playing(app.page);
    await playsFrom(app, at + 3);
    expect(await app.page.locator('.player [role=alert]').count()).to.equal(0);
  };

  const rendererOf = (page: Page): Promise<Worker> =>
    eventually(async () => page.workers().find((one) => RENDERER.test(one.url())));

  it('are left out, and the text is drawn in another', async () => {
    const app = await open(films['lying']);
    await eventually(async () => (await drawn(app.page)) > 2000, 60_000);
    const fonts = `fetch('/api/v1/items/${films['lying']?.itemId}/fonts').then((answer) => answer.json()).then(({ items }) => items.length)`;
    expect(await app.page.evaluate<number>(fonts), 'the renderer has them').to.equal(4);
    await goesOn(app);
    await app.close();
  });

  it('neither stop the film nor the renderer when a glyph has no end', async () => {
    const app = await open(films['endless']);
    const renderer = await rendererOf(app.page);
    await goesOn(app);
    expect(await renderer.evaluate('1 + 1')).to.equal(2);
    await app.close();
  });

  it('begin again without them when the renderer dies, and end with one sentence when it dies again', async () => {
    const app = await open(films['lying']);
    app.expectFault(/exception: .*the renderer died/s);
    const { page } = app;
    await eventually(async () => (await drawn(page)) > 2000, 60_000);
    const dies = async (): Promise<void> => {
      await (await rendererOf(page)).evaluate(`void setTimeout(() => { throw new Error('the renderer died'); })`);
    };
    const first = await rendererOf(page);
    await dies();
    await eventually(async () => page.workers().some((one) => RENDERER.test(one.url()) && one !== first));
    await eventually(async () => (await drawn(page)) > 2000, 60_000);
    await dies();
    await page.waitForSelector('text=The subtitles could not be drawn');
    await goesOn(app);
    await app.close();
  });

  it('end with one sentence when the renderer draws no more', async () => {
    const app = await open(films['lying']);
    const { page } = app;
    await eventually(async () => (await drawn(page)) > 2000, 60_000);
    for (let i = 0; i < 2; i++) {
      const renderer = await rendererOf(page);
      await renderer.evaluate('void setTimeout(() => { for (;;); })');
      if (i === 0) await eventually(async () => page.workers().every((one) => one !== renderer), 90_000);
    }
    await page.waitForSelector('text=The subtitles could not be drawn', { timeout: 90_000 });
    await goesOn(app);
    await app.close();
  });
});
