import { expect } from 'chai';
import { breaksIn, type Evidence, stretchesWithout } from '#workers/live/commercials/breaks.ts';
import { LOGO_BYTES, LOGO_PICTURE, LogoLearner, showsLogo } from '#workers/live/commercials/logo.ts';

const HOUR = 3_600_000;
const at = (seconds: number, lengthMs = 200) => ({ startMs: seconds * 1000, endMs: seconds * 1000 + lengthMs });
const span = (from: number, to: number) => ({ startMs: from * 1000, endMs: to * 1000 });
/** Black and silent at these seconds. */
const cuts = (...seconds: number[]): Pick<Evidence, 'blacks' | 'silences'> => ({
  blacks: seconds.map((one) => at(one)),
  silences: seconds.map((one) => at(one, 300)),
});
const found = (evidence: Partial<Evidence>): number[][] =>
  breaksIn({ durationMs: HOUR, blacks: [], silences: [], bare: undefined, ...evidence }).map(({ startMs, endMs }) => [
    startMs / 1000,
    endMs / 1000,
  ]);

describe('commercial breaks', () => {
  it('reach from the cut after the logo goes to the cut before it comes back', () => {
    const bare = [span(595, 808)];
    expect(found({ ...cuts(600, 630, 660, 800), bare })).to.deep.equal([[600, 800.2]]);
  });

  it('are no scenes: dark and silent ones under the logo, long ones without it, short flashes, and parts without any cut', () => {
    expect(found({ ...cuts(300, 330, 360, 390), bare: [] })).to.deep.equal([]);
    expect(found({ ...cuts(600, 1800), bare: [span(600, 1800)] })).to.deep.equal([]);
    expect(found({ ...cuts(600, 610), bare: [span(600, 610)] })).to.deep.equal([]);
    expect(found({ bare: [span(600, 700)] })).to.deep.equal([]);
    expect(found({ blacks: [at(600, 9000)], silences: [at(600, 9000)], bare: [span(600, 690)] })).to.deep.equal([]);
  });

  it('end at a part that is only silent or only black when nothing better is near, or at the end of the recording', () => {
    const { blacks, silences } = cuts(600);
    expect(found({ blacks, silences: [...silences, at(720)], bare: [span(600, 719)] })).to.deep.equal([[600, 720.2]]);
    expect(found({ blacks: [at(600)], silences: [at(720)], bare: [span(600, 719)] }), 'no cut at all').to.deep.equal(
      [],
    );
    expect(found({ ...cuts(3500), bare: [span(3500, 3600)] })).to.deep.equal([[3500, 3600]]);
  });

  it('are one across a trailer that shows the logo', () => {
    const bare = [span(600, 660), span(690, 750)];
    expect(found({ ...cuts(600, 660, 690, 750), bare })).to.deep.equal([[600, 750.2]]);
  });

  it('are rows of spots of round lengths in a channel without a logo', () => {
    expect(found(cuts(583, 600, 630, 645, 665, 695, 712.3))).to.deep.equal([[600, 695.2]]);
    expect(found(cuts(600, 630, 645, 663, 693, 708, 728))).to.deep.equal([[600, 728.2]]);
  });

  it('are no scenes that have cuts at odd distances in a channel without a logo', () => {
    expect(found(cuts(100, 117.3, 149, 171.1, 182.6, 209, 240.9))).to.deep.equal([]);
    expect(found(cuts(100, 130, 145))).to.deep.equal([]);
    expect(found({ blacks: cuts(600, 630, 660, 690).blacks })).to.deep.equal([]);
  });

  it('pass over single seconds in which the logo is not found', () => {
    const seconds = Array.from({ length: 60 }, (_, i) => !(i === 9 || (i >= 30 && i < 50 && i !== 41)));
    expect(stretchesWithout(seconds)).to.deep.equal([span(30, 50)]);
  });
});

describe('the logo of a channel', () => {
  const { width, height } = LOGO_PICTURE;
  let seed = 7;
  const random = (most: number): number => {
    seed = (seed + 0x6d2b79f5) | 0; // mulberry32
    let mixed = Math.imul(seed ^ (seed >>> 15), seed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * most);
  };
  /** A scene of bright and dark boxes; `logo` is the place of a bright ring, from the right and the top. */
  const scene = (logo?: [x: number, y: number]): Uint8Array => {
    const picture = new Uint8Array(LOGO_BYTES).fill(60 + random(80));
    for (let box = 0; box < 30; box += 1) {
      const [x, y, wide, high, value] = [random(width - 60), random(height - 40), 60, 40, random(256)];
      for (let row = y; row < y + high; row += 1) picture.fill(value, row * width + x, row * width + x + wide);
    }
    if (!logo) return picture;
    for (let row = 0; row < 16; row += 1)
      for (let column = 0; column < 24; column += 1)
        if (row < 3 || row > 12 || column < 3 || column > 20)
          picture[(logo[1] + row) * width + width - logo[0] + column] = 235;
    return picture;
  };

  it('is learned from edges that stay, and is found or missed in each picture', () => {
    const learner = new LogoLearner();
    for (let i = 0; i < 120; i += 1) learner.add(scene(i % 4 === 3 ? undefined : [40, 12]));
    const logo = learner.logo() ?? [];
    expect(logo.length).to.be.greaterThan(23);
    const seen = Array.from({ length: 40 }, () => [scene([40, 12]), scene()].map((one) => showsLogo(one, logo)));
    expect(seen.filter(([shown]) => shown).length).to.be.greaterThan(37);
    expect(seen.filter(([, missing]) => missing).length).to.be.lessThan(3);
  });

  it('is unknown where nothing stays, and no black bar of a film', () => {
    const [none, film] = [new LogoLearner(), new LogoLearner()];
    for (let i = 0; i < 80; i += 1) {
      none.add(scene());
      const wide = scene();
      film.add(wide.fill(16, 0, 22 * width).fill(16, (height - 22) * width));
    }
    expect([none.logo()?.length, film.logo()?.length]).to.deep.equal([undefined, undefined]);
  });
});
