import { expect } from 'chai';
import fc from 'fast-check';
import { closesAt, common, mayWatch, resumesAt, type ViewingWindow } from '#identity/viewing-hours.ts';

const BERLIN = 'Europe/Berlin';
const days = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const;
const window = (from: string, to: string, on: ViewingWindow['days'] = [...days]): ViewingWindow => ({
  days: on,
  from,
  to,
});
const allowed = (windows: ViewingWindow[], at: string, zone = BERLIN): boolean => mayWatch(windows, zone, new Date(at));
const resumes = (windows: ViewingWindow[], at: string, zone = BERLIN): string | undefined =>
  resumesAt(windows, zone, new Date(at))?.toISOString();

describe('viewing hours', () => {
  it('are always where none are set', () => {
    expect(mayWatch([], 'UTC', new Date())).to.equal(true);
  });

  it('go by the wall clock of the zone, from the first minute to before the last', () => {
    const afternoon = [window('15:00', '19:30')];
    expect(allowed(afternoon, '2026-01-10T13:59:59Z')).to.equal(false);
    expect(allowed(afternoon, '2026-01-10T14:00:00Z')).to.equal(true);
    expect(allowed(afternoon, '2026-01-10T18:29:59Z')).to.equal(true);
    expect(allowed(afternoon, '2026-01-10T18:30:00Z')).to.equal(false);
    expect(allowed(afternoon, '2026-07-10T13:00:00Z'), 'in summer').to.equal(true);
  });

  it('over midnight belong to the day they begin on', () => {
    const friday = [window('22:00', '01:00', ['fri'])];
    expect(allowed(friday, '2026-01-09T23:30:00Z'), 'Saturday 00:30').to.equal(true);
    expect(allowed(friday, '2026-01-10T23:30:00Z'), 'Sunday 00:30').to.equal(false);
    expect(allowed(friday, '2026-01-08T23:30:00Z'), 'Friday 00:30').to.equal(false);
    const whole = [window('08:00', '08:00', ['sat'])];
    expect(allowed(whole, '2026-01-11T06:59:00Z')).to.equal(true);
    expect(allowed(whole, '2026-01-11T07:00:00Z')).to.equal(false);
  });

  it('when the clock goes forward: an hour that is left out is not waited for', () => {
    // 29 March 2026: 02:00 CET is 03:00 CEST, at 01:00 UTC.
    expect(allowed([window('02:30', '04:00')], '2026-03-29T01:00:00Z')).to.equal(true);
    expect(resumes([window('02:30', '04:00')], '2026-03-29T00:00:00Z')).to.equal('2026-03-29T01:00:00.000Z');
    expect(allowed([window('02:00', '03:00')], '2026-03-29T01:00:00Z')).to.equal(false);
    expect(resumes([window('02:00', '03:00')], '2026-03-29T00:00:00Z')).to.equal('2026-03-30T00:00:00.000Z');
    expect(resumes([window('15:00', '18:00')], '2026-03-28T20:00:00Z')).to.equal('2026-03-29T13:00:00.000Z');
  });

  it('when the clock goes back: an hour that comes twice is allowed twice', () => {
    // 25 October 2026: 03:00 CEST is 02:00 CET, at 01:00 UTC.
    const early = [window('02:15', '02:45')];
    expect(['2026-10-25T00:20:00Z', '2026-10-25T01:20:00Z'].map((at) => allowed(early, at))).to.deep.equal([
      true,
      true,
    ]);
    expect(allowed(early, '2026-10-25T00:50:00Z')).to.equal(false);
    expect(resumes(early, '2026-10-25T00:50:00Z')).to.equal('2026-10-25T01:15:00.000Z');
    expect(resumes([window('15:00', '18:00')], '2026-10-24T20:00:00Z')).to.equal('2026-10-25T14:00:00.000Z');
  });

  it('where the clock is set at midnight', () => {
    // Cairo, 24 April 2026: 00:00 is 01:00.
    expect(resumes([window('00:00', '00:30')], '2026-04-23T12:00:00Z', 'Africa/Cairo')).to.equal(
      '2026-04-24T21:00:00.000Z',
    );
  });

  it('resume at the very first minute that is allowed, as trying each one finds it', () => {
    const clock = fc
      .tuple(fc.nat(23), fc.constantFrom(0, 15, 30, 59))
      .map(([h, m]) => `${String(h).padStart(2, '0')}:${String(m).padStart(2, '0')}`);
    const made = fc.record({ days: fc.subarray([...days], { minLength: 1 }), from: clock, to: clock });
    const around = ['2026-03-28T20:00:00Z', '2026-10-24T20:00:00Z', '2026-06-01T00:00:00Z'].map((at) => Date.parse(at));
    const time = fc.tuple(fc.constantFrom(...around), fc.nat(36 * 60)).map(([at, minutes]) => at + minutes * 60_000);
    fc.assert(
      fc.property(
        fc.array(made, { minLength: 1, maxLength: 2 }),
        time,
        fc.constantFrom(BERLIN, 'Australia/Lord_Howe'),
        (windows, at, zone) => {
          let first = at;
          while (!mayWatch(windows, zone, new Date(first))) first += 60_000;
          expect(resumesAt(windows, zone, new Date(at))?.getTime()).to.equal(first);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('of a profile and its account are the hours inside both', () => {
    const minute = fc.integer({ min: 0, max: 1439 });
    const clock = minute.map(
      (at) => `${String(Math.floor(at / 60)).padStart(2, '0')}:${String(at % 60).padStart(2, '0')}`,
    );
    const windows = fc.array(fc.record({ days: fc.subarray([...days], { minLength: 1 }), from: clock, to: clock }), {
      maxLength: 3,
    });
    fc.assert(
      fc.property(windows, windows, fc.integer({ min: 0, max: 7 * 1440 - 1 }), (one, other, at) => {
        const time = new Date(Date.UTC(2026, 0, 4) + at * 60_000);
        const both = mayWatch(one, 'UTC', time) && mayWatch(other, 'UTC', time);
        expect(mayWatch(common(one, other), 'UTC', time)).to.equal(both);
      }),
      { numRuns: 500 },
    );
    const never = common([window('10:00', '11:00')], [window('11:00', '12:00')]);
    expect(resumes([...never], '2026-01-10T00:00:00Z')).to.equal(undefined);
  });

  it('close when the window ends, the next one does not follow on, and never where they are always', () => {
    const closes = (windows: ViewingWindow[], at: string) => closesAt(windows, BERLIN, new Date(at))?.toISOString();
    expect(closes([window('15:00', '19:30')], '2026-01-10T15:10:20Z')).to.equal('2026-01-10T18:30:00.000Z');
    expect(closes([window('22:00', '01:00')], '2026-01-10T22:00:00Z')).to.equal('2026-01-11T00:00:00.000Z');
    const joined = [window('15:00', '17:00'), window('17:00', '18:00')];
    expect(closes(joined, '2026-01-10T14:30:00Z')).to.equal('2026-01-10T17:00:00.000Z');
    expect(closes([window('00:00', '00:00')], '2026-01-10T14:30:00Z')).to.equal(undefined);
    expect(closes([], '2026-01-10T14:30:00Z')).to.equal(undefined);
    // 25 October 2026: the hour from 02:00 comes twice.
    expect(closes([window('01:00', '04:00')], '2026-10-25T00:00:00Z')).to.equal('2026-10-25T03:00:00.000Z');
  });
});
