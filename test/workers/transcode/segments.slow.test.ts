import { join } from 'node:path';
import { expect } from 'chai';
import { segmentCount } from '#areas/streaming/public.ts';
import { look, planFor, type Rendered, readFrom, render, type StreamChoice } from '#support/hls-render.ts';
import {
  type CheckedRendition,
  decoded,
  frameSums,
  type HlsReport,
  tool,
  validateHls,
} from '#support/hls-validator.ts';
import { temporaryFolder } from '#support/stores.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

interface Case {
  file: string;
  choice: StreamChoice;
  /** How far copied sound may lie off, s. */
  slack?: number;
}

const encode = (file: string, more: Partial<StreamChoice> = {}): Case => ({
  file,
  choice: { mode: 'encode', ...more },
});
const copy = (file: string, slack = 0): Case => ({ file, choice: { mode: 'copy', copyAudio: true }, slack });

/**
 * Every made film that is played, encoded, and copied where a player may take it so and picture and sound begin at once: odd and long GOPs, open GOPs, B-frames,
 * start times other than 0, uneven rates, interlaced, formats without an index.
 */
const cases: Case[] = [
  ...['h264-aac.mp4', 'h264-aac-end.mp4', 'h264-vgop.mp4', 'h264-base.mkv', 'h264-multi.mkv'].map((file) =>
    encode(file),
  ),
  ...['h264-gop40.mp4', 'h264-50fps.mp4', 'h264-rotated.mp4', 'h264-late-audio.mp4'].map((file) => encode(file)),
  ...['h264-nocues.mkv', 'h264-fragmented.mp4', 'h264-allintra.mkv', 'h264-flac-offset.mkv'].map((file) =>
    encode(file),
  ),
  encode('h264-interlaced.mkv', { deinterlace: true }),
  ...['hevc-opengop.mkv', 'hevc-opengop.mp4', 'hevc-hvc1.mp4'].map((file) => encode(file)),
  encode('hevc-hdr10.mkv', { toneMap: true }),
  encode('hevc-hlg.mp4', { toneMap: true }),
  ...['h264-aac-offset.ts', 'h264-aac.m2ts', 'h264.flv', 'tiny.mkv', 'tiny.mp4'].map((file) => encode(file)),
  encode('mpeg2-ac3.ts', { deinterlace: true }),
  ...['mpeg2-mp2.mpg', 'mpeg4-mp3.avi', 'mpeg4-mp3.mkv', 'mpeg4-ac3.mov', 'wmv2.wmv'].map((file) => encode(file)),
  ...['mjpeg-pcm.mov', 'vp8-vorbis.webm', 'vp9-opus.webm', 'av1-opus.mp4', 'av1-opus.webm'].map((file) => encode(file)),
  ...['h264-aac.mp4', 'h264-aac-end.mp4', 'h264-vgop.mp4', 'h264-50fps.mp4'].map((file) => copy(file)),
  ...['h264-rotated.mp4', 'tiny.mp4'].map((file) => copy(file)),
  ...['h264-base.mkv', 'h264-multi.mkv', 'h264-nocues.mkv', 'h264-allintra.mkv'].map((file) => copy(file, 0.001)),
  ...['h264-interlaced.mkv', 'h264-flac-offset.mkv', 'tiny.mkv'].map((file) => copy(file, 0.001)),
  ...['hevc-opengop.mkv', 'hevc-hdr10.mkv', 'vp9-opus.webm', 'av1-opus.webm'].map((file) => copy(file, 0.001)),
  ...['hevc-opengop.mp4', 'hevc-hvc1.mp4', 'hevc-hlg.mp4', 'av1-opus.mp4'].map((file) => copy(file)),
  ...['h264-aac-offset.ts', 'h264-aac.m2ts', 'h264.flv'].map((file) => copy(file, 0.001)),
];

/** Their timestamps are rounded to milliseconds, or were in the file that they were copied from. */
const FROM_MS = /mkv|webm|wmv|flv|opengop|tiny/;

const bytesOf = (made: Rendered, { segments }: CheckedRendition): Buffer[] =>
  segments.map(({ uri }) => made.files.get(uri) ?? Buffer.alloc(0));

/** Mean power of the difference against full scale, dB; the first samples do not overlap with earlier ones. */
function likeness(kind: CheckedRendition['kind'], a: Buffer, b: Buffer): number {
  let [difference, count] = [0, 0];
  const from = kind === 'audio' ? 8192 : 0;
  for (let i = from; i + 1 < Math.min(a.length, b.length); i += kind === 'audio' ? 2 : 1) {
    const step = kind === 'audio' ? (a.readInt16LE(i) - b.readInt16LE(i)) / 128 : (a[i] ?? 0) - (b[i] ?? 0);
    difference += step * step;
    count += 1;
  }
  return 10 * Math.log10((255 * 255 * count) / Math.max(difference, 1e-9));
}

/** Likeness of two sounds of which one may lie up to a millisecond late, and by how many samples it does. */
function aligned(a: Buffer, b: Buffer): { alike: number; shift: number } {
  let best = { alike: Number.NEGATIVE_INFINITY, shift: 0 };
  for (let shift = -64; shift <= 64; shift += 1) {
    const alike = likeness('audio', a.subarray(Math.max(0, shift) * 2), b.subarray(Math.max(0, -shift) * 2));
    if (alike > best.alike) best = { alike, shift: Math.abs(shift) };
  }
  return best;
}

describe('segments', function () {
  this.timeout(120_000);
  let folder: string;
  before(async function () {
    this.timeout(600_000);
    folder = (await fixtures()).made;
  });

  for (const { file, choice, slack = 0 } of cases) {
    it(`of ${file} by ${choice.mode} are whole, and the same by play and by seek`, async () => {
      const looked = await look(join(folder, file));
      const plan = planFor(looked, choice);
      const made = { name: file, ...(await render(looked, plan)) };
      expect(made.code, made.words).to.equal(0);
      const report: HlsReport = await validateHls(readFrom(made), {
        durationMs: looked.durationMs,
        audioSlackSec: slack,
      });
      expect(report.faults).to.deep.equal([]);
      for (const rendition of report.renditions) {
        const frames = await frameSums(rendition, bytesOf(made, rendition));
        const samples = rendition.segments.reduce((sum, one) => sum + one.samples.length, 0);
        expect(frames.length, `${rendition.path}: decoded frames`).to.equal(samples);
      }
      const n = Math.min(Math.ceil(segmentCount(plan) / 2), segmentCount(plan) - 1);
      const sought = await render(looked, plan, { from: n, to: n });
      for (const rendition of report.renditions) await compare({ made, sought, rendition, n }, choice);
    });
  }

  it('show the same picture after a seek, however late it began behind the sounds', async () => {
    const late = join(temporaryFolder('late'), 'late.ts');
    const sound = (from: number): string[] => ['-itsoffset', String(from), '-f', 'lavfi', '-i', 'sine=duration=9'];
    await tool('ffmpeg', [
      ...['-v', 'error', '-itsoffset', '1.6', '-f', 'lavfi', '-i', 'testsrc2=s=320x180:r=25:d=8', ...sound(0.8)],
      ...[...sound(0), '-map', '0', '-map', '1', '-map', '2', '-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25'],
      ...['-pix_fmt', 'yuv420p', '-c:a', 'aac', late],
    ]);
    const looked = await look(late);
    const plan = planFor(looked, { mode: 'encode' });
    const made = await render(looked, plan);
    const { faults, renditions } = await validateHls(readFrom(made), { durationMs: looked.durationMs });
    expect(faults).to.deep.equal([]);
    const sought = await render(looked, plan, { from: 2, to: 2 });
    for (const rendition of renditions) {
      await compare({ made: { ...made, name: 'late.ts' }, sought, rendition, n: 2 }, { mode: 'encode' });
    }
    const copied = planFor(looked, { mode: 'copy' });
    const copy = await render(looked, copied);
    const report = await validateHls(readFrom(copy), { durationMs: looked.durationMs });
    const picture = report.renditions.find(({ kind }) => kind === 'video');
    const starts = picture?.segments.map(({ startSec }) => Math.round(startSec * 1000)).slice(1);
    expect(starts).to.deep.equal(copied.boundaries?.slice(1));
  });

  async function compare(
    {
      made,
      sought,
      rendition,
      n,
    }: { made: Rendered & { name: string }; sought: Rendered; rendition: CheckedRendition; n: number },
    choice: StreamChoice,
  ): Promise<void> {
    const uri = rendition.segments[n]?.uri ?? '';
    const [played, seeked] = [made.files.get(uri), sought.files.get(uri)];
    if (!played || !seeked) throw new Error(`${uri} was not made`);
    const copied = rendition.kind === 'video' ? choice.mode === 'copy' : choice.copyAudio === true;
    const [a, b] = [await frameSums(rendition, [played]), await frameSums(rendition, [seeked])];
    if (copied) {
      expect(b.map((one) => one.md5)).to.deep.equal(a.map((one) => one.md5));
      for (const [i, one] of b.entries())
        expect(one.pts).to.be.closeTo(a[i]?.pts ?? 0, rendition.kind === 'video' ? 0 : rendition.timescale / 1000);
      return;
    }
    expect(b.map((one) => one.pts)).to.deep.equal(a.map((one) => one.pts));
    const pictures = [await decoded(rendition, [played]), await decoded(rendition, [seeked])] as const;
    if (rendition.kind === 'video') {
      // Another frame of the moving test picture is alike to 28 dB at most.
      expect(likeness('video', ...pictures), `${uri}: alike`).to.be.greaterThan(36);
      return;
    }
    const { alike, shift } = aligned(...pictures);
    expect(alike, `${uri}: alike`).to.be.greaterThan(40);
    // A container that rounds to milliseconds does not place a packet more exactly.
    expect(shift, `${uri}: samples off`).to.be.at.most(FROM_MS.test(made.name) ? 48 : 1);
  }

  it('join without an audible sound where one run of the encoder ends and another begins', async () => {
    const looked = await look(join(folder, 'h264-aac.mp4'));
    const plan = planFor(looked, { mode: 'encode' });
    const made = await render(looked, plan);
    const other = await render(looked, plan, { from: 3 });
    const { renditions } = await validateHls(readFrom(made), { durationMs: looked.durationMs });
    const sound = renditions.find((one) => one.kind === 'audio');
    if (!sound) throw new Error('no sound');
    const joined = sound.segments.map(({ uri }, n) => (n < 3 ? made : other).files.get(uri) ?? Buffer.alloc(0));
    const [whole, mixed] = [await decoded(sound, bytesOf(made, sound)), await decoded(sound, joined)];
    expect(mixed.length).to.equal(whole.length);
    expect(likeness('audio', whole, mixed)).to.be.greaterThan(60);
  });

  it('are dropped whole, not cut, when the encoder is killed', async () => {
    const looked = await look(join(folder, 'h264-gop40.mp4'));
    const plan = planFor(looked, { mode: 'encode' });
    const made = await render(looked, plan, { to: 2 });
    const whole = await render(looked, plan);
    for (const [path, bytes] of made.files) {
      if (path.endsWith('.m4s') && path.startsWith('v0'))
        expect(bytes.equals(whole.files.get(path) ?? Buffer.alloc(0))).to.equal(true);
    }
  });

  for (const name of ['h264-aac.mp4', 'h264-base.mkv', 'h264-aac-offset.ts']) {
    for (const mode of ['encode', 'copy'] as const) {
      it(`of ${name} by ${mode} as a transport stream continue one another, by play and by seek`, async () => {
        const looked = await look(join(folder, name));
        const plan = planFor(looked, { mode, container: 'ts' });
        const made = await render(looked, plan);
        const count = segmentCount(plan);
        const pieces = Array.from(
          { length: count },
          (_, n) => made.files.get(`v0/segments/${n}.ts`) ?? Buffer.alloc(0),
        );
        const n = Math.ceil(count / 2);
        const sought = (await render(looked, plan, { from: n, to: n })).files.get(`v0/segments/${n}.ts`);
        const all = await packets(Buffer.concat(pieces));
        for (const kind of ['video', 'audio']) {
          const times = all
            .filter((one) => one.kind === kind)
            .map((one) => one.pts)
            .sort((a, b) => a - b);
          const steps = times.slice(1).map((pts, i) => pts - (times[i] ?? 0));
          expect(Math.max(...steps), kind).to.be.lessThan(Math.min(...steps) * 2);
          expect(times.at(-1), kind).to.be.greaterThan(10 + looked.durationMs / 1000 - 0.1);
        }
        const played = await packets(pieces[n] ?? Buffer.alloc(0));
        expect(await packets(sought ?? Buffer.alloc(0))).to.deep.equal(played);
        expect(played.find((one) => one.kind === 'video')?.key).to.equal(true);
      });
    }
  }

  async function packets(bytes: Buffer): Promise<{ kind: string; pts: number; key: boolean }[]> {
    const shown = ['-show_entries', 'packet=codec_type,pts_time,flags', '-of', 'csv=p=0'];
    const text = (await tool('ffprobe', ['-v', 'error', '-f', 'mpegts', ...shown, '-i', 'pipe:0'], bytes)).toString();
    return text
      .trim()
      .split('\n')
      .map((line) => line.split(','))
      .map(([kind = '', pts, flags]) => ({ kind, pts: Number(pts), key: flags?.startsWith('K') ?? false }))
      .sort((a, b) => a.kind.localeCompare(b.kind) || a.pts - b.pts);
  }
});
