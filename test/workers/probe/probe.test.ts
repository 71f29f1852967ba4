import { copyFile, mkdtemp, readdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { ProbedFile, ProbedStream } from '#platform/media.ts';
import { tool } from '#support/hls-validator.ts';
import { readKeyframes } from '#workers/probe/keyframes.ts';
import { ProbeError, probeFile, readInProcess, runFfprobe } from '#workers/probe/probe.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

const MEDIA = /\.(mkv|mp4|m4a|webm|mov)$/;
/** Files whose pictures are gone in the middle or at the end: the index still names keyframes that no packet has. */
const DAMAGED = /^(zeroed|truncated)/;
/** Values that only one of the two knows: ffprobe no constraint flags and no BCP 47, the index no private colours. */
const BLURRED: readonly (keyof ProbedStream)[] = ['codecString', 'mime', 'fileName', 'bitrate', 'language'];

let made: string;
let real: string;

before(async function () {
  this.timeout(600_000);
  ({ made, real } = await fixtures());
});

const at = (name: string): string => join(made, name);

async function faultOf(path: string): Promise<string> {
  try {
    await probeFile(path);
  } catch (error) {
    return error instanceof ProbeError ? error.fault : String(error);
  }
  return 'none';
}

async function files(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => MEDIA.test(name)).map((name) => join(folder, name));
}

function withoutBlurred(stream: ProbedStream): Partial<ProbedStream> {
  const kept: Partial<ProbedStream> = { ...stream };
  for (const key of BLURRED) delete kept[key];
  return kept;
}

/** One frame, or 42 ms for sound alone. */
function frameMs(file: ProbedFile): number {
  const rate = file.streams.find((stream) => stream.frameRate)?.frameRate ?? 24;
  return Math.ceil(1000 / rate) + 1;
}

describe('probeFile', function () {
  this.timeout(120_000);

  it('agrees with ffprobe on every file that it reads in process', async () => {
    const compared: string[] = [];
    for (const path of [...(await files(made)), ...(await files(join(real, 'video')))]) {
      const read = await readInProcess(path).catch(() => undefined);
      if (!read?.probed) continue;
      const [ours, theirs] = [read.probed.file, (await runFfprobe(path, read.sniffed)).file];
      expect(ours.streams.map(withoutBlurred), path).to.deep.equal(theirs.streams.map(withoutBlurred));
      const primary = (file: ProbedFile) => file.streams.map((stream) => stream.language?.split('-')[0]);
      expect(primary(ours), path).to.deep.equal(primary(theirs));
      expect(ours.durationMs, path).to.be.closeTo(theirs.durationMs, frameMs(ours));
      expect(ours.startMs, path).to.be.closeTo(theirs.startMs, 1);
      expect(ours.container, path).to.equal(theirs.container);
      expect(ours.tags, path).to.deep.equal(theirs.tags);
      expect(
        ours.chapters.map((c) => [c.startMs, c.title]),
        path,
      ).to.deep.equal(theirs.chapters.map((c) => [c.startMs, c.title]));
      compared.push(path);
    }
    expect(compared.length).to.be.greaterThan(25);
  });

  it('finds the keyframes that the packets have, to a millisecond', async () => {
    let compared = 0;
    for (const path of await files(made)) {
      const probed = await probeFile(path).catch(() => undefined);
      if (!probed?.keyframes || DAMAGED.test(path.split('/').at(-1) ?? '')) continue;
      const packets = await readKeyframes(path, probed.file);
      expect(probed.keyframes.length, path).to.equal(packets.length);
      for (const [i, time] of probed.keyframes.entries())
        expect(time, `${path} ${i}`).to.be.closeTo(packets[i] ?? -1, 1);
      compared += 1;
    }
    expect(compared).to.be.greaterThan(20);
  });

  it('names only keyframes that ffmpeg may cut at where the index lists a part of them', async () => {
    const path = join(real, 'video/bbb_full_720p.mp4');
    const { file, keyframes = [] } = await probeFile(path);
    const packets = await readKeyframes(path, file);
    expect(keyframes).to.have.length(117);
    expect(keyframes.filter((time) => !packets.some((p) => Math.abs(p - time) <= 1))).to.deep.equal([]);
  });

  it('knows tracks, languages, flags, fonts and covers of a Matroska file without ffprobe', async () => {
    const { file } = await probeFile(at('h264-multi.mkv'));
    expect(file.streams.map((s) => [s.kind, s.codec, s.language])).to.deep.equal([
      ['video', 'h264', undefined],
      ['audio', 'aac', 'en'],
      ['audio', 'ac3', 'fr'],
      ['audio', 'eac3', 'es'],
      ['subtitle', 'subrip', 'en'],
      ['subtitle', 'ass', 'de'],
      ['subtitle', 'pgs', 'pt-BR'],
      ['attachment', 'ttf', undefined],
      ['video', 'mjpeg', undefined],
    ]);
    expect(file.streams.filter((s) => s.forced).map((s) => s.index)).to.deep.equal([4]);
    expect(file.streams.filter((s) => s.hearingImpaired).map((s) => s.index)).to.deep.equal([5]);
    expect(file.streams[3]?.title).to.equal('Commentary');
    expect(file.streams[7]).to.include({ fileName: 'Sample Font.ttf', mime: 'font/ttf' });
    expect(file.streams[8]?.attachedPicture).to.equal(true);
    expect(file.chapters).to.deep.equal([
      { startMs: 0, endMs: 6500, title: 'Opening' },
      { startMs: 6500, endMs: 15_250, title: 'Middle' },
      { startMs: 15_250, endMs: file.durationMs, title: 'Credits' },
    ]);
    expect(file.tags).to.deep.equal({ title: 'Many: tracks' });
  });

  it('knows the sound that is marked as original, as ffprobe does', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'foyer-original-'));
    const path = join(folder, 'marked.mkv');
    const copy = ['-map', '0:V', '-map', '0:a', '-c', 'copy', '-disposition:a:1', 'original'];
    await tool('ffmpeg', ['-v', 'error', '-i', at('h264-multi.mkv'), ...copy, path]);
    const { probed, sniffed } = await readInProcess(path);
    const marked = (file: ProbedFile | undefined) => file?.streams.filter((s) => s.original).map((s) => s.index);
    expect(marked(probed?.file)).to.deep.equal([2]);
    expect(marked((await runFfprobe(path, sniffed)).file)).to.deep.equal([2]);
    await rm(folder, { recursive: true });
  });

  it('reads HDR, depth and CODECS strings', async () => {
    const video = async (name: string) => (await probeFile(at(name))).file.streams[0];
    expect(await video('hevc-hdr10.mkv')).to.include({
      hdr: 'hdr10',
      bitDepth: 10,
      pixelFormat: 'yuv420p10le',
      codecString: 'hvc1.2.4.L60.90',
    });
    expect(await video('hevc-hlg.mp4')).to.include({ hdr: 'hlg', profile: 'Main 10' });
    expect(await video('h264-aac.mp4')).to.include({
      codecString: 'avc1.64000c',
      frameRate: 23.976,
      interlaced: false,
    });
    expect(await video('mpeg2-ac3.ts')).to.include({ codec: 'mpeg2', interlaced: true });
    expect(await video('h264-interlaced.mkv')).to.include({ interlaced: true });
    expect(await video('h264-rotated.mp4')).to.include({ rotation: 270 });
  });

  it('takes the start of the file off the length and the keyframes', async () => {
    const offset = await probeFile(at('h264-flac-offset.mkv'));
    expect(offset.file).to.include({ startMs: 5000, durationMs: 10_000 });
    expect(offset.keyframes).to.deep.equal([0, 2000, 4000, 6000, 8000]);
    const ts = await probeFile(at('h264-aac-offset.ts'));
    expect(ts.file.startMs).to.equal(1_001_379);
    expect(ts.keyframes).to.equal(undefined);
    expect((await readKeyframes(at('h264-aac-offset.ts'), ts.file)).map((t) => Math.round(t / 100))).to.deep.equal([
      0, 20, 40, 60,
    ]);
  });

  it('refuses lists of other files under any name', async () => {
    for (const name of ['playlist.mp4', 'playlist-bom.mkv', 'dash.mkv', 'concat.mkv', 'sdp.mp4']) {
      expect(await faultOf(at(name)), name).to.equal('playlist-refused');
    }
  });

  it('reports the fault of an invalid file', async () => {
    expect(await faultOf(at('empty.mkv'))).to.equal('not-media');
    expect(await faultOf(at('garbage.mkv'))).to.equal('not-media');
    expect(await faultOf(at('text.mkv'))).to.equal('not-media');
    expect(await faultOf(at('no-moov.mp4'))).to.equal('corrupt');
    expect(await faultOf(at('missing.mkv'))).to.equal('unreadable');
  });

  it('never runs a decoder that is not on the list', async () => {
    expect(await faultOf(at('magicyuv.avi'))).to.equal('codec-refused');
  });

  it('reports that a file is cut', async () => {
    expect((await probeFile(at('truncated.mkv'))).truncated).to.equal(true);
    expect((await probeFile(at('truncated-faststart.mp4'))).truncated).to.equal(true);
    expect((await probeFile(at('truncated.avi'))).truncated).to.equal(true);
    expect((await probeFile(at('mpeg4-mp3.avi'))).truncated).to.equal(undefined);
    expect((await probeFile(at('h264-multi.mkv'))).truncated).to.equal(undefined);
  });

  it('reports that fragments are cut, and a film whose index lies before data of no stated size', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'foyer-cut-'));
    try {
      const fragments = await readFile(at('h264-fragmented.mp4'));
      const whole = await readFile(at('h264-aac.mp4'));
      whole.writeUInt32BE(0, whole.indexOf('mdat') - 4); // as far as the file goes
      for (const bytes of [fragments, whole]) {
        const path = join(folder, 'film.mp4');
        await writeFile(path, bytes);
        expect((await probeFile(path)).truncated).to.equal(undefined);
        await truncate(path, Math.floor(bytes.length * 0.6));
        expect((await probeFile(path)).truncated).to.equal(true);
      }
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('reports that samples were never written, and no zeros next to them', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'foyer-hollow-'));
    try {
      const path = join(folder, 'film.mp4');
      const whole = await readFile(at('h264-aac-end.mp4'));
      const free = Buffer.alloc(100_000);
      free.writeUInt32BE(free.length, 0);
      free.write('free', 4);
      await writeFile(path, Buffer.concat([whole, free]));
      const zeros = [{ at: whole.length + 8, size: free.length - 8 }];
      expect((await probeFile(path, { zeros })).hollow).to.equal(undefined);
      expect((await probeFile(path, { zeros: [{ at: 65_536, size: 16_384 }] })).hollow).to.equal(true);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('opens files with any name', async () => {
    for (const name of await readdir(at('names'), 'buffer')) {
      const path = Buffer.concat([Buffer.from(`${at('names')}/`), name]);
      if (Buffer.from(name.toString('utf8')).equals(name))
        expect((await probeFile(path.toString('utf8'))).file.durationMs).to.be.closeTo(2021, 1);
    }
    const odd = await mkdtemp(join(tmpdir(), 'foyer-probe-'));
    try {
      await copyFile(at('mpeg4-mp3.avi'), join(odd, `-x "q"'s\n%d.avi`));
      expect((await probeFile(join(odd, `-x "q"'s\n%d.avi`))).file.container).to.equal('avi');
    } finally {
      await rm(odd, { recursive: true });
    }
  });

  it('stops on request', async () => {
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    await probeFile(at('mpeg4-mp3.avi'), { signal: controller.signal }).then(
      () => expect.fail('it went on'),
      (error: unknown) => expect(error).to.have.property('message', 'enough'),
    );
  });
});
