import { expect } from 'chai';
import fc from 'fast-check';
import knex, { type Knex } from 'knex';
import { Day, Moment } from '#kernel/schemas.ts';
import { newDatabase } from '#support/stores.ts';

const digits = (length: number, max = 10 ** length - 1) =>
  fc.nat(max).map((number) => String(number).padStart(length, '0'));
const date = fc
  .tuple(fc.oneof(digits(4), fc.constantFrom('0000', '0001', '9999')), digits(2, 13), digits(2, 32))
  .map((parts) => parts.join('-'));
const zone = fc.oneof(
  fc.constant('Z'),
  fc.tuple(fc.constantFrom('+', '-'), digits(2, 24), digits(2, 60)).map(([sign, h, m]) => `${sign}${h}:${m}`),
);
const moment = fc.tuple(date, digits(2, 24), digits(2, 60), zone).map(([day, h, m, z]) => `${day}T${h}:${m}:30.5${z}`);

describe('a moment that a client sends', () => {
  let db: Knex;
  before(async () => {
    db = knex({ client: 'pg', connection: await newDatabase() });
  });
  after(async () => db.destroy());

  it('is one to Postgres too, as it was sent and as Date writes it', async () => {
    const sent = fc.sample(moment, 20_000).filter((text) => Moment.safeParse(text).success);
    expect(sent.length).to.be.greaterThan(1000);
    await db.raw('select count(t::timestamptz) from unnest(?::text[]) as t', [sent]);
    await db.raw('select count(t::timestamptz) from unnest(?::text[]) as t', [
      sent.map((text) => new Date(text).toISOString()),
    ]);
    const days = fc.sample(date, 5000).filter((text) => Day.safeParse(text).success);
    await db.raw('select count(t::date) from unnest(?::text[]) as t', [days]);
  });

  it('is refused where Postgres has none', () => {
    for (const text of [
      '0683-07-22T18:50:30-18:08',
      '0000-12-31T20:46:30-08:40',
      '0000-01-01T00:00:00Z',
      '9999-12-31T23:59:59-01:00',
    ])
      expect(Moment.safeParse(text).success, text).to.equal(false);
    for (const text of ['2026-11-22T10:00:00+14:00', '0001-01-01T00:00:00Z', '2026-11-22T10:00:00-12:00'])
      expect(Moment.safeParse(text).success, text).to.equal(true);
    expect(Day.safeParse('0000-01-01').success).to.equal(false);
  });
});
