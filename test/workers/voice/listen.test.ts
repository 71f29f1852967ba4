import { join } from 'node:path';
import { expect } from 'chai';
import type { ProbedFile } from '#platform/media.ts';
import { KilledFfmpeg } from '#support/killed-ffmpeg.ts';
import { FfmpegKilled } from '#workers/analysis/run.ts';
import { listen, listenToStretches } from '#workers/voice/listen.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

describe('stretches of a soundtrack', function () {
  this.timeout(300_000);

  it('have the speech that the whole soundtrack has there, also behind its end', async () => {
    const file = join((await fixtures()).real, 'speech/two_cities.wav');
    const given = { file, probe: { container: 'wav' } as ProbedFile, stream: { index: 0 } };
    const { signal } = new AbortController();
    const whole = (await listen({ ...given, signal })) ?? [];
    const heard: number[] = [];
    const progress = (ms: number): void => void heard.push(ms);
    const [starts, lengthMs] = [[2000, 20_000, 40_000], 9000];
    const speech = (await listenToStretches({ ...given, progress, signal }, { starts, lengthMs })) ?? [];
    expect(heard.at(-1)).to.equal(27_000);
    const spoken = (of: typeof whole, ms: number): boolean =>
      of.some(({ startMs, endMs }) => startMs <= ms && ms < endMs);
    const differ: number[] = [];
    for (const start of starts)
      for (let ms = start; ms < start + lengthMs; ms += 20)
        if (spoken(whole, ms) !== spoken(speech, ms)) differ.push(ms);
    expect(differ.length * 20, `at ${differ.join(' ')}`).to.be.below(1000);
    expect(speech.length).to.be.greaterThan(4);
  });

  it('are no silence when ffmpeg is killed, and a file that cannot be read is none either', async () => {
    const { PATH } = process.env;
    const file = join((await fixtures()).real, 'speech/two_cities.wav');
    const { signal } = new AbortController();
    const given = { file, probe: { container: 'wav' } as ProbedFile, stream: { index: 0 }, signal };
    const ffmpeg = new KilledFfmpeg();
    process.env['PATH'] = ffmpeg.path;
    try {
      for (const hear of [listen, (of: typeof given) => listenToStretches(of, { starts: [2000], lengthMs: 9000 })]) {
        ffmpeg.strike();
        const ended = await hear(given).catch((error: unknown) => error);
        expect([ended instanceof FfmpegKilled, ffmpeg.hasStruck]).to.deep.equal([true, true]);
      }
      expect(await listen({ ...given, file: import.meta.filename })).to.equal(undefined);
    } finally {
      process.env['PATH'] = PATH;
    }
  });
});
