import { expect } from 'chai';
import { findVoice, queueAnalysis } from '#areas/libraries/public.ts';
import { findSource } from '#areas/streaming/public.ts';
import { KilledFfmpeg } from '#support/killed-ffmpeg.ts';
import { findVoices } from '#workers/analysis/voice.ts';
import { Postponed } from '#workers/work.ts';
import { type AnalysedPlace, newAnalysedPlace } from './support.ts';

const SENTENCE =
  'It was the best of times, it was the worst of times, it was the age of wisdom, it was the age of foolishness';

/** Sixty seconds of soft music, with a sentence that begins at each of these seconds. */
const film = (seconds: readonly number[]): string[] => [
  ...['-f', 'lavfi', '-i', 'testsrc2=size=160x90:rate=10:duration=60'],
  ...['-f', 'lavfi', '-i', 'sine=f=220:duration=60,volume=0.05'],
  ...seconds.flatMap(() => ['-f', 'lavfi', '-i', `flite=text='${SENTENCE}':voice=slt`]),
  '-filter_complex',
  [
    ...seconds.map((at, i) => `[${i + 2}]aresample=44100,adelay=${at * 1000}[s${i}]`),
    `[1]${seconds.map((_, i) => `[s${i}]`).join('')}amix=inputs=${seconds.length + 1}:duration=first:normalize=0[a]`,
  ].join(';'),
  ...['-map', '0:v', '-map', '[a]', '-c:v', 'libx264', '-preset', 'ultrafast', '-c:a', 'aac'],
];

describe('analysis.voice', function () {
  this.timeout(120_000);
  let place: AnalysedPlace;
  before(async () => {
    place = await newAnalysedPlace('movies', { previewThumbnails: false, creditsDetection: false });
    await place.film('Spoken (2001)/Spoken (2001).mkv', film([10, 40]));
    await place.film('Silent (2002)/Silent (2002).mkv', [
      '-f',
      'lavfi',
      '-i',
      'testsrc2=size=160x90:rate=10:duration=5',
    ]);
    await place.scan();
    await place.analyse();
  });

  const spoken = async () => {
    const source = await findSource(place.api.deps.db, await place.fileId('Spoken'));
    if (!source) throw new Error('no file');
    return findVoice(place.api.deps.db, { ...source, streamIndex: 1 });
  };

  it('finds when somebody speaks', async () => {
    const speech = (await spoken()) ?? [];
    const parts = [10_000, 40_000].map((from) =>
      speech.filter(({ startMs }) => startMs >= from - 300 && startMs < from + 9000),
    );
    expect(parts.flat()).to.have.length(speech.length);
    for (const [i, part] of parts.entries()) {
      expect(part[0]?.startMs).to.be.closeTo([10_000, 40_000][i] ?? 0, 300);
      expect(part.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0)).to.be.within(3000, 8000);
    }
  });

  it('has nothing to find in a film without sound', async () => {
    expect(await place.states('voiceActivity')).to.deep.equal(['done']);
  });

  it('is of the file as it is now', async () => {
    await place.film('Spoken (2001)/Spoken (2001).mkv', film([20]));
    await place.scan();
    expect(await spoken()).to.equal(undefined);
    await place.analyse();
    expect((await spoken())?.[0]?.startMs).to.be.closeTo(20_000, 300);
  });

  it('goes on after a film at which ffmpeg is killed, and passes it over after three tries', async () => {
    const { PATH } = process.env;
    const { db } = place.api.deps;
    const { libraryId } = place;
    const sound = ['testsrc2=size=160x90:rate=10:duration=5', 'sine=f=220:duration=5'];
    await place.film(
      'Short (2003)/Short (2003).mkv',
      sound.flatMap((one) => ['-f', 'lavfi', '-i', one]),
    );
    await place.scan();
    await db('analyses').where({ name: 'voiceActivity' }).delete();
    await queueAnalysis(db, 'voiceActivity', libraryId);
    const waiting = () => db('analyses').where({ name: 'voiceActivity', state: 'queued' });
    const ffmpeg = new KilledFfmpeg();
    process.env['PATH'] = ffmpeg.path;
    try {
      for (const tries of [1, 2, 3]) {
        ffmpeg.strike();
        const ended = await findVoices({ libraryId }, place.work()).catch((error: unknown) => error);
        expect([ended instanceof Postponed, ffmpeg.hasStruck], String(ended)).to.deep.equal([true, true]);
        expect(await waiting().pluck('tries')).to.deep.equal([tries]);
        await waiting().update({ due_at: db.raw('now()') });
      }
      await findVoices({ libraryId }, place.work());
      expect(await place.states('voiceActivity')).to.have.members(['done', 'not-found']);
    } finally {
      process.env['PATH'] = PATH;
    }
  });
});
