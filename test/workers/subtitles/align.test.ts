import { expect } from 'chai';
import { align, type Fit } from '#workers/subtitles/sync/align.ts';
import { alignBySamples } from '#workers/subtitles/sync/align-samples.ts';
import { MOST_OFFSET_MS, type Span } from '#workers/subtitles/sync/correlate.ts';
import { within } from '#workers/subtitles/sync/cues-of-track.ts';
import { firstStretches } from '#workers/subtitles/sync/heard-fit.ts';

/** Numbers between 0 and 1 of a linear congruential generator. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

interface Film {
  /** Times of the spoken lines. */
  lines: Span[];
  /** What a detector hears: some lines are missed, and some music is taken for speech. */
  speech: Span[];
  lengthMs: number;
  random: () => number;
}

function filmOf(seed: number, minutes: number): Film {
  const random = randomOf(seed);
  const lengthMs = minutes * 60_000;
  const lines: Span[] = [];
  for (let at = 5000 + random() * 30_000; at < lengthMs - 10_000; ) {
    const endMs = at + 700 + random() ** 2 * 5000;
    lines.push({ startMs: at, endMs });
    at = endMs + (random() < 0.88 ? 150 + random() * 2500 : 8000 + random() * 50_000);
  }
  const heard = lines.filter(() => random() > 0.07);
  const music = Array.from({ length: lines.length / 12 }, () => random() * lengthMs);
  const speech = [
    ...heard.map(({ startMs, endMs }) => ({ startMs: startMs + random() * 120, endMs: endMs - 100 + random() * 250 })),
    ...music.map((startMs) => ({ startMs, endMs: startMs + 500 + random() * 4000 })),
  ];
  return { lines, speech: speech.sort((a, b) => a.startMs - b.startMs), lengthMs, random };
}

/** The text of a film as people make it: shown a little early, and long enough to read. */
const textOf = ({ lines, random }: Film): Span[] =>
  lines.map(({ startMs, endMs }) => {
    const shownMs = Math.max(0, startMs - 80 + random() * 140);
    return { startMs: shownMs, endMs: Math.max(shownMs + 900, endMs + random() * 400) };
  });

const moved = (cues: readonly Span[], to: (ms: number, film: number) => number): Span[] =>
  cues.map(({ startMs, endMs }) => ({ startMs: to(startMs, startMs), endMs: to(endMs, startMs) }));

const whole = ({ speech, lengthMs }: Film) => ({ speech, stretches: [{ startMs: 0, endMs: lengthMs }] });

function shownAt({ rate, offsetMs, pieces }: Fit, ms: number): number {
  const piece = pieces.findLast(({ fromMs }) => ms >= fromMs);
  return ms * rate + (piece?.offsetMs ?? offsetMs);
}

/** Share of cues that are shown within 200 ms of their lines. */
const rightOf = (fit: Fit, cues: readonly Span[], truth: readonly Span[]): number =>
  cues.filter(({ startMs }, i) => Math.abs(shownAt(fit, startMs) - (truth[i]?.startMs ?? 0)) <= 200).length /
  cues.length;

/** Ways in which a text is out of time, as functions of film time; `film` is the begin of the cue. */
const FAULTS: Record<string, (length: number) => (ms: number, film: number) => number> = {
  nothing: () => (ms) => ms,
  'a second late': () => (ms) => ms + 1000,
  'four minutes late': () => (ms) => ms + 240_000,
  'nearly ten minutes late': () => (ms) => ms + MOST_OFFSET_MS - 5000,
  'begins in the middle of the recording': () => (ms) => Math.max(0, ms - 4500),
  PAL: () => (ms) => ms * (24 / 25) + 700,
  'NTSC to PAL': () => (ms) => ms * (23.976 / 25) + 3000,
  'PAL to NTSC': () => (ms) => ms * (25 / 23.976),
  'film to NTSC': () => (ms) => ms * (24 / 23.976) + 40_000,
  'a scene of the film is not in its version': (length) => (ms, film) => ms + (film > length * 0.4 ? 0 : 47_000),
  commercials: (length) => (ms, film) => {
    const breaks = [0.2, 0.45, 0.8].filter((at) => film > length * at).length;
    return ms + 2000 + breaks * 95_000;
  },
  'PAL with a break': (length) => (ms, film) => (ms + (film > length / 2 ? 14_000 : 0)) * (24 / 25),
};

describe('a text that is out of time', function () {
  this.timeout(60_000);
  const films = [filmOf(11, 22), filmOf(12, 44), filmOf(13, 30), filmOf(14, 25), filmOf(15, 35)];

  for (const [fault, moving] of Object.entries(FAULTS))
    it(`is put in time: ${fault}`, () => {
      for (const film of films) {
        const cues = moved(textOf(film), moving(film.lengthMs));
        const fit = align(cues, whole(film));
        expect(fit.confidence).to.be.greaterThan(0.5);
        expect(rightOf(fit, cues, film.lines)).to.be.at.least(0.95);
      }
    });

  it('fits no other film', () => {
    for (const [i, film] of films.entries()) {
      const other = films[(i + 1) % films.length] ?? film;
      expect(align(textOf(other), whole(film)).confidence).to.be.lessThan(0.5);
      expect(align(textOf(other), { speech: [], stretches: whole(film).stretches }).confidence).to.equal(0);
    }
  });

  /** Twelve stretches of 90 seconds and the speech in them. */
  function samplesOf({ lengthMs, speech }: Film) {
    const stretches = Array.from({ length: 12 }, (_, i) => {
      const startMs = (lengthMs / 12) * (i + 0.5) - 45_000;
      return { startMs, endMs: startMs + 90_000 };
    });
    const isIn = ({ startMs, endMs }: Span): boolean =>
      stretches.some((stretch) => startMs >= stretch.startMs && endMs <= stretch.endMs);
    return { stretches, speech: speech.filter(isIn) };
  }
  const CUTS = ['begins in the middle', 'a scene', 'commercials', 'PAL with a break'];

  for (const [fault, moving] of Object.entries(FAULTS))
    it(`is put in time by twelve stretches that agree, and by no others: ${fault}`, () => {
      for (const [n, film] of films.entries()) {
        const cues = moved(textOf(film), moving(film.lengthMs));
        const fit = alignBySamples(cues, samplesOf(film));
        const isSure = fit !== undefined && fit.confidence >= 0.5;
        if (isSure) expect(rightOf(fit, cues, film.lines), `film ${n}`).to.be.at.least(0.95);
        if (!CUTS.some((name) => fault.startsWith(name))) expect(isSure, `film ${n}`).to.equal(true);
      }
    });

  /** The stretches of a short film that are heard first, with their speech. */
  function firstOf({ lengthMs, speech }: Film) {
    const stretches = firstStretches(lengthMs);
    const parts = stretches.flatMap((stretch) =>
      speech.map(({ startMs, endMs }) => ({
        startMs: Math.max(startMs, stretch.startMs),
        endMs: Math.min(endMs, stretch.endMs),
      })),
    );
    return { stretches, speech: parts.filter(({ startMs, endMs }) => endMs > startMs) };
  }
  const short = [filmOf(21, 10), filmOf(22, 15), filmOf(23, 22), filmOf(24, 33)];

  for (const [fault, moving] of Object.entries(FAULTS))
    it(`is put in time by the first stretches of a short film, and by no others: ${fault}`, () => {
      let sure = 0;
      for (const film of short) {
        const cues = moved(textOf(film), moving(film.lengthMs));
        const fit = alignBySamples(cues, firstOf(film));
        if (!fit || fit.confidence < 0.5) continue;
        sure += 1;
        expect(rightOf(fit, cues, film.lines), `${film.lengthMs / 60_000} minutes`).to.be.at.least(0.95);
      }
      if (!CUTS.some((name) => fault.startsWith(name))) expect(sure).to.be.at.least(3);
    });

  it('is not judged by the first stretches of another film, or where a scene is missing anywhere', () => {
    for (const [n, film] of short.entries()) {
      const other = alignBySamples(textOf(short[(n + 1) % short.length] ?? film), firstOf(film));
      expect(other?.confidence ?? 0).to.be.lessThan(0.5);
      for (const share of [0.1, 0.3, 0.5, 0.7, 0.9]) {
        const cues = moved(textOf(film), (ms) => ms + (ms > film.lengthMs * share ? 0 : 47_000));
        const fit = alignBySamples(cues, firstOf(film));
        if (fit && fit.confidence >= 0.5)
          expect(rightOf(fit, cues, film.lines), `film ${n}, ${share}`).to.be.at.least(0.95);
      }
    }
  });

  it('is heard whole in a film of less than ten minutes, else in a third of it, at both ends too', () => {
    expect(firstStretches(599_000)).to.deep.equal([]);
    for (const lengthMs of [600_000, 900_000, 2_100_000]) {
      const stretches = firstStretches(lengthMs);
      expect([stretches[0]?.startMs, stretches.at(-1)?.endMs]).to.deep.equal([0, lengthMs]);
      const heard = stretches.reduce((sum, { startMs, endMs }) => sum + endMs - startMs, 0);
      expect(heard / lengthMs).to.be.closeTo(lengthMs === 600_000 ? 1 / 2 : 1 / 3, 0.001);
    }
  });

  it('is not judged by stretches when a scene is missing anywhere', () => {
    for (const share of [0.08, 0.2, 0.5, 0.8, 0.92])
      for (const [n, film] of films.entries()) {
        const cues = moved(textOf(film), (ms) => ms + (ms > film.lengthMs * share ? 0 : 47_000));
        const fit = alignBySamples(cues, samplesOf(film));
        if (!fit || fit.confidence < 0.5) continue;
        expect(rightOf(fit, cues, film.lines), `film ${n}, ${share}`).to.be.at.least(0.95);
      }
  });

  /** Texts that differ from the lines that are heard, and those lines. */
  const TEXTS: Record<string, (film: Film) => { text: Span[]; truth: Span[]; film: Film }> = {
    'another language, whose lines are joined or parted': (film) => {
      const [text, truth]: [Span[], Span[]] = [[], []];
      for (const [i, cue] of textOf(film).entries()) {
        const [line, last, roll] = [film.lines[i] ?? cue, text.at(-1), film.random()];
        const middle = (cue.startMs + cue.endMs) / 2;
        if (last && roll < 0.25 && cue.startMs - last.endMs < 1500) last.endMs = cue.endMs;
        else if (roll > 0.75 && cue.endMs - cue.startMs > 2500) {
          text.push({ ...cue, endMs: middle - 40 }, { ...cue, startMs: middle });
          truth.push(line, { ...line, startMs: middle });
        } else {
          text.push({ ...cue });
          truth.push(line);
        }
      }
      return { text, truth, film };
    },
    'noise that is taken for speech': (film) => {
      const noise = Array.from({ length: film.lines.length / 3 }, () => {
        const startMs = film.random() * film.lengthMs;
        return { startMs, endMs: startMs + 500 + film.random() * 4000 };
      });
      const speech = [...film.speech, ...noise].sort((a, b) => a.startMs - b.startMs);
      return { text: textOf(film), truth: film.lines, film: { ...film, speech } };
    },
    'another cut, of which scenes are not in the film': (film) => {
      const [from, to] = [film.lengthMs * 0.3, film.lengthMs * 0.36];
      const isIn = ({ startMs }: Span): boolean => startMs >= from && startMs < to;
      const at = (ms: number): number => (ms < to ? ms : ms - (to - from));
      const kept = film.lines.map((line) => !isIn(line));
      return {
        text: textOf(film).filter((_, i) => kept[i]),
        truth: moved(film.lines, at).filter((_, i) => kept[i]),
        film: {
          ...film,
          lengthMs: film.lengthMs - (to - from),
          speech: moved(
            film.speech.filter((one) => !isIn(one)),
            at,
          ),
        },
      };
    },
    'half of the lines': (film) => {
      const kept = film.lines.map(() => film.random() < 0.5);
      return { text: textOf(film).filter((_, i) => kept[i]), truth: film.lines.filter((_, i) => kept[i]), film };
    },
  };

  for (const [name, made] of Object.entries(TEXTS))
    it(`is put in time, or stays as it is: ${name}`, () => {
      let fitted = 0;
      for (const [n, { text, truth, film }] of films.map(made).entries()) {
        const late = moved(text, (ms) => ms + 8000);
        for (const fit of [align(late, whole(film)), alignBySamples(late, samplesOf(film))]) {
          if (!fit || fit.confidence < 0.5) continue;
          expect(rightOf(fit, late, truth), `film ${n}`).to.be.at.least(0.95);
          fitted += 1;
        }
      }
      expect(fitted).to.be.at.least(films.length);
    });

  it('has no lines far behind the end of the film', () => {
    const late = { startMs: 359_999_000, endMs: 359_999_900 };
    const long = { startMs: 1000, endMs: 359_999_900 };
    expect(within([long, late], 1_200_000)).to.deep.equal([{ startMs: 1000, endMs: 1_200_000 }]);
  });

  it('is bounded for a text of any shape', () => {
    const random = randomOf(3);
    const speech = films[0]?.speech ?? [];
    const stretches = [{ startMs: 0, endMs: 1_200_000 }];
    const many = Array.from({ length: 50_000 }, (_, i) => ({ startMs: i * 25, endMs: i * 25 + random() * 40_000 }));
    const same = Array.from({ length: 5000 }, () => ({ startMs: 1000, endMs: 2000 }));
    for (const cues of [many, same, many.slice(0, 1), []]) {
      const { confidence, pieces } = align(cues, { speech, stretches });
      expect(confidence).to.be.within(0, 1);
      expect(pieces.length).to.be.lessThan(2500);
    }
  });
});
