// Pictures of Blu-rays and DVDs, compared with ffmpeg's drawing of the same film.
import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tool } from '#support/hls-validator.ts';
import { displaySetsOf, drawnSup, dvdFilm, realSup } from '#support/picture-films.ts';
import { temporaryFolder } from '#support/stores.ts';
import { cis1 } from '#workers/subtitles/cis1.ts';
import { readPictures } from '#workers/subtitles/pictures-job.ts';
import { fixtures } from '../../../../hack/fixtures/index.ts';
import { Ahead, STRETCH_MS } from '../../../../web/src/core/subtitles/pictures/ahead.ts';
import { planeSize } from '../../../../web/src/core/subtitles/pictures/box.ts';
import { PictureReader, type Stretch } from '../../../../web/src/core/subtitles/pictures/reader.ts';
import type { Screen } from '../../../../web/src/core/subtitles/pictures/screen.ts';

const COLOURS = Array.from({ length: 16 }, (_, n) => (n * 0x0f_10_01 + 0x10_20_30).toString(16).padStart(6, '0'));
const MINUTE: Stretch = { fromMs: 0, toMs: 60_000 };

/** The parts of a screen over black, as RGB. */
function overBlack({ width, height, parts }: Screen): Buffer {
  const plane = Buffer.alloc(width * height * 3);
  for (const part of parts)
    for (let at = 0; at < part.width * part.height; at += 1) {
      const to = ((part.y + Math.floor(at / part.width)) * width + part.x + (at % part.width)) * 3;
      const alpha = (part.pixels[at * 4 + 3] ?? 0) / 255;
      for (const n of [0, 1, 2]) plane[to + n] = Math.round((part.pixels[at * 4 + n] ?? 0) * alpha);
    }
  return plane;
}

/** A moment of the film's subtitle as ffmpeg draws it over black. */
function drawnByFfmpeg(args: string[], size: string, second: number): Buffer {
  const black = ['-f', 'lavfi', '-i', `color=black:s=${size}:r=10:d=40,format=gbrp`];
  const graph = `[0:v][1:s:0]overlay=format=gbrp,trim=start=${second},format=rgb24`;
  const rest = ['-filter_complex', graph, '-frames:v', '1', '-f', 'rawvideo', '-'];
  const { stdout, stderr } = spawnSync('ffmpeg', ['-v', 'error', ...black, ...args, ...rest], { maxBuffer: 1 << 28 });
  if (stdout.length === 0) throw new Error(stderr.toString());
  return stdout;
}

function expectSame(screen: Screen | undefined, theirs: Buffer): void {
  if (!screen) throw new Error('nothing is drawn');
  const ours = overBlack(screen);
  expect(ours.length).to.equal(theirs.length);
  let [most, lit] = [0, 0];
  for (const [at, value] of ours.entries()) {
    most = Math.max(most, Math.abs(value - (theirs[at] ?? 0)));
    if (value > 40) lit += 1;
  }
  expect(lit, 'there is a picture').to.be.greaterThan(1000);
  expect(most, 'the largest difference of a colour').to.be.at.most(4);
}

const screenAt = (reader: PictureReader, ms: number): Screen | undefined =>
  reader.windowAt(ms).pictures.find(({ fromMs, toMs }) => fromMs <= ms && ms < toMs)?.screen;

describe('pictures of subtitles', function () {
  this.timeout(120_000);
  const folder = temporaryFolder('drawn-pictures');
  let pgs: Buffer;
  let vobsub: Buffer;
  let sup: Buffer;

  before(async function () {
    this.timeout(600_000);
    const { real } = await fixtures();
    sup = drawnSup(realSup(real), { x: 300, y: 700 });
    const packets = displaySetsOf(sup).map((one) => ({ ...one, durationMs: 0 }));
    pgs = cis1({ codec: 'pgs', header: '', packets });
    writeFileSync(join(folder, 'film.sup'), sup);
    const dvd = await dvdFilm(folder, 35);
    const copied = ['-map', '0:v', '-map', '0:s', '-c', 'copy', join(folder, 'dvd.mkv')];
    await tool('ffmpeg', ['-v', 'error', '-fflags', '+genpts', '-i', dvd, ...copied]);
    const film = { file: join(folder, 'dvd.mkv'), container: 'matroska', scratchDir: folder };
    const query = { ...MINUTE, index: 1, startMs: 0, mostRead: 1 << 30, signal: new AbortController().signal };
    const header = `size: 720x576\npalette: ${COLOURS.join(', ')}\n`;
    vobsub = cis1({ ...(await readPictures(film, query)), header });
  });

  it('of Blu-rays are those of ffmpeg, and are there for as long', () => {
    const reader = new PictureReader(pgs, MINUTE);
    const begin = displaySetsOf(sup).map(({ timeMs }) => timeMs);
    expect(begin).to.deep.equal([1000, 3000, 4000, 6000, 7000, 9000]);
    // ffmpeg takes a file of its own to begin at 0, a second earlier.
    for (const ms of [1500, 4500, 8000]) {
      const theirs = drawnByFfmpeg(['-i', join(folder, 'film.sup')], '1920x1080', ms / 1000 - 1);
      expectSame(screenAt(reader, ms), theirs);
    }
    for (const ms of [0, 999, 3000, 3999, 9000, 59_000]) expect(screenAt(reader, ms), String(ms)).to.equal(undefined);
    expect(screenAt(reader, 1000)).to.not.equal(undefined);
    expect(screenAt(reader, 2999)).to.not.equal(undefined);
  });

  it('of DVDs are those of ffmpeg, in the colours of the track', () => {
    const reader = new PictureReader(vobsub, MINUTE);
    const { pictures } = reader.windowAt(0);
    expect(pictures).to.have.length(2);
    for (const { fromMs, toMs, screen } of pictures) {
      expect(toMs - fromMs).to.be.within(2900, 3050);
      const args = ['-palette', COLOURS.join(','), '-i', join(folder, 'dvd.mkv')];
      expectSame(screen, drawnByFfmpeg(args, '720x576', fromMs / 1000 + 1));
    }
  });

  it('that are damaged are passed over, in bounded time and memory', () => {
    let [seed, refused] = [7, 0];
    const random = (below: number): number => {
      seed = (Math.imul(seed, 1_103_515_245) + 12_345) >>> 0;
      return Math.floor((seed / 2 ** 32) * below);
    };
    for (let round = 0; round < 300; round += 1) {
      const bytes = Buffer.from(round % 2 ? pgs : vobsub);
      const from = round % 4 < 2 ? 0 : Math.min(120, bytes.length);
      for (let n = 0; n < 1 + random(40); n += 1)
        bytes[from + random(Math.min(600, bytes.length - from))] = random(256);
      const begin = performance.now();
      try {
        const reader = new PictureReader(bytes.subarray(0, random(4) ? bytes.length : random(bytes.length)), MINUTE);
        for (const ms of [0, 1500, 4500, 17_500]) {
          const { toMs, pictures } = reader.windowAt(ms);
          expect(pictures.length).to.be.at.most(3);
          expect(toMs).to.be.at.most(MINUTE.toMs);
        }
      } catch {
        refused += 1;
      }
      expect(performance.now() - begin).to.be.lessThan(2000);
    }
    expect(refused, 'most are read').to.be.lessThan(200);
    const head = (width: number, height: number): Buffer => {
      const set = Buffer.from(displaySetsOf(sup)[0]?.bytes ?? []);
      set.writeUInt16BE(width, 3);
      set.writeUInt16BE(height, 5);
      return set;
    };
    const huge = { timeMs: 100, durationMs: 0, bytes: head(65_535, 65_535) };
    const good = { timeMs: 1000, durationMs: 0, bytes: head(1920, 1080) };
    const reader = new PictureReader(cis1({ codec: 'pgs', header: '', packets: [huge, good] }), MINUTE);
    expect(screenAt(reader, 500)).to.equal(undefined);
    expect(screenAt(reader, 1500)?.width).to.equal(1920);
  });

  it('of a stretch that the server cut go on where it ended', () => {
    const [loads, drawn]: [Stretch[], number[]] = [[], []];
    const ahead = new Ahead({ load: (one) => loads.push(one), draw: (ms) => drawn.push(ms), now: () => 0 });
    ahead.at(40_000);
    ahead.at(41_000);
    expect(loads).to.deep.equal([{ fromMs: 0, toMs: STRETCH_MS }]);
    ahead.read({ fromMs: 0, toMs: 30_000 });
    ahead.at(41_000);
    expect(loads.at(-1)).to.deep.equal({ fromMs: 30_000, toMs: STRETCH_MS });
    ahead.read({ fromMs: 30_000, toMs: STRETCH_MS });
    expect(drawn).to.deep.equal([]);
    ahead.at(41_000);
    ahead.at(41_500);
    expect(drawn, 'one at a time').to.deep.equal([41_000]);
    ahead.take({ fromMs: 41_000, toMs: STRETCH_MS, pictures: [{ fromMs: 41_000, toMs: 43_000 }] });
    expect(ahead.at(42_000)).to.deep.equal({ fromMs: 41_000, toMs: 43_000 });
    ahead.at(STRETCH_MS - 20_000);
    expect(drawn, 'the last of the stretch are drawn once').to.deep.equal([41_000]);
    expect(loads.at(-1)).to.deep.equal({ fromMs: STRETCH_MS, toMs: 2 * STRETCH_MS });
    expect(loads).to.have.length(3);
  });

  it('of a stretch that cannot be read are neither requested nor drawn again', () => {
    const [loads, drawn]: [Stretch[], number[]] = [[], []];
    const ahead = new Ahead({ load: (one) => loads.push(one), draw: (ms) => drawn.push(ms), now: () => 0 });
    ahead.at(1000);
    ahead.unreadable({ fromMs: 0, toMs: STRETCH_MS });
    for (const ms of [1000, 2000, 3000]) expect(ahead.at(ms)).to.equal(undefined);
    expect([loads.length, drawn]).to.deep.equal([1, []]);
  });

  it('lie where the disc has them, whatever was cut from the film', () => {
    const [hd, wide] = [
      { width: 1920, height: 1080 },
      { width: 1920, height: 800 },
    ];
    expect(planeSize(hd, { width: 1280, height: 720 }, { width: 1280, height: 1000 })).to.deep.equal({
      ...{ width: 1280, height: 720 },
    });
    expect(planeSize(hd, wide, hd)).to.deep.equal(hd);
    expect(planeSize(hd, wide, wide).height).to.equal(800);
    expect(planeSize({ width: 720, height: 576 }, wide, hd)).to.deep.equal(wide);
  });
});
