import { expect } from 'chai';
import fc from 'fast-check';
import { cron } from '#operator/schemas/core.ts';
import { isSchedule } from '#operator/tuner-device/verdicts.ts';

const taken = (text: string): boolean => cron().safeParse(text).success;

const GOOD = [
  '30 3 * * *',
  '0 */6 * * *',
  '5,35 0-6/2 1 JAN,jul MON-FRI',
  '00 04 1-7 * 7',
  '0 0 L * *',
  '0 0 29 2 *',
  '0 0 31 2 MON',
  '0 0 * * MON#2',
  '59 23 31 12 SUN',
];
const BAD = [
  ['60 3 * * *', 'a minute'],
  ['0 24 * * *', 'an hour'],
  ['0 0 0 * *', 'day 0'],
  ['0 0 32 * *', 'day 32'],
  ['0 0 1 13 *', 'a month'],
  ['0 0 1 0 *', 'month 0'],
  ['0 0 * * 8', 'a day of the week'],
  ['0 0 * * FUNDAY', 'the name of a day'],
  ['0 0 30 2 *', '30 February'],
  ['0 0 31 FEB *', '31 February'],
  ['0 0 31 11 *', '31 November'],
  ['30-10 * * * *', 'a range that goes down'],
  ['*/0 * * * *', 'a step of 0'],
  ['* * * *', 'four fields'],
  ['* * * * * *', 'six fields'],
  ['@daily', 'a nickname'],
  ['a b c d e', 'letters'],
  ['1, * * * *', 'half a list'],
] as const;

describe('a cron expression of a resource', () => {
  for (const text of GOOD)
    it(`is taken where it comes: ${text}`, () => {
      expect(taken(text)).to.equal(true);
      expect(isSchedule(text), 'and it can be run').to.equal(true);
    });

  for (const [text, what] of BAD)
    it(`is refused for ${what}: ${text}`, () => {
      expect(taken(text)).to.equal(false);
    });

  it('can always be run when it is taken', () => {
    const number = (min: number, max: number) => fc.integer({ min, max }).map(String);
    const field = (min: number, max: number) =>
      fc.oneof(
        fc.constantFrom('*', '*/2', `*/${max}`),
        number(min, max),
        fc.tuple(number(min, max), number(min, max)).map((pair) => pair.join('-')),
        fc.tuple(number(min, max), number(min, max)).map((pair) => pair.join(',')),
      );
    const fields = fc.tuple(field(-1, 61), field(0, 25), field(0, 33), field(0, 14), field(0, 8));
    fc.assert(
      fc.property(fields, (all) => {
        const text = all.join(' ');
        if (taken(text)) expect(isSchedule(text), text).to.equal(true);
      }),
      { numRuns: 2000 },
    );
  });
});
