import { expect } from 'chai';
import fc from 'fast-check';
import { type Keepable, recordingsToRemove } from '#areas/live-tv/recordings/keeping.ts';

const NOW = new Date('2026-11-28T12:00:00Z');
const DAY_MS = 86_400_000;
const daysAgo = (days: number): Date => new Date(NOW.getTime() - days * DAY_MS);

const recording = fc.record({
  ruleId: fc.constantFrom(null, 'series', 'news'),
  keepDays: fc.option(fc.integer({ min: 1, max: 6 })),
  days: fc.integer({ min: 0, max: 8 }),
  counts: fc.boolean(),
  mayGo: fc.boolean(),
});
const rules = fc.record({ series: fc.option(fc.integer({ min: 1, max: 4 })), news: fc.constant(null) });
const place = fc.tuple(fc.array(recording, { maxLength: 12 }), rules).map(([all, keep]) =>
  all.map(
    ({ days, ...one }, at): Keepable => ({
      ...{ ...one, id: `id-${at}`, keepLast: one.ruleId === null ? null : keep[one.ruleId as 'series' | 'news'] },
      ...{ startAt: daysAgo(days + 0.1), endedAt: daysAgo(days) },
    }),
  ),
);

describe('the choice of recordings that leave', () => {
  it('takes those beyond keepDays or keepLast of their rule, oldest first, and no other', () => {
    const property = fc.property(place, (all) => {
      const going = recordingsToRemove(all, NOW);
      const ids = new Set(going.map(({ id }) => id));
      const staying = all.filter(({ id }) => !ids.has(id));
      const starts = going.map(({ startAt }) => startAt.getTime());
      expect(starts).to.deep.equal([...starts].sort((a, b) => a - b));
      for (const one of all) {
        const isNewer = (other: Keepable): boolean =>
          other.startAt > one.startAt || (other.startAt.getTime() === one.startAt.getTime() && other.id > one.id);
        const newer = staying.filter((other) => other.ruleId === one.ruleId && other.counts && isNewer(other)).length;
        const isOld = one.keepDays !== null && one.endedAt <= daysAgo(one.keepDays);
        const isTooMany = one.ruleId === 'series' && one.keepLast !== null && newer >= one.keepLast;
        expect(ids.has(one.id), one.id).to.equal(one.mayGo && (isOld || isTooMany));
      }
    });
    fc.assert(property, { numRuns: 3000 });
  });
});
