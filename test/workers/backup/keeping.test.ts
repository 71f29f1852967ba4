import { expect } from 'chai';
import { goingOf } from '#workers/backup/keeping.ts';

const KEEP = { last: 3, daily: 7, weekly: 4, monthly: 6 };
const NOW = new Date('2026-11-22T12:00:00Z');
type Judged = Parameters<typeof goingOf>[0][number];

const backup = (at: string, more: Partial<Judged> = {}): Judged => ({
  id: at,
  state: 'completed',
  pinned: false,
  keep_until: null,
  verification: null,
  started_at: new Date(at),
  ...more,
});

const daysBack = (count: number): string[] =>
  Array.from({ length: count }, (_, n) => new Date(NOW.getTime() - n * 86_400_000).toISOString());

const going = (backups: Judged[], keep = KEEP, timeZone = 'UTC'): string[] =>
  goingOf(backups, { keep, now: NOW, timeZone }).map(({ id }) => id);

describe('keeping rules of backups', () => {
  it('keep the last ones, and the newest of so many days, weeks and months', () => {
    const all = daysBack(400);
    const stays = all.filter((id) => !going(all.map((at) => backup(at))).includes(id));
    expect(stays.slice(0, 7)).to.deep.equal(all.slice(0, 7));
    expect(stays).to.have.length.within(7 + 3 + 5, 7 + 4 + 6);
    expect(new Set(stays.map((id) => id.slice(0, 7))).size).to.equal(6);
  });

  it('take several of a day for one, by the day of the server', () => {
    const pair = ['2026-11-21T23:30:00.000Z', '2026-11-21T22:30:00.000Z'].map((at) => backup(at));
    const keep = { last: 0, daily: 2, weekly: 0, monthly: 0 };
    expect(going(pair, keep)).to.deep.equal(['2026-11-21T22:30:00.000Z']);
    expect(going(pair, keep, 'Europe/Berlin')).to.deep.equal([]);
  });

  it('never remove the newest good one, pinned ones, those with a request to keep them, or the one verified last', () => {
    const none = { last: 0, daily: 0, weekly: 0, monthly: 0 };
    const [a = '', b = '', c = '', d = '', e = '', f = ''] = daysBack(6);
    const later = new Date(NOW.getTime() + 1000);
    const before = new Date(NOW.getTime() - 1000);
    const verification = { at: b } as never;
    const backups = [
      backup(a),
      backup(b, { pinned: true }),
      backup(c, { keep_until: later }),
      backup(d, { keep_until: before }),
      backup(e, { state: 'verified', verification }),
      backup(f, { state: 'verified', verification: { at: f } as never }),
    ];
    expect(going(backups, none)).to.deep.equal([d, f]);
  });

  it('take a damaged one only after a newer one was verified', () => {
    const none = { last: 0, daily: 0, weekly: 0, monthly: 0 };
    const [a = '', b = '', c = ''] = daysBack(3);
    expect(going([backup(a), backup(b, { state: 'damaged' })], none)).to.deep.equal([]);
    const verified = backup(a, { state: 'verified', verification: { at: a } as never });
    expect(going([verified, backup(b, { state: 'damaged' })], none)).to.deep.equal([b]);
    expect(going([backup(a, { state: 'damaged' }), backup(c, { state: 'verified' })], none)).to.deep.equal([]);
  });
});
