import { expect } from 'chai';
import { moved } from '../../../../web/src/core/geometry/focus.ts';
import { heightOf, layoutOf, linesOf, rowOf, specFor } from '../../../../web/src/core/geometry/grid.ts';
import { nearest } from '../../../../web/src/core/geometry/nearest.ts';
import { bucketAt, indexAt, marksOf, shareOf } from '../../../../web/src/core/geometry/rail.ts';
import {
  anchorAt,
  keptRows,
  placeAt,
  recentred,
  revealed,
  topOf,
  visibleRows,
  windowHeight,
} from '../../../../web/src/core/geometry/scroll.ts';

const spec = specFor(1280);
const layout = layoutOf(984, 500_000, spec);

describe('geometry of a grid', () => {
  it('has the columns of each window width, and knows the height of a card before any data', () => {
    const cases = [
      { window: 360, region: 328, columns: 3 },
      { window: 768, region: 648, columns: 5 },
      { window: 1280, region: 984, columns: 6 },
      { window: 1920, region: 1608, columns: 9 },
    ];
    for (const { window, region, columns } of cases)
      expect(layoutOf(region, 1, specFor(window)).columns, `${window} px`).to.equal(columns);
    const { cardWidth, cardHeight, rowHeight } = layoutOf(328, 1, specFor(360));
    expect([cardWidth, cardHeight, rowHeight]).to.deep.equal([104, 202, 210]);
  });

  it('has fewer and wider columns in landscape and in large density, more in compact density', () => {
    const columns = (density: 'compact' | 'large' | 'normal', shape: 'landscape' | 'poster' = 'poster'): number =>
      layoutOf(984, 1, specFor(1280, density, shape), shape).columns;
    expect(columns('compact')).to.be.greaterThan(columns('normal'));
    expect(columns('large')).to.be.lessThan(columns('normal'));
    expect(columns('normal', 'landscape')).to.be.lessThan(columns('normal'));
  });

  it('always has a column and never a row too many', () => {
    expect(layoutOf(40, 3, spec).columns).to.equal(1);
    expect(layoutOf(984, 12, spec).rows).to.equal(2);
    expect(layoutOf(984, 13, spec).rows).to.equal(3);
    expect(heightOf(layoutOf(984, 0, spec))).to.equal(0);
    expect(rowOf(13, layout)).to.equal(2);
    expect(heightOf(linesOf(900, 10, 48))).to.equal(480);
  });
});

describe('scrolling of a list higher than a browser allows', () => {
  const height = heightOf(layout);
  const viewport = 700;

  it('keeps the scroller at a million px and reaches the first and the last row', () => {
    expect(height).to.be.greaterThan(20_000_000);
    expect(windowHeight(height)).to.equal(1_000_000);
    expect(placeAt(0, height, viewport)).to.deep.equal({ base: 0, scrollTop: 0 });
    const end = placeAt(height, height, viewport);
    expect(end.base + end.scrollTop).to.equal(height - viewport);
    expect(end.scrollTop).to.be.at.most(1_000_000 - viewport);
  });

  it('moves the window when one of its ends is near, without moving the visible rows', () => {
    const middle = placeAt(9_000_000, height, viewport);
    expect(recentred(middle, height, viewport)).to.equal(undefined);
    const near = { base: middle.base, scrollTop: 900_000 };
    const next = recentred(near, height, viewport);
    expect((next?.base ?? 0) + (next?.scrollTop ?? 0)).to.equal(near.base + near.scrollTop);
    expect(next?.scrollTop).to.be.within(250_000, 750_000);
    expect(recentred({ base: 0, scrollTop: 0 }, height, viewport), 'the start of the list').to.equal(undefined);
    expect(recentred({ base: 0, scrollTop: 90 }, 5000, viewport), 'a short list').to.equal(undefined);
  });

  it('keeps cells around the viewport, at most 400', () => {
    const { first, last } = keptRows(9_000_000, viewport, layout);
    const visible = visibleRows(9_000_000, viewport, layout);
    expect(first).to.be.lessThan(visible.first);
    expect(last).to.be.greaterThan(visible.last);
    const wide = layoutOf(3400, 500_000, specFor(3600, 'compact'));
    const kept = keptRows(3_000_000, 2000, wide);
    expect((kept.last - kept.first + 1) * wide.columns).to.be.at.most(400);
  });

  it('comes back to the same place in another width', () => {
    const top = 1234 * layout.rowHeight + 40;
    const anchor = anchorAt(top, layout);
    expect(topOf(anchor, layout)).to.equal(top);
    const narrow = layoutOf(328, 500_000, specFor(360));
    expect(visibleRows(topOf(anchor, narrow), 600, narrow).first).to.equal(rowOf(anchor.index, narrow));
  });

  it('scrolls by the least that shows a whole row', () => {
    expect(revealed(10, 10 * layout.rowHeight + 5, viewport, layout)).to.equal(10 * layout.rowHeight);
    expect(revealed(10, 10 * layout.rowHeight - 100, viewport, layout)).to.equal(10 * layout.rowHeight - 100);
    const down = revealed(10, 8 * layout.rowHeight - 50, viewport, layout);
    expect(down + viewport).to.equal(10 * layout.rowHeight + layout.cardHeight);
  });
});

describe('arrow keys in a grid', () => {
  const field = { count: 20, columns: 6, page: 2 };

  it('move by columns and rows, and stop at the edges', () => {
    const cases: [number, string, number | undefined][] = [
      [0, 'ArrowRight', 1],
      [5, 'ArrowRight', 6],
      [0, 'ArrowLeft', undefined],
      [6, 'ArrowLeft', undefined],
      [19, 'ArrowRight', undefined],
      [1, 'ArrowDown', 7],
      [13, 'ArrowDown', 19],
      [17, 'ArrowDown', 19],
      [19, 'ArrowDown', undefined],
      [3, 'ArrowUp', undefined],
      [8, 'ArrowUp', 2],
      [1, 'PageDown', 13],
      [14, 'PageUp', 2],
      [3, 'Home', 0],
      [3, 'End', 19],
      [3, 'a', undefined],
    ];
    for (const [from, key, to] of cases) expect(moved(from, key, field), `${key} from ${from}`).to.equal(to);
  });

  it('are mirrored where the page is read from right to left', () => {
    expect(moved(3, 'ArrowRight', { ...field, mirrored: true })).to.equal(2);
    expect(moved(6, 'ArrowRight', { ...field, mirrored: true })).to.equal(undefined);
  });

  it('reach both ends of a list of one column', () => {
    expect(moved(2, 'PageDown', { count: 5, columns: 1, page: 10 })).to.equal(4);
    expect(moved(4, 'ArrowDown', { count: 5, columns: 1, page: 10 })).to.equal(undefined);
    expect(moved(2, 'ArrowLeft', { count: 5, columns: 1, page: 10 })).to.equal(undefined);
  });
});

describe('arrow keys of a page', () => {
  const box = (left: number, top: number, width = 100) => ({ left, top, width, height: 40 });
  const boxes = new Map([
    ['right', box(200, 0)],
    ['far right', box(500, 0)],
    ['below', box(20, 300)],
    ['below aside', box(400, 250)],
    ['bar below', box(0, 600, 1000)],
  ]);

  it('lead to the nearest box in their direction, a wide one from all that it covers', () => {
    expect(nearest(box(0, 0), boxes, [1, 0])).to.equal('right');
    expect(nearest(box(0, 0), boxes, [0, 1])).to.equal('below');
    expect(nearest(box(800, 500), boxes, [0, 1])).to.equal('bar below');
    expect(nearest(box(0, 0), boxes, [-1, 0])).to.equal(undefined);
    expect(nearest(box(0, 0), boxes, [0, -1])).to.equal(undefined);
  });
});

describe('the jump rail', () => {
  const buckets = ['A', 'B', 'C', 'D'].map((label, at) => ({
    key: label,
    label,
    count: at === 2 ? 1 : 100,
    offset: 0,
  }));
  for (const [at, bucket] of buckets.entries())
    bucket.offset = buckets.slice(0, at).reduce((sum, { count }) => sum + count, 0);

  it('names the bucket of every index', () => {
    expect([0, 99, 100, 200, 201, 300].map((index) => bucketAt(buckets, index)?.label).join('')).to.equal('AABCDD');
    expect(bucketAt([], 3)).to.equal(undefined);
  });

  it('maps a part of its height to an index and back', () => {
    expect(indexAt(1, 301)).to.equal(300);
    expect(indexAt(-1, 301)).to.equal(0);
    expect(shareOf(indexAt(0.5, 301), 301)).to.be.closeTo(0.5, 0.01);
    expect(shareOf(0, 1)).to.equal(0);
  });

  it('leaves out marks that would overlap, small buckets first', () => {
    expect(
      marksOf(buckets, 301, 1000)
        .map(({ label }) => label)
        .join(''),
    ).to.equal('ABD');
    expect(
      marksOf(buckets, 301, 10_000)
        .map(({ label }) => label)
        .join(''),
    ).to.equal('ABCD');
  });
});
