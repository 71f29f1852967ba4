import { join } from 'node:path';
import { expect } from 'chai';
import type { ProbedFile } from '#platform/media.ts';
import { KilledFfmpeg } from '#support/killed-ffmpeg.ts';
import { FfmpegKilled } from '#workers/analysis/run.ts';
import type { Speech } from '#workers/voice/detector.ts';
import { HeldSound, joined } from '#workers/voice/held-sound.ts';
import { listen, listenToStretches } from '#workers/voice/listen.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

/** Milliseconds of these parts that are speech in one and silence in the other. */
function differing(a: readonly Speech[], b: readonly Speech[], parts: readonly Speech[]): number {
  const spoken = (of: readonly Speech[], ms: number): boolean =>
    of.some(({ startMs, endMs }) => startMs <= ms && ms < endMs);
  let differ = 0;
  for (const { startMs, endMs } of parts)
    for (let ms = startMs; ms < endMs; ms += 20) if (spoken(a, ms) !== spoken(b, ms)) differ += 20;
  return differ;
}

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
    const parts = starts.map((startMs) => ({ startMs, endMs: startMs + lengthMs }));
    expect(differing(whole, speech, parts)).to.be.below(1000);
    expect(speech.length).to.be.greaterThan(4);
  });

  it('have it also in sound that is held and judged in any order, with one speech over the seams', async () => {
    const file = join((await fixtures()).real, 'speech/two_cities.wav');
    const given = { file, probe: { container: 'wav' } as ProbedFile, stream: { index: 0 } };
    const { signal } = new AbortController();
    const whole = (await listen({ ...given, signal })) ?? [];
    const heard: number[] = [];
    const sound = await HeldSound.read({ ...given, signal }, 40_000);
    const parts = [0, 10_000, 20_000, 30_000].map((startMs) => ({ startMs, endMs: startMs + 10_000 }));
    const [a, b, c, d] = parts as [Speech, Speech, Speech, Speech];
    const first = (await sound?.speechIn([b, d], (ms) => heard.push(ms))) ?? [];
    const speech = joined([...first, ...((await sound?.speechIn([a, c], () => undefined)) ?? [])], parts);
    expect(differing(whole, speech, parts)).to.be.below(1000);
    expect(heard.at(-1)).to.equal(20_000);
    const spans = (...times: [number, number][]): Speech[] => times.map(([startMs, endMs]) => ({ startMs, endMs }));
    const seamed = spans([20_050, 21_000], [5000, 9900], [10_060, 12_000], [18_000, 19_500]);
    expect(joined(seamed, parts)).to.deep.equal(spans([5000, 12_000], [18_000, 19_500], [20_050, 21_000]));
    expect(await HeldSound.read({ ...given, file: import.meta.filename, signal }, 1000)).to.equal(undefined);
    const stopped = await HeldSound.read({ ...given, signal: AbortSignal.abort() }, 1000).catch(() => 'stopped');
    expect(stopped).to.equal('stopped');
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
