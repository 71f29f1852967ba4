import { expect } from 'chai';
import { cuesOf, subripOf } from '#workers/subtitles/speech/cues.ts';
import { cutsAt } from '#workers/subtitles/speech/cut.ts';
import { betterLanguage } from '#workers/subtitles/speech/languages.ts';
import { tellingPart } from '#workers/subtitles/speech/sound.ts';
import { wordsOf } from '#workers/subtitles/speech/words.ts';

const spoken = (text: string, fromMs = 0, eachMs = 400) =>
  text
    .split(' ')
    .map((word, i) => ({ startMs: fromMs + i * eachMs, endMs: fromMs + (i + 1) * eachMs, text: ` ${word}` }));
const NO_SHOTS = { keyframes: [], frameMs: 40 };
const segment = (text: string, at: number, compression = 1.2) => ({
  ...{ text, compression, noSpeech: 0 },
  words: [[at, at + 0.5, text]] as [number, number, string][],
});

describe('text from speech', () => {
  it('has cues of two lines of 42 characters that last 1 to 7 seconds and do not overlap', () => {
    const text = 'It was the best of times, it was the worst of times, it was the age of wisdom. '.repeat(20).trim();
    const cues = cuesOf(spoken(text), NO_SHOTS);
    expect(cues.map((cue) => cue.text.replaceAll('\n', ' ')).join(' ')).to.equal(text);
    for (const [i, cue] of cues.entries()) {
      const lines = cue.text.split('\n');
      expect(lines.length).to.be.at.most(2);
      for (const line of lines) expect(line.length, line).to.be.at.most(42);
      expect(cue.endMs - cue.startMs).to.be.within(1000, 7000);
      expect(cue.endMs).to.be.at.most(cues[i + 1]?.startMs ?? Number.POSITIVE_INFINITY);
    }
    expect(subripOf(cues.slice(0, 1))).to.match(/^1\n00:00:00,000 --> 00:00:0\d,\d{3}\nIt was/);
  });

  it('breaks words that are longer than a line, and loses no letter of languages without spaces', () => {
    const long = cuesOf([{ startMs: 0, endMs: 2000, text: ` ${'x'.repeat(100)}` }], NO_SHOTS);
    expect(long.flatMap(({ text }) => text.split('\n')).map(({ length }) => length)).to.deep.equal([42, 42, 16]);
    const letters = '時は最良の時であり最悪の時でもあった'.repeat(4).split('');
    const words = letters.map((text, i) => ({ startMs: i * 100, endMs: i * 100 + 100, text }));
    expect(
      cuesOf(words, NO_SHOTS)
        .map(({ text }) => text.replaceAll('\n', ''))
        .join(''),
    ).to.equal(letters.join(''));
    expect(cuesOf([{ startMs: 0, endMs: 1, text: ' <b>-->' }], NO_SHOTS)[0]?.text).to.equal('b--');
  });

  it('does not linger over a change of shot by more than two frames', () => {
    const [word] = spoken('Yes.', 1000, 300);
    const end = (keyframes: number[]) => cuesOf(word ? [word] : [], { keyframes, frameMs: 40 })[0]?.endMs;
    expect([end([]), end([0, 1500, 3000]), end([0, 5000])]).to.deep.equal([2000, 1580, 2000]);
  });

  it('begins with the voice, also where the model hears a word in the music before it', () => {
    const startOf = (at: number): number | undefined =>
      wordsOf({ language: 'en', segments: [segment('Yes.', at)] }, [{ startMs: 2000, endMs: 6000 }], 10_000)[0]
        ?.startMs;
    expect([1.6, 1.95, 2.5].map(startOf)).to.deep.equal([11_900, 11_950, 12_500]);
  });

  it('has no lines that repeat themselves and none where no one speaks', () => {
    const heard = (segments: ReturnType<typeof segment>[]) =>
      wordsOf({ language: 'en', segments }, [{ startMs: 0, endMs: 6000 }], 10_000).map(({ text }) => text);
    expect(heard([segment('No.', 1), segment('No.', 2), segment('No.', 3), segment('Yes.', 4)])).to.deep.equal([
      'No.',
      'No.',
      'Yes.',
    ]);
    expect(heard([segment('la la la la la', 1, 3.5), segment('Thanks for watching', 9)])).to.deep.equal([]);
    const [first] = wordsOf({ language: 'en', segments: [segment('A', 1)] }, [{ startMs: 0, endMs: 6000 }], 10_000);
    expect(first).to.deep.equal({ startMs: 11_000, endMs: 11_500, text: 'A' });
  });

  it('is heard in parts of at most half a minute, which end in the longest silence of their last third', () => {
    const speech = [
      [0, 20_000],
      [22_000, 27_000],
      [27_400, 44_000],
      [44_500, 50_000],
      [52_000, 60_000],
    ].map(([startMs = 0, endMs = 0]) => ({ startMs, endMs }));
    expect(cutsAt(speech, 60_000)).to.deep.equal([21_000, 50_500]);
    expect(cutsAt(speech, 45_000), 'the rest of a film').to.deep.equal([21_000, 45_000]);
    expect(cutsAt(speech, 59_000), 'longer than two parts').to.deep.equal([21_000, 50_500]);
    expect(cutsAt(speech, 25_000)).to.deep.equal([25_000]);
    expect(cutsAt([{ startMs: 0, endMs: 60_000 }], 60_000), 'no silence').to.deep.equal([30_000, 60_000]);
  });

  it('has its language judged by the half minute after the first speech, if there is enough speech in it', () => {
    const samples = Buffer.alloc(60 * 32_000);
    samples.writeInt16LE(7, 20 * 32_000);
    const [short, long] = [
      [{ startMs: 20_000, endMs: 23_000 }],
      [
        { startMs: 20_000, endMs: 23_000 },
        { startMs: 49_000, endMs: 60_000 },
      ],
    ];
    expect(tellingPart({ samples, speech: short })).to.equal(undefined);
    const part = tellingPart({ samples, speech: long });
    expect([part?.length, part?.readInt16LE()]).to.deep.equal([30 * 32_000, 7]);
  });

  it('changes its language when three stretches agree against it, or most of a short film', () => {
    const heard = (...languages: (string | null)[]) => languages.map((one) => ({ heard: one }));
    expect(betterLanguage(heard('de', 'de'), 'en', false)).to.equal(undefined);
    expect(betterLanguage(heard('de', null, 'de', 'de'), 'en', false)).to.equal('de');
    expect(betterLanguage(heard('en', 'en', 'en', 'de', 'de', 'de'), 'en', false)).to.equal(undefined);
    expect(betterLanguage(heard('de', 'fr', 'es'), 'en', true)).to.equal(undefined);
    expect(betterLanguage(heard('de'), 'en', true)).to.equal('de');
  });
});
