// SubStation texts as libass draws them, before and after a correction: only the time of each picture is another one.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { timedSubstation } from '#platform/subtitles/substation.ts';
import { AS_MADE, type Timing } from '#platform/subtitles/timing.ts';
import { temporaryFolder } from '#support/stores.ts';

const [WIDTH, HEIGHT, FRAME_MS, SECONDS] = [320, 180, 20, 18];
const STYLE = 'Sans,20,&H00FFFFFF,&H00404040,&H00808080,&H00000000,0,0,0,0,100,100,0,0,1,1,0,5,10,10,10,1';
const HEAD = `[Script Info]
ScriptType: v4.00+
PlayResX: ${WIDTH}
PlayResY: ${HEIGHT}

[V4+ Styles]
Format: Name, Fontname, Fontsize, PrimaryColour, SecondaryColour, OutlineColour, BackColour, Bold, Italic, Underline, StrikeOut, ScaleX, ScaleY, Spacing, Angle, BorderStyle, Outline, Shadow, Alignment, MarginL, MarginR, MarginV, Encoding
Style: Default,${STYLE}

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
`;
const line = (from: string, to: string, text: string): string =>
  `Dialogue: 0,0:00:${from},0:00:${to},Default,,0,0,0,,${text}\n`;
const TEXT = [
  HEAD,
  line('02.00', '10.00', '{\\an7\\k100}Sing {\\kf200}this {\\ko150}song {\\K250}now'),
  line('03.00', '09.00', '{\\move(40,60,280,120,500,5500)}Moves'),
  line('02.50', '09.50', '{\\an1\\fad(500,1000)}Fades'),
  line('04.00', '09.00', '{\\an3\\t(500,4500,\\fs40)}Grows'),
  line('02.00', '08.00', '{\\an9\\p1\\t(0,3000,2,\\frz90)}m 0 0 l 40 0 40 20 0 20{\\p0}'),
].join('');

describe('a SubStation text that libass draws', function () {
  this.timeout(120_000);
  const file = join(temporaryFolder('drawn'), 'text.ass');

  /** All pictures of a text, one byte a point. */
  function drawn(timing: Timing): (atMs: number) => Buffer {
    writeFileSync(file, timedSubstation(TEXT, timing));
    const black = `color=black:s=${WIDTH}x${HEIGHT}:r=${1000 / FRAME_MS}:d=${SECONDS}`;
    const raw = ['-pix_fmt', 'gray', '-f', 'rawvideo', '-'];
    const args = ['-v', 'error', '-f', 'lavfi', '-i', black, '-vf', `subtitles=${file}`, ...raw];
    const bytes = execFileSync('ffmpeg', args, { maxBuffer: 1 << 30 });
    const size = WIDTH * HEIGHT;
    return (atMs) => bytes.subarray((atMs / FRAME_MS) * size, (atMs / FRAME_MS + 1) * size);
  }
  /** Share of points that differ by more than rounding does. */
  const differs = (a: Buffer, b: Buffer): number =>
    a.reduce((sum, point, i) => sum + (Math.abs(point - (b[i] ?? 0)) > 16 ? 1 : 0), 0) / a.length;
  const isBlank = (picture: Buffer): boolean => picture.every((point) => point === picture[0]);

  const PIECE = { fromMs: 6000, offsetMs: 3000 };
  const cases: [name: string, timing: Timing, shown: (ms: number) => number][] = [
    ['later', { ...AS_MADE, offsetMs: 4000 }, (ms) => ms + 4000],
    ['earlier', { ...AS_MADE, offsetMs: -2000 }, (ms) => ms - 2000],
    ['slower', { ...AS_MADE, rate: 1.1 }, (ms) => ms * 1.1],
    ['faster', { ...AS_MADE, rate: 0.9, offsetMs: 1000 }, (ms) => ms * 0.9 + 1000],
    ['cut in two', { ...AS_MADE, pieces: [PIECE] }, (ms) => (ms < PIECE.fromMs ? ms : ms + PIECE.offsetMs)],
  ];
  for (const [name, timing, shown] of cases)
    it(`is the same text at other times: ${name}`, () => {
      const [ofMade, ofTimed] = [drawn(AS_MADE), drawn(timing)];
      let moving = 0;
      for (let ms = 2000; ms < 10_000; ms += 200) {
        const [made, corrected] = [ofMade(ms), ofTimed(Math.round(shown(ms)))];
        expect(isBlank(made), `${ms} ms`).to.equal(false);
        expect(differs(made, corrected), `${ms} ms`).to.be.below(0.001);
        if (differs(made, ofTimed(ms)) > 0.01) moving += 1;
      }
      expect(moving, 'pictures that moved in time').to.be.greaterThan(10);
      for (const ms of [1800, 10_000])
        if (shown(ms) >= 0) expect(isBlank(ofTimed(Math.round(shown(ms)))), `${ms} ms`).to.equal(true);
      if (timing.pieces.length === 0) return;
      for (let ms = PIECE.fromMs; ms < PIECE.fromMs + PIECE.offsetMs; ms += 200)
        expect(isBlank(ofTimed(ms)), `in the gap at ${ms} ms`).to.equal(true);
    });
});
