import { chmodSync, statSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { addressOf } from '#areas/storage/serving/ranges.ts';
import { tool } from '#support/hls-validator.ts';
import { drawnSup, realSup, repeatedSup } from '#support/picture-films.ts';
import { temporaryFolder } from '#support/stores.ts';
import { forcedAmong } from '#workers/subtitles/forced-pictures.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

const SECONDS = 240;
const TRACKS = [1, 2, 3, 4, 5, 6];

describe('the look for forced pictures', function () {
  this.timeout(120_000);
  const folder = temporaryFolder('forced-reads');
  const at = (name: string): string => join(folder, name);
  const { signal } = new AbortController();
  const common = { startMs: 0, durationMs: SECONDS * 1000, scratchDir: folder, signal };

  before(async function () {
    this.timeout(600_000);
    const real = realSup((await fixtures()).real);
    const starts = Array.from({ length: SECONDS / 15 }, (_, n) => n * 15_000);
    writeFileSync(at('plain.sup'), repeatedSup(drawnSup(real), starts));
    writeFileSync(at('forced.sup'), repeatedSup(drawnSup(real, { forced: true }), starts));
    const picture = ['-f', 'lavfi', '-i', `testsrc2=s=128x72:r=25:d=${SECONDS}`];
    await tool('ffmpeg', ['-v', 'error', ...picture, '-c:v', 'rawvideo', '-g', '25', at('film.mkv')]);
    const noisy = ['-f', 'lavfi', '-i', `testsrc2=s=320x180:r=25:d=${SECONDS},noise=alls=60:allf=t`];
    const maps = ['-map', '0', ...TRACKS.flatMap(() => ['-map', '1'])];
    const coded = ['-c:v', 'mpeg2video', '-b:v', '4M', '-maxrate', '4M', '-bufsize', '2M', '-c:s', 'copy'];
    const disc = ['-mpegts_m2ts_mode', '1', '-f', 'mpegts', at('film.m2ts')];
    await tool('ffmpeg', ['-v', 'error', ...noisy, '-i', at('plain.sup'), ...maps, ...coded, ...disc]);
  });

  /** Tracks that are forced, and how many bytes and reads of the file were needed. */
  async function looked(name: string, container: string): Promise<{ forced: number[]; bytes: number; reads: number }> {
    const [size, file] = [statSync(at(name)).size, await open(at(name))];
    let [bytes, reads] = [0, 0];
    const read = async (_: string, { start, length }: { start: number; length: number }): Promise<Buffer> => {
      const got = await file.read(Buffer.alloc(length), 0, length, start);
      bytes += got.bytesRead;
      reads += 1;
      return got.buffer.subarray(0, got.bytesRead);
    };
    const address = await addressOf({ reader: { read }, path: name, size, modifiedMs: 1 });
    try {
      const film = { ...common, file: address, container, sizeBytes: size };
      return { forced: await forcedAmong(film, TRACKS), bytes, reads };
    } finally {
      await file.close();
    }
  }

  it('reads little of a film whose tracks are ordinary ones', async () => {
    const tracks = (...options: string[]): string[] => TRACKS.flatMap(() => [...options, at('plain.sup')]);
    await tool('mkvmerge', ['-q', '-o', at('indexed.mkv'), at('film.mkv'), ...tracks()]);
    await tool('mkvmerge', ['-q', '-o', at('walked.mkv'), at('film.mkv'), ...tracks('--cues', '0:none')]);
    for (const [name, most] of [
      ['indexed.mkv', 64],
      ['walked.mkv', 96],
    ] as const) {
      const { forced, bytes, reads } = await looked(name, 'matroska');
      expect([forced, bytes < 1 << 20, reads < most], `${name} ${bytes} ${reads}`).to.deep.equal([[], true, true]);
    }
  });

  it('ends when ffmpeg hangs', async () => {
    const { PATH } = process.env;
    const hanging = temporaryFolder('hanging-ffmpeg');
    writeFileSync(join(hanging, 'ffmpeg'), '#!/bin/sh\nexec sleep 600\n');
    chmodSync(join(hanging, 'ffmpeg'), 0o755);
    process.env['PATH'] = `${hanging}:${PATH}`;
    try {
      const film = { ...common, file: at('film.m2ts'), container: 'mpegts', sizeBytes: 1, patienceMs: 500 };
      expect(await forcedAmong(film, TRACKS)).to.deep.equal([]);
    } finally {
      process.env['PATH'] = PATH;
    }
  });
});
