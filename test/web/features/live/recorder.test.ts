import { expect } from 'chai';
import {
  bodyOf,
  emptyForm,
  formOf,
  isReady,
  matchOf,
  wantedOf,
} from '../../../../web/src/features/live/recorder/rule-form.ts';
import { daysOf } from '../../../../web/src/features/live/recorder/schedule.ts';

describe('the form of a rule', () => {
  it('shows the conditions that it has fields for, and keeps the others as they are', () => {
    const match = 'title:contains:A\\, B;series:eq:title\\:a;category:eq:News;title:contains:C;kind:in:news,other';
    const wanted = wantedOf(match);
    expect(wanted).to.deep.equal({
      ...{ title: 'A, B', category: 'News', kind: '' },
      rest: 'series:eq:title\\:a;title:contains:C;kind:in:news,other',
    });
    expect(matchOf(wanted)).to.equal(
      'title:contains:A\\, B;category:eq:News;series:eq:title\\:a;title:contains:C;kind:in:news,other',
    );
    expect(wantedOf(matchOf(wanted))).to.deep.equal(wanted);
    expect(isReady(emptyForm())).to.equal(false);
    expect(isReady({ ...emptyForm(), title: '  ' })).to.equal(false);
    expect(isReady(emptyForm('p'))).to.equal(true);
  });

  it('sends a programme or conditions, leaves empty numbers out, and sends what it read back the same', () => {
    const { match, programId, ...rest } = bodyOf(emptyForm('p'));
    expect({ match, programId }).to.deep.equal({ match: undefined, programId: 'p' });
    expect(rest).to.not.have.any.keys('startPadMs', 'endPadMs', 'keepLast', 'keepDays', 'from', 'name');
    const rule = {
      ...{ id: 'r', name: 'News', enabled: true, match: 'title:contains:news', channelIds: ['c'], newOnly: false },
      ...{ skipOwned: true, days: ['sun', 'mon'] as const, from: '18:00', to: '23:00', startPadMs: 60_000 },
      ...{ endPadMs: 300_000, priority: 80, keepLast: 5, maxUpcoming: 50, libraryId: 'l', mine: true },
      ...{ upcoming: 0, conflicts: 0, recorded: 0, createdAt: '2026-01-01T00:00:00Z' },
    };
    expect(bodyOf(formOf({ ...rule, days: [...rule.days] }))).to.deep.include({
      ...{ name: 'News', match: 'title:contains:news', channelIds: ['c'], newOnly: false, days: ['mon', 'sun'] },
      ...{ from: '18:00', to: '23:00', startPadMs: 60_000, endPadMs: 300_000, priority: 80, keepLast: 5 },
    });
  });
});

describe('the days of the plan', () => {
  it('have the recordings without a slot first, then each slot by time, in the order of the tuners', () => {
    const at = (day: number, hour: number): string => new Date(2026, 0, day, hour).toISOString();
    const entry = (id: string, startAt: string, place: object = {}) => ({
      ...{ recording: { id, startAt }, sharedWith: [] },
      ...place,
    });
    const items = [
      entry('late', at(2, 20), { tunerId: 'a', slot: 0 }),
      entry('second', at(1, 10), { tunerId: 'b', slot: 0 }),
      entry('other slot', at(1, 9), { tunerId: 'a', slot: 1 }),
      entry('evening', at(1, 20), { tunerId: 'a', slot: 0 }),
      entry('morning', at(1, 8), { tunerId: 'a', slot: 0 }),
      entry('none', at(1, 22)),
    ];
    const slots = [
      { tunerId: 'a', name: 'Roof', slotCount: 2 },
      { tunerId: 'b', slotCount: 1 },
    ];
    const days = daysOf({ items, slots } as never);
    expect(
      days.map(({ slots: own }) =>
        own.map(({ tuner, slot, entries }) => [tuner, slot, entries.map((one) => one.recording.id)]),
      ),
    ).to.deep.equal([
      [
        [undefined, undefined, ['none']],
        ['Roof', 1, ['morning', 'evening']],
        ['Roof', 2, ['other slot']],
        [undefined, 1, ['second']],
      ],
      [['Roof', 1, ['late']]],
    ]);
  });
});
