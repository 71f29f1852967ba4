import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Case, check, type Miss, readCases } from './corpus/run.ts';

/** Of all cases, and of those that are held out while the reading of names is changed. */
const LEAST = 0.98;
const LEAST_HELD = 0.97;
const MISSES = join(import.meta.dirname, 'corpus/misses.txt');

function share(cases: readonly Case[], missed: ReadonlySet<Case>): number {
  return 1 - cases.filter((one) => missed.has(one)).length / cases.length;
}

function percent(part: number): string {
  return `${(100 * part).toFixed(1)} %`;
}

function lineOf({ of, differences, hidden }: Miss): string {
  const what = [...hidden.map((file) => `hidden: ${file}`), ...differences].join('; ');
  return `${of.peer}: ${of.paths.slice(0, 3).join(' | ')}\n    ${what}`;
}

describe('names as the peers read them', () => {
  const cases = readCases();
  const misses = cases.flatMap((one) => check(one) ?? []);
  const missed = new Set(misses.map(({ of }) => of));
  const held = cases.filter((one) => one.held);
  const open = cases.filter((one) => !one.held);
  const summary = `${percent(share(open, missed))} of ${open.length}, and ${percent(share(held, missed))} of ${held.length} held out`;

  it('are cases enough', () => {
    expect(cases.length).to.be.at.least(1500);
    expect(held.length / cases.length).to.be.within(0.15, 0.25);
  });

  it(`are read alike: ${summary}`, () => {
    expect(share(open, missed)).to.be.at.least(LEAST);
    expect(share(held, missed)).to.be.at.least(LEAST_HELD);
  });

  it('are enough, and read alike, of music, photos, books, comics, games and courses too', () => {
    const own = cases.filter(({ library }) => !['movies', 'shows'].includes(library));
    expect(own.length).to.be.at.least(600);
    expect(share(own, missed)).to.be.at.least(LEAST);
  });

  it('lists the names that are read otherwise', () => {
    const listed = misses.filter(({ of }) => !of.held).map(lineOf);
    const text = `${percent(share(open, missed))} of ${open.length} cases are read as the peer reads them.\n\n${listed.join('\n')}\n`;
    if (process.env.UPDATE_GOLDEN) writeFileSync(MISSES, text);
    expect(readFileSync(MISSES, 'utf8')).to.equal(text);
  });

  it('hides nothing that a peer shows', () => {
    const hidden = misses.flatMap((miss) => miss.hidden);
    expect(hidden).to.deep.equal([]);
  });
});
