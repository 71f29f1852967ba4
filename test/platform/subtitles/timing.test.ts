import { expect } from 'chai';
import fc from 'fast-check';
import { timedSubstation } from '#platform/subtitles/substation.ts';
import { cueStretch, later, shownAt, type Timing, timedCues, timedParts } from '#platform/subtitles/timing.ts';

const offsets = fc.integer({ min: -600_000, max: 600_000 });
const timings: fc.Arbitrary<Timing> = fc.record({
  offsetMs: offsets,
  rate: fc.constantFrom(1, 0.9, 25 / 23.976, 24 / 25, 1.1),
  pieces: fc
    .uniqueArray(fc.record({ fromMs: fc.integer({ min: 0, max: 7_200_000 }), offsetMs: offsets }), {
      maxLength: 64,
      selector: ({ fromMs }) => fromMs,
    })
    .map((pieces) => pieces.sort((a, b) => a.fromMs - b.fromMs)),
});
const cues = fc
  .record({ startMs: fc.integer({ min: 0, max: 7_200_000 }), lengthMs: fc.integer({ min: 10, max: 900_000 }) })
  .map(({ startMs, lengthMs }) => ({ startMs, endMs: startMs + lengthMs }));

/** As the rule says it, one cue at a time. */
function offsetOf({ offsetMs, pieces }: Timing, atMs: number): number {
  let offset = offsetMs;
  for (const piece of pieces) if (piece.fromMs <= atMs) offset = piece.offsetMs;
  return offset;
}

describe('the timing of a subtitle', () => {
  it('shows cues at their time x rate + the offset in force, and leaves out those before the film', () => {
    fc.assert(
      fc.property(timings, fc.array(cues, { maxLength: 20 }), (timing, list) => {
        const expected = list.flatMap(({ startMs, endMs }) => {
          const offset = offsetOf(timing, startMs);
          const end = Math.round(endMs * timing.rate) + offset;
          return end > 0 ? [{ startMs: Math.max(Math.round(startMs * timing.rate) + offset, 0), endMs: end }] : [];
        });
        expect(timedCues(list, timing)).to.have.deep.members(expected);
      }),
    );
  });

  it('cuts a cue at the pieces into parts that do not overlap', () => {
    fc.assert(
      fc.property(timings, cues, (timing, cue) => {
        const parts = timedParts(cue, timing);
        for (const [i, { fromMs, toMs, atMs, untilMs }] of parts.entries()) {
          expect(atMs).to.equal(shownAt(timing, fromMs));
          expect(untilMs)
            .to.be.greaterThan(Math.max(atMs, 0))
            .and.at.most(shownAt(timing, toMs - 1) + 2);
          expect(untilMs).to.be.at.most(parts[i + 1]?.atMs ?? Number.POSITIVE_INFINITY);
        }
      }),
    );
  });

  it('finds every cue time that is shown in a stretch', () => {
    fc.assert(
      fc.property(timings, cues, fc.integer({ min: 0, max: 7_200_000 }), (timing, { startMs }, fromMs) => {
        const at = shownAt(timing, startMs);
        const stretch = cueStretch(timing, { fromMs, toMs: fromMs + 600_000 });
        if (at < fromMs || at >= fromMs + 600_000) return;
        expect(startMs).to.be.within(stretch.fromMs - 1, stretch.toMs + 1);
      }),
    );
  });

  it('adds an offset to all pieces', () => {
    fc.assert(
      fc.property(timings, offsets, fc.integer({ min: 0, max: 9_000_000 }), (timing, byMs, atMs) => {
        expect(shownAt(later(timing, byMs), atMs)).to.equal(shownAt(timing, atMs) + byMs);
      }),
    );
  });
});

const HEAD = `[Script Info]
Title: Dialogue

[Fonts]
fontname: a.ttf
Dialogue: 0,0:00:01.00,0:00:02.00,not a line

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
`;
const HEAD_LINES = HEAD.split('\n').length - 1;
const line = (from: string, to: string, words: string): string => `Dialogue: 0,${from},${to},Sign,,0,0,0,,${words}`;
const shown = (words: string, timing: Partial<Timing>): string[] => {
  const text = timedSubstation(HEAD + line('0:00:10.00', '0:00:14.00', words), {
    offsetMs: 0,
    rate: 1,
    pieces: [],
    ...timing,
  });
  const [head, body] = [text.split('\n').slice(0, HEAD_LINES), text.split('\n').slice(HEAD_LINES)];
  expect(`${head.join('\n')}\n`).to.equal(HEAD);
  return body;
};

describe('the timing of a SubStation text', () => {
  it('moves lines and leaves their codes, commas and drawings', () => {
    const words = '{\\fad(100,200)\\k50}a, {\\p1}m 0 0 l 100 0{\\p0}{not closed';
    expect(shown(words, { offsetMs: -1500 })).to.deep.equal([line('0:00:08.50', '0:00:12.50', words)]);
    expect(shown(words, { offsetMs: -14_000 })).to.deep.equal([]);
  });

  it('scales the times inside a line with a rate', () => {
    const words =
      '{\\k50}a{\\kf25\\i1}b{\\K33}c{\\ko10}d{\\t(100,1000,\\fs40)\\t(2,\\fs9)\\t(0,500,1.5,\\fs8)\\t(\\fs7)}{\\move(1,2,3,4,100,1000)\\fad(100,200)\\fade(255,0,255,0,100,900,1000)\\move(1,2,3,4)\\kern5}';
    expect(shown(words, { rate: 1.1 })).to.deep.equal([
      line(
        '0:00:11.00',
        '0:00:15.40',
        '{\\k55}a{\\kf28\\i1}b{\\K36}c{\\ko11}d{\\t(110,1100,\\fs40)\\t(2,\\fs9)\\t(0,550,1.5,\\fs8)\\t(\\fs7)}{\\move(1,2,3,4,110,1100)\\fad(110,220)\\fade(255,0,255,0,110,990,1100)\\move(1,2,3,4)\\kern5}',
      ),
    ]);
  });

  it('keeps the length of a song whatever is rounded', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 60 }),
        fc.constantFrom(0.96, 1.0427, 1.1),
        (song, rate) => {
          const [text = ''] = shown(song.map((length) => `{\\k${length}}x`).join(''), { rate });
          const lengths = [...text.matchAll(/\\k(\d+)/g)].map(([, length]) => Number(length));
          expect(lengths).to.have.length(song.length);
          const sum = (all: number[]): number => all.reduce((a, b) => a + b, 0);
          expect(sum(lengths)).to.equal(Math.round(sum(song) * rate));
        },
      ),
    );
  });

  it('cuts a line in two at a piece, and each part goes on where the other ended', () => {
    const words = '{\\k100}a{\\k200}b{\\k100}c{\\t(\\fs40)\\t(0,500,\\fs8)\\move(1,2,3,4)\\fad(100,200)}';
    expect(shown(words, { pieces: [{ fromMs: 12_000, offsetMs: 60_000 }] })).to.deep.equal([
      line(
        '0:00:10.00',
        '0:00:12.00',
        '{\\k100}a{\\k200}b{\\k100}c{\\t(0,4000,\\fs40)\\t(0,500,\\fs8)\\move(1,2,3,4,0,4000)\\fade(255,0,255,0,100,3800,4000)}',
      ),
      line(
        '0:01:12.00',
        '0:01:14.00',
        '{\\k0}a{\\k100}b{\\k100}c{\\t(-2000,2000,\\fs40)\\t(-2000,-1500,\\fs8)\\move(1,2,3,4,-2000,2000)\\fade(255,0,255,-2000,-1900,1800,2000)}',
      ),
    ]);
    const back = shown('a', { pieces: [{ fromMs: 12_000, offsetMs: -1000 }] });
    expect(back).to.deep.equal([line('0:00:10.00', '0:00:11.00', 'a'), line('0:00:11.00', '0:00:13.00', 'a')]);
  });

  it('begins inside a line that would begin before the film, and ends a move that is over', () => {
    expect(shown('{\\k150}a{\\k100}b{\\move(1,2,3,4,0,500)}', { offsetMs: -12_000 })).to.deep.equal([
      line('0:00:00.00', '0:00:02.00', '{\\k0}a{\\k50}b{\\pos(3,4)}'),
    ]);
  });

  it('follows the columns that a text names, and leaves lines without times', () => {
    const text =
      '[Events]\nFormat: Start, End, Text\nDialogue: 0:00:01.00,0:00:02.00,a,b\nDialogue: x,y,z\nDialogue:\n';
    expect(timedSubstation(text, { offsetMs: 1000, rate: 1, pieces: [] })).to.equal(
      '[Events]\nFormat: Start, End, Text\nDialogue: 0:00:02.00,0:00:03.00,a,b\nDialogue: x,y,z\nDialogue:\n',
    );
  });

  it('reads hostile lines in one pass, and bounds what cuts add', function () {
    this.timeout(20_000);
    const timing = { offsetMs: 5, rate: 1.05, pieces: [] };
    for (const unit of ['{', '{\\', '{\\t(', '{\\k', '\\k9', '{\\move(1,', '}{\\fad(,'])
      expect(shown(unit.repeat(1_000_000), timing).length, unit).to.equal(1);
    const pieces = Array.from({ length: 64 }, (_, i) => ({ fromMs: (i + 1) * 1000, offsetMs: (i + 1) * 1000 }));
    const long = `${line('0:00:00.00', '2:00:00.00', 'x'.repeat(100_000))}\n`.repeat(40);
    expect(timedSubstation(HEAD + long, { offsetMs: 0, rate: 1, pieces }).length).to.be.at.most(
      long.length + 10_000_000,
    );
  });
});
