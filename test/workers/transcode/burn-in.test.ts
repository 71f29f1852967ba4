import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type StreamPlan, segmentStartMs } from '#areas/streaming/public.ts';
import { connectObjects, type Objects } from '#platform/objects.ts';
import { type Looked, look, planFor, render } from '#support/hls-render.ts';
import { tool } from '#support/hls-validator.ts';
import { temporaryFolder } from '#support/stores.ts';
import { SessionTexts } from '#workers/transcode/words.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

/** A display set of a Blu-ray's subtitles: a white box, or with `shown` false nothing. */
function displaySet(atMs: number, shown: boolean): Buffer {
  const u16 = (...values: number[]): number[] => values.flatMap((value) => [value >> 8, value & 255]);
  const segment = (type: number, ...data: number[]): Buffer => {
    const head = Buffer.alloc(13);
    head.write('PG');
    head.writeUInt32BE(atMs * 90, 2);
    head[10] = type;
    head.writeUInt16BE(data.length, 11);
    return Buffer.concat([head, Buffer.from(data)]);
  };
  const [x, y, width, height] = [40, 110, 240, 50];
  const object = shown ? [...u16(0), 0, 0, ...u16(x, y)] : [];
  const composition = segment(
    0x16,
    ...u16(320, 180),
    0x10,
    ...u16(0),
    shown ? 0x80 : 0,
    0,
    0,
    shown ? 1 : 0,
    ...object,
  );
  const window = segment(0x17, 1, 0, ...u16(x, y, width, height));
  const line = [0, 0xc0 | (width >> 8), width & 255, 1, 0, 0];
  const lines = new Array<number[]>(height).fill(line).flat();
  const picture = [...u16(0), 0, 0xc0, 0, ...u16(lines.length + 4), ...u16(width, height), ...lines];
  const drawn = shown ? [segment(0x14, 0, 0, 1, 235, 128, 128, 255), segment(0x15, ...picture)] : [];
  return Buffer.concat([composition, window, ...drawn, segment(0x80)]);
}

const SHOWN = [displaySet(1000, true), displaySet(3000, false), displaySet(5000, true), displaySet(7000, false)];

const [WIDTH, HEIGHT] = [160, 90];
const RATE = 24_000 / 1001;

describe('subtitles burned in', function () {
  this.timeout(120_000);
  let film: Looked;
  let plain: StreamPlan;
  let folder: string;
  let objects: Objects;

  before(async function () {
    this.timeout(600_000);
    folder = temporaryFolder('burn-in');
    objects = connectObjects(`file://${join(folder, 'objects')}`);
    await objects.prepare(['foyer-subtitles']);
    const [words, path] = [join(folder, 'words.sup'), join(folder, 'film.mkv')];
    writeFileSync(words, Buffer.concat(SHOWN));
    const made = join((await fixtures()).made, 'h264-multi.mkv');
    const maps = ['-map', '0:V', '-map', '0:a:0', '-map', '0:s:1', '-map', '0:s:0', '-map', '1:s'];
    await tool('ffmpeg', [
      '-v',
      'error',
      '-copyts',
      '-i',
      made,
      '-i',
      words,
      ...maps,
      '-c',
      'copy',
      '-max_interleave_delta',
      '0',
      path,
    ]);
    film = await look(path);
    plain = planFor(film, { mode: 'encode', height: HEIGHT });
  });

  const burning = (kind: 'text' | 'picture', streamIndex: number): StreamPlan => ({
    ...plain,
    source: { ...plain.source, fileId: 'film' },
    video: plain.video.map((video) => ({ ...video, burnIn: { kind, streamIndex, number: streamIndex - 2 } })),
  });

  /** Grey pictures of the segments from `from` to `to`, by the film's clock in ms. */
  async function seen(plan: StreamPlan, from: number, to: number): Promise<(atMs: number) => Buffer> {
    const texts = new SessionTexts(plan, {
      objects,
      scratchDir: folder,
      pathOf: async (path = '') => join(folder, path),
    });
    const burned = await texts.burned('v0', film.file);
    const { files, words } = await render(film, plan, { from, to, words: burned });
    texts.end();
    const names = Array.from({ length: to - from + 1 }, (_, i) => `v0/segments/${from + i}.m4s`);
    const parts = ['v0/segments/init.mp4', ...names].map((name) => files.get(name));
    expect(parts, `all made: ${words}`).to.not.include(undefined);
    const decode = ['-v', 'error', '-i', 'pipe:0', '-f', 'rawvideo', '-pix_fmt', 'gray', 'pipe:1'];
    const raw = await tool('ffmpeg', decode, Buffer.concat(parts as Buffer[]));
    return (atMs) => {
      const n = Math.floor(((atMs - segmentStartMs(plan, from)) * RATE) / 1000);
      return raw.subarray(n * WIDTH * HEIGHT, (n + 1) * WIDTH * HEIGHT);
    };
  }

  /** Pixels that differ visibly. */
  const changed = (a: Buffer, b: Buffer): number => a.filter((pixel, i) => Math.abs(pixel - (b[i] ?? 0)) > 40).length;

  for (const [what, kind, index] of [
    ['text inside the film', 'text', 3],
    ['pictures', 'picture', 4],
  ] as const) {
    it(`are visible while they are shown, and after a seek into their middle: ${what}`, async () => {
      const [bare, words] = [await seen(plain, 0, 2), await seen(burning(kind, index), 0, 2)];
      for (const at of [500, 3500]) expect(changed(bare(at), words(at)), `at ${at}`).to.equal(0);
      expect(changed(bare(1500), words(1500))).to.be.greaterThan(20);
      const sought = await seen(burning(kind, index), 1, 2);
      expect(changed(bare(2500), words(2500))).to.be.greaterThan(20);
      for (const at of [2500, 3500, 5500]) expect(changed(sought(at), words(at)), `at ${at}`).to.be.lessThan(10);
    });
  }

  /** A text file next to the film, under a new name. */
  const withText = (name: string, bytes: Buffer | string): StreamPlan => {
    writeFileSync(join(folder, name), bytes);
    const burnIn = { kind: 'text' as const, streamIndex: 9, number: 0, path: name };
    return { ...plain, video: plain.video.map((video) => ({ ...video, burnIn })) };
  };
  const cue = '1\n00:00:01,000 --> 00:00:03,000\n<b>GRÜSSE AUS KÖLN</b>\n';

  it('are visible from files next to the film, also of one in an old encoding', async () => {
    const bare = await seen(plain, 0, 0);
    const vtt = `WEBVTT\n\n${cue.replaceAll(',', '.')}`;
    for (const plan of [
      withText('a.srt', cue),
      withText('b.srt', Buffer.from(cue, 'latin1')),
      withText('c.vtt', vtt),
      withText("d ' [x],;.srt", cue),
    ]) {
      const words = await seen(plan, 0, 0);
      expect(changed(bare(1500), words(1500)), plan.video[0]?.burnIn?.path).to.be.greaterThan(20);
      expect(changed(bare(500), words(500))).to.equal(0);
    }
  });

  it('open no other file: a playlist that is called a subtitle is refused', async () => {
    const secret = join(folder, 'secret.srt');
    writeFileSync(secret, cue);
    const playlist = `#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\nfile://${secret}\n#EXT-X-ENDLIST\n`;
    const concat = `ffconcat version 1.0\nfile secret.srt\n`;
    for (const [name, text] of [
      ['e.srt', playlist],
      ['f.sub', concat],
      ['g.vtt', playlist],
    ] as const) {
      const deps = { objects, scratchDir: folder, pathOf: async (path = '') => join(folder, path) };
      const texts = new SessionTexts(withText(name, text), deps);
      const refused = await texts.burned('v0', film.file).catch((error: Error) => error);
      texts.end();
      expect(refused, name).to.be.an.instanceOf(Error);
    }
  });
});
