// Runs alone: the browser, the transcoder and ffmpeg share the cores.
// Picture subtitles in the player, compared with ffmpeg's drawing of the same film.
import { spawnSync } from 'node:child_process';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { type Stage, worker } from '#support/hls-session.ts';
import { tool } from '#support/hls-validator.ts';
import { drawnSup, realSup, repeatedSup } from '#support/picture-films.ts';
import { probedFilm } from '#support/probed-film.ts';
import { atEnd, eventually } from '#support/stores.ts';
import { handlers } from '#workers/handlers.ts';
import { startRuntime } from '#workers/runtime.ts';
import { fixtures } from '../../hack/fixtures/index.ts';
import { shelf } from './support/films.ts';
import { openSignedIn, pauseAt, playsFrom, turnOnSubtitles } from './support/player.ts';
import { ownedServer } from './support/server.ts';

const SECONDS = 60;
/** Pictures are shown from 1 to 3, 4 to 6 and 7 to 9 s of each 15. */
const STARTS = [0, 15_000, 30_000, 45_000];

interface Drawn {
  width: number;
  height: number;
  lit: number;
  pixels: number[];
}

/** The canvas of the pictures, and the colours of a rectangle of it over black. */
const drawn = (page: Page, [x, y, width, height]: readonly number[]): Promise<Drawn> =>
  page.evaluate<Drawn>(`(() => {
    const canvas = document.querySelector('.pictures canvas');
    if (!canvas || canvas.width < 2) return { width: 0, height: 0, lit: 0, pixels: [] };
    const { data } = canvas.getContext('2d').getImageData(${x}, ${y}, ${width}, ${height});
    const pixels = [];
    let lit = 0;
    for (let at = 0; at < data.length; at += 4) {
      if (data[at + 3] > 0) lit += 1;
      for (let n = 0; n < 3; n++) pixels.push(Math.round((data[at + n] * data[at + 3]) / 255));
    }
    return { width: canvas.width, height: canvas.height, lit, pixels };
  })()`);

const AREA = [300, 700, 600, 100] as const;
const lit = async (page: Page): Promise<boolean> => (await drawn(page, AREA)).lit > 0;

describe('picture subtitles in a browser', function () {
  this.timeout(240_000);
  let api: Api;
  let film: { itemId: string; fileId: string };
  let path: string;

  before(async function () {
    this.timeout(600_000);
    const { real } = await fixtures();
    api = await ownedServer();
    const runtime = await startRuntime(api.deps, handlers, () => undefined);
    atEnd(() => runtime.stop());
    worker({ ...api.deps, environment: {} } as Stage);
    const { library, folder } = await shelf(api);
    const at = (name: string): string => join(folder, name);
    writeFileSync(at('film.sup'), repeatedSup(drawnSup(realSup(real), { x: AREA[0], y: AREA[1] }), STARTS));
    const sources = ['-f', 'lavfi', '-i', `color=black:s=640x360:r=24:d=${SECONDS}`, '-f', 'lavfi', '-i', 'anullsrc'];
    const codecs = ['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '48', '-c:a', 'aac', '-t', String(SECONDS)];
    await tool('ffmpeg', ['-v', 'error', ...sources, ...codecs, at('plain.mkv')]);
    await tool('mkvmerge', ['-q', '-o', at('Film.mkv'), at('plain.mkv'), at('film.sup')]);
    path = join(api.mediaRoot, 'Film.mkv');
    copyFileSync(at('Film.mkv'), path);
    film = await probedFilm(api, library, path);
  });

  const play = async (seconds: number) => {
    const app = await openSignedIn(api.url, `/play/${film.itemId}?t=${seconds}`);
    await playsFrom(app, seconds + 0.1);
    await turnOnSubtitles(app);
    return app;
  };
  const seek = (page: Page, seconds: number): Promise<void> =>
    page.evaluate<undefined>(`document.querySelector('video').currentTime = ${seconds}`);

  it('are drawn where and as ffmpeg draws them, without an encoder', async () => {
    const app = await play(2);
    const { page } = app;
    await pauseAt(app);
    for (const second of [17, 35, 53]) {
      await seek(page, second);
      await eventually(() => lit(page), 30_000);
      const { width, height, pixels } = await drawn(page, AREA);
      expect([width, height]).to.deep.equal([1920, 1080]);
      const black = ['-f', 'lavfi', '-i', `color=black:s=1920x1080:r=10:d=${SECONDS},format=gbrp`, '-i', path];
      const cut = `crop=${[AREA[2], AREA[3], AREA[0], AREA[1]].join(':')}`;
      const graph = `[0:v][1:s:0]overlay=format=gbrp,trim=start=${second},${cut},format=rgb24`;
      const args = ['-v', 'error', ...black, '-filter_complex', graph, '-frames:v', '1', '-f', 'rawvideo', '-'];
      const theirs = spawnSync('ffmpeg', args, { maxBuffer: 1 << 28 }).stdout;
      expect(theirs.length).to.equal(pixels.length);
      const most = pixels.reduce((worst, value, i) => Math.max(worst, Math.abs(value - (theirs[i] ?? 0))), 0);
      expect(most, `the largest difference of a colour at ${second} s`).to.be.at.most(6);
    }
    const { decision } = await api.deps.db('playback_sessions').where({ item_id: film.itemId }).first('decision');
    expect(decision).to.deep.include({ method: 'direct_stream' });
    expect(decision).to.have.nested.property('video.action', 'copy');
    expect(decision).to.have.nested.property('subtitle.delivery', 'pictures');
    await app.close();
  });

  it('follow the offset, the size of the page and full screen, and end when they are turned off', async () => {
    const app = await play(2);
    const { page } = app;
    await pauseAt(app);
    await seek(page, 31.5);
    await eventually(() => lit(page), 30_000);
    for (let n = 0; n < 12; n += 1) await page.keyboard.press(']');
    await eventually(async () => !(await lit(page)));
    for (let n = 0; n < 12; n += 1) await page.keyboard.press('[');
    await eventually(() => lit(page));
    const box = () =>
      page.evaluate<{ canvas: number[]; video: number[] }>(`(() => {
        const of = (one) => { const { left, top, width, height } = one.getBoundingClientRect(); return [left, top, width, height]; };
        return { canvas: of(document.querySelector('.pictures canvas')), video: of(document.querySelector('video')) };
      })()`);
    for (const [width, height] of [
      [1280, 720],
      [500, 900],
      [1600, 500],
    ] as const) {
      await page.setViewportSize({ width, height });
      const high = Math.min(height, (width * 9) / 16);
      const expected = [(width - (high * 16) / 9) / 2, (height - high) / 2, (high * 16) / 9, high];
      await eventually(async () => (await box()).canvas.every((one, i) => Math.abs(one - (expected[i] ?? 0)) < 1.5));
    }
    await page.setViewportSize({ width: 1280, height: 720 });
    await page.keyboard.press('f');
    await eventually(async () => (await box()).canvas.join() === (await box()).video.join());
    await page.keyboard.press('c');
    await eventually(async () => (await page.locator('.pictures').count()) === 0);
    await app.close();
  });

  it('that are hostile neither freeze the page nor stop the film', async () => {
    const app = await openSignedIn(api.url, `/play/${film.itemId}?t=2`);
    const { page } = app;
    const head = Buffer.from('{"codec":"pgs"}');
    const length = Buffer.alloc(4);
    length.writeUInt32LE(head.length);
    /** A full screen each 20 ms, 4,000 of them, and one that says it has 65,535 lines. */
    const records = Array.from({ length: 4000 }, (_, n) => fullScreen(n * 20, n % 2 ? [1920, 1080] : [65_535, 65_535]));
    const body = Buffer.concat([Buffer.from('CIS1'), length, head, ...records, Buffer.alloc(4_000_000, 0x14)]);
    await page.route('**/images?**', (route) => route.fulfill({ body, contentType: 'application/octet-stream' }));
    const at = await playsFrom(app, 2.1);
    await page.evaluate(`(() => {
      window.longest = 0;
      new PerformanceObserver((list) => { for (const one of list.getEntries()) window.longest = Math.max(window.longest, one.duration); })
        .observe({ entryTypes: ['longtask'] });
    })()`);
    await turnOnSubtitles(app);
    await playsFrom(app, at + 8, 60_000);
    expect(await page.evaluate<number>('window.longest')).to.be.lessThan(250);
    expect((await drawn(page, AREA)).width, 'the good ones are drawn').to.equal(1920);
    await app.close();
  });
});

/** A record of CIS1 whose picture fills a plane. */
function fullScreen(timeMs: number, [width, height]: readonly [number, number]): Buffer {
  const segment = (type: number, data: number[]): number[] => [type, data.length >> 8, data.length & 255, ...data];
  const two = (value: number): number[] => [value >> 8, value & 255];
  const composition = [...two(width), ...two(height), 0x10, 0, 0, 0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0];
  const palette = [0, 0, 1, 200, 128, 128, 255];
  const line = [0, 0xc0 | (1920 >> 8), 1920 & 255, 1, 0, 0];
  const lines = Array.from({ length: 1080 }, () => line).flat();
  const object = [0, 0, 0, 0xc0, 0, 0, 0, ...two(1920), ...two(1080), ...lines];
  const bytes = Buffer.from(
    [segment(0x16, composition), segment(0x14, palette), segment(0x15, object), [0x80, 0, 0]].flat(),
  );
  const record = Buffer.alloc(20);
  record.writeDoubleLE(timeMs, 0);
  record.writeUInt32LE(bytes.length, 16);
  return Buffer.concat([record, bytes]);
}
