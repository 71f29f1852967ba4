import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { AS_MADE } from '#platform/subtitles/timing.ts';
import { tool } from '#support/hls-validator.ts';
import { block, cluster, film, pictureFilm, writeLargeFilm } from '#support/large-film.ts';
import {
  displaySetsOf,
  dvdFilm,
  type Packet,
  probedPackets,
  readCis1,
  realSup,
  repeatedSup,
} from '#support/picture-films.ts';
import { temporaryFolder } from '#support/stores.ts';
import { cis1 } from '#workers/subtitles/cis1.ts';
import { readPictures } from '#workers/subtitles/pictures-job.ts';
import { shownPictures, windowsOf } from '#workers/subtitles/shown-pictures.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

const SECONDS = 320;
const signal = new AbortController().signal;
const md5 = (bytes: Buffer): string => createHash('md5').update(bytes).digest('hex');
const named = (packets: readonly Packet[]): string[] => packets.map(({ timeMs, bytes }) => `${timeMs} ${md5(bytes)}`);

interface Film {
  file: string;
  container: string;
  index: number;
}

describe('pictures of subtitle tracks', function () {
  this.timeout(120_000);
  const folder = temporaryFolder('pictures');
  const at = (name: string): string => join(folder, name);
  let sup: Buffer;

  const read = async (
    { file, container, index }: Film,
    [fromMs, toMs]: [number, number],
    timing = AS_MADE,
  ): ReturnType<typeof shownPictures> =>
    shownPictures(timing, { fromMs, toMs }, (window, mostRead) =>
      readPictures({ file, container, scratchDir: folder }, { index, startMs: 0, ...window, mostRead, signal }),
    );
  const matroska = (name: string, index = 1): Film => ({ file: at(name), container: 'matroska', index });

  before(async function () {
    this.timeout(600_000);
    const { real } = await fixtures();
    sup = repeatedSup(
      realSup(real),
      Array.from({ length: Math.floor(SECONDS / 15) }, (_, n) => n * 15_000),
    );
    writeFileSync(at('long.sup'), sup);
    const picture = ['-f', 'lavfi', '-i', `color=s=64x36:r=5:d=${SECONDS}`];
    await tool('ffmpeg', ['-v', 'error', ...picture, '-c:v', 'libx264', '-g', '10', at('film.mkv')]);
  });

  /** The display sets of a stretch, from the last one before it that starts an epoch, as every picture of this track does. */
  const expected = (sets: readonly Packet[], [from, to]: [number, number]): Packet[] => {
    const start = sets.findLastIndex(({ timeMs, bytes }) => timeMs <= from && bytes[10] === 0x80);
    return sets.filter(({ timeMs }, n) => n >= start && timeMs < to);
  };

  it('of Blu-rays are those that mkvextract finds, however the file is written', async () => {
    const ways: Record<string, string[]> = {
      'indexed.mkv': ['film.mkv', 'long.sup'],
      'unindexed.mkv': ['--no-cues', 'film.mkv', '--compression', '0:none', 'long.sup'],
      'by-video.mkv': ['film.mkv', '--cues', '0:none', 'long.sup'],
      'zlib.mkv': ['film.mkv', '--cues', '0:none', '--compression', '0:zlib', 'long.sup'],
    };
    for (const [name, args] of Object.entries(ways)) {
      const files = args.map((arg) => (/\.(?:mkv|sup)$/.test(arg) ? at(arg) : arg));
      await tool('mkvmerge', ['-q', '-o', at(name), ...files]);
      await tool('mkvextract', ['-q', at(name), 'tracks', `1:${at('out.sup')}`]);
      const sets = displaySetsOf(readFileSync(at('out.sup')));
      expect(sets).to.have.length(6 * Math.floor(SECONDS / 15));
      for (const from of [0, 1500, 2500, 3000, 100_000, 200_500, 310_000]) {
        const stretch: [number, number] = [from, from + 40_000];
        const { packets, codec, untilMs } = await read(matroska(name), stretch);
        expect(named(packets), `${name} ${from}`).to.deep.equal(named(expected(sets, stretch)));
        expect([codec, untilMs]).to.deep.equal(['pgs', undefined]);
      }
    }
  });

  it('of Blu-rays come whole where each segment is a block of its own, and from transport streams', async () => {
    const copied = ['-i', at('film.mkv'), '-i', at('long.sup'), '-map', '0', '-map', '1', '-c', 'copy'];
    await tool('ffmpeg', ['-v', 'error', ...copied, '-mpegts_m2ts_mode', '1', '-f', 'mpegts', at('film.ts')]);
    // ffmpeg takes a track as a file of its own to begin at 0, so its times are a second earlier.
    const earlier = displaySetsOf(sup).map(({ timeMs, bytes }) => ({ timeMs: timeMs - 1000, bytes }));
    for (const stretch of [
      [0, 20_000],
      [200_500, 230_000],
    ] as [number, number][]) {
      const { packets } = await read({ file: at('film.ts'), container: 'mpegts', index: 1 }, stretch);
      expect(named(packets)).to.deep.equal(named(expected(earlier, stretch)));
    }
    const [whole] = displaySetsOf(sup);
    const segments = segmentsOf(whole?.bytes ?? Buffer.alloc(0));
    writeFileSync(at('split.mkv'), film(cluster(1000, ...segments.map((part) => block(2, 0, part)))));
    const { packets } = await read(matroska('split.mkv'), [0, 5000]);
    expect(named(packets)).to.deep.equal(named([{ timeMs: 1000, bytes: whole?.bytes ?? Buffer.alloc(0) }]));
  });

  it('of DVDs are those that ffprobe finds, with the palette of the track', async () => {
    const dvd = await dvdFilm(folder, SECONDS);
    await tool('ffmpeg', [
      '-v',
      'error',
      '-fflags',
      '+genpts',
      '-i',
      dvd,
      '-map',
      '0:v',
      '-map',
      '0:s',
      '-c',
      'copy',
      at('dvd.mkv'),
    ]);
    await tool('mkvmerge', ['-q', '-o', at('dvd-zlib.mkv'), at('dvd.mkv')]);
    const found = await probedPackets(at('dvd.mkv'), 's:0');
    expect(found).to.have.length(Math.floor(SECONDS / 15));
    const films = [matroska('dvd.mkv'), matroska('dvd-zlib.mkv'), { file: dvd, container: 'mpegps', index: 2 }];
    for (const film of films) {
      for (const from of [0, 3000, 17_000, 100_000, 250_000]) {
        const { packets, codec } = await read(film, [from, from + 50_000]);
        const start = Math.max(
          0,
          found.findLastIndex(({ timeMs }) => timeMs <= from),
        );
        const due = found.slice(start).filter(({ timeMs }) => timeMs < from + 50_000);
        expect(named(packets)).to.deep.equal(due.map((one) => `${one.timeMs} ${one.md5}`));
        expect(codec).to.equal('vobsub');
      }
    }
    const idx = 'size: 720x576\npalette: 000000, 0000ff, 00ff00, ff0000, ffff00, ff00ff, 00ffff, ffffff, 1, 2, 3';
    const whole = idx.replace(/ 1, 2, 3/, Array(8).fill(' 123abc').join(','));
    const header = (text: string) => readCis1(cis1({ codec: 'vobsub', header: text, packets: [] })).header;
    expect(header(whole)).to.deep.include({ width: 720, height: 576 });
    expect(header(whole).palette).to.have.length(16).and.include('#0000ff');
    expect(header(idx)).to.deep.equal({ codec: 'vobsub', width: 720, height: 576 });
  });

  it('are the same where header stripping took the first bytes of their blocks', async () => {
    mkdirSync(at('stripped'));
    const dvd = await dvdFilm(at('stripped'), 100);
    const copied = [
      '-fflags',
      '+genpts',
      '-i',
      dvd,
      '-map',
      '0:v',
      '-map',
      '0:s',
      '-c',
      'copy',
      at('stripped/dvd.mkv'),
    ];
    await tool('ffmpeg', ['-v', 'error', ...copied]);
    const vobsub = await read(matroska('stripped/dvd.mkv'), [0, 100_000]);
    const tracks = [
      { codec: 'S_HDMV/PGS', codecPrivate: Buffer.alloc(0), packets: displaySetsOf(sup).slice(0, 60) },
      { codec: 'S_VOBSUB', codecPrivate: Buffer.from(vobsub.header), packets: vobsub.packets },
    ];
    for (const track of tracks) {
      const stripped = commonBegin(track.packets.map(({ bytes }) => bytes));
      expect(stripped.length, track.codec).to.be.greaterThan(0);
      writeFileSync(at('whole.mkv'), pictureFilm(track, Buffer.alloc(0)));
      writeFileSync(at('stripped.mkv'), pictureFilm(track, stripped));
      const found = await probedPackets(at('stripped.mkv'), 's:0');
      expect(found.map(({ timeMs, md5: digest }) => `${timeMs} ${digest}`)).to.deep.equal(named(track.packets));
      for (const stretch of [
        [0, 20_000],
        [33_500, 70_000],
      ] as [number, number][]) {
        const [whole, own] = [
          await read(matroska('whole.mkv'), stretch),
          await read(matroska('stripped.mkv'), stretch),
        ];
        expect(cis1(own).equals(cis1(whole)), `${track.codec} ${stretch.join()}`).to.equal(true);
        expect(own.packets.length).to.be.greaterThan(1);
        expect(named(track.packets)).to.include.members(named(own.packets));
      }
    }
  });

  it('are at the times of the correction, pieces too', async () => {
    const sets = displaySetsOf(sup);
    const timing = { offsetMs: 500, rate: 1.02, pieces: [{ fromMs: 150_000, offsetMs: 20_000 }] };
    const shown = sets.map(({ timeMs, bytes }) => ({
      timeMs: Math.round(timeMs * 1.02) + (timeMs < 150_000 ? 500 : 20_000),
      bytes,
    }));
    for (const from of [0, 120_000, 160_000, 180_000]) {
      const { packets } = await read(matroska('indexed.mkv'), [from, from + 30_000], timing);
      expect(named(packets), String(from)).to.deep.equal(named(expected(shown, [from, from + 30_000])));
    }
    expect(windowsOf(timing, { fromMs: 160_000, toMs: 165_000 })).to.deep.equal([{ fromMs: 150_000, toMs: 150_000 }]);
  });

  it('end with a cut at 4,096 packets and at 32 MiB', () => {
    const packets = (count: number, size: number) =>
      Array.from({ length: count }, (_, n) => ({ timeMs: n, durationMs: 1, bytes: Buffer.alloc(size) }));
    const made = (count: number, size: number) =>
      readCis1(cis1({ codec: 'pgs', header: '', packets: packets(count, size) }));
    expect(made(4096, 1).end).to.deep.equal({ cut: false });
    const many = made(4097, 1);
    expect([many.packets.length, many.end]).to.deep.equal([4096, { cut: true, untilMs: 4096 }]);
    const large = made(40, 1 << 20);
    expect([large.packets.length, large.end]).to.deep.equal([31, { cut: true, untilMs: 31 }]);
    expect(large.packets[7]).to.include({ timeMs: 7, durationMs: 1 });
    expect(made(0, 0)).to.deep.equal({ header: { codec: 'pgs' }, packets: [], end: { cut: false } });
  });

  it('of a film of 60 GB are found in 64 MiB of it', async () => {
    const [whole] = displaySetsOf(sup);
    const picture = whole?.bytes ?? Buffer.alloc(0);
    writeLargeFilm(at('large.mkv'), picture);
    let loaded = 0;
    const found = await shownPictures(AS_MADE, { fromMs: 3_005_000, toMs: 3_600_000 }, async (window, mostRead) => {
      const query = { index: 1, startMs: 0, ...window, mostRead, signal };
      const part = await readPictures({ ...matroska('large.mkv'), scratchDir: folder }, query);
      loaded += part.loaded;
      return part;
    });
    expect(found.untilMs).to.equal(undefined);
    expect(found.packets.map(({ timeMs }) => timeMs)).to.deep.equal(
      Array.from({ length: 60 }, (_, n) => 3_000_000 + n * 10_000),
    );
    expect(loaded).to.be.lessThan(64 << 20);
  });
});

/** The bytes with which each of them begins. */
function commonBegin([first = Buffer.alloc(0), ...others]: readonly Buffer[]): Buffer {
  const length = first.findIndex((byte, n) => others.some((other) => other[n] !== byte));
  return first.subarray(0, length);
}

function segmentsOf(set: Buffer): Buffer[] {
  const parts: Buffer[] = [];
  for (let at = 0; at + 3 <= set.length; at += 3 + set.readUInt16BE(at + 1))
    parts.push(set.subarray(at, at + 3 + set.readUInt16BE(at + 1)));
  return parts;
}
