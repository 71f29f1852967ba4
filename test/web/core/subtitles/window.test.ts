import { expect } from 'chai';
import { CueTrack } from '../../../../web/src/core/subtitles/track.ts';
import type { RawCue } from '../../../../web/src/core/subtitles/vtt.ts';
import { Around, windowOf } from '../../../../web/src/core/subtitles/window.ts';

const HOUR_MS = 3_600_000;
const cue = (startMs: number, endMs: number): RawCue => ({
  startMs,
  endMs,
  place: { align: 'center' },
  texts: [`${startMs} to ${endMs}`],
});
const many = (make: (n: number) => RawCue): RawCue[] => Array.from({ length: 100_000 }, (_, n) => make(n));

/** A page over a track whose requests are answered at once. */
function page(cues: readonly RawCue[]): { around: Around; requests: number[]; kept: number[] } {
  const track = new CueTrack(cues);
  const [requests, kept]: [number[], number[]] = [[], []];
  const around = new Around((ms) => {
    requests.push(ms);
    const window = windowOf(track, ms);
    kept.push(window.cues.length);
    around.take(window);
  });
  return { around, requests, kept };
}

const shown = (around: Around, ms: number): string[] => {
  around.at(ms); // requests the window
  return around.at(ms).map(({ startMs, endMs }) => `${startMs} to ${endMs}`);
};

describe('the cues around the playhead', () => {
  it('are those of the whole track at each moment, forward and back', () => {
    const cues = [
      cue(0, HOUR_MS),
      ...Array.from({ length: 3000 }, (_, n) => cue(n * 1000 + 300, n * 1000 + 900 + (n % 7) * 400)),
    ];
    const track = new CueTrack(cues);
    const { around, requests } = page(cues);
    const moments = Array.from({ length: 15_000 }, (_, n) => n * 200);
    for (const ms of [...moments, ...moments.toReversed()]) {
      const expected = track.at(ms).map(({ startMs, endMs }) => `${startMs} to ${endMs}`);
      expect(shown(around, ms), String(ms)).to.deep.equal(expected);
    }
    expect(requests.length, 'a request serves a stretch of time').to.be.lessThan(3000 / 2);
  });

  const dense = {
    'begin at one moment': many(() => cue(5000, HOUR_MS)),
    'begin in each millisecond': many((n) => cue(n, n + 50)),
    'begin in each millisecond and last an hour': many((n) => cue(n, n + HOUR_MS)),
  };
  for (const [name, cues] of Object.entries(dense))
    it(`are few where 100,000 ${name}`, () => {
      const track = new CueTrack(cues);
      const { around, requests, kept } = page(cues);
      for (let ms = 4000; ms < 8000; ms += 40) {
        const expected = track.at(ms).map(({ startMs, endMs }) => `${startMs} to ${endMs}`);
        expect(shown(around, ms), String(ms)).to.deep.equal(expected);
      }
      expect(Math.max(...kept)).to.be.at.most(264);
      expect(requests.length).to.be.lessThan(101);
    });

  it('are requested once while the answer is on its way', () => {
    const requests: number[] = [];
    const around = new Around((ms) => requests.push(ms));
    for (const ms of [0, 40, 80, 90_000]) expect(around.at(ms)).to.deep.equal([]);
    expect(requests).to.deep.equal([0]);
    around.take(windowOf(new CueTrack([cue(90_000, 91_000)]), 0));
    expect(around.at(90_000)).to.deep.equal([]);
    expect(requests, 'the person is elsewhere now').to.deep.equal([0, 90_000]);
  });
});
