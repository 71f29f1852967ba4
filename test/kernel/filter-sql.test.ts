import { expect } from 'chai';
import fc from 'fast-check';
import { parseFilter, parseRules, type RuleGroup, type Rules } from '#kernel/filter.ts';
import {
  applyRules,
  calendarDay,
  flag,
  folded,
  idOrName,
  moment,
  related,
  type SqlField,
  scalar,
} from '#kernel/filter-sql.ts';
import { createLog } from '#platform/log.ts';
import type { LooseDb } from '#support/loose.ts';
import { connectLoosely } from '#support/loose.ts';
import { atEnd, newDatabase } from '#support/stores.ts';

interface Context {
  now: Date;
}

const fields: Record<string, SqlField<Context>> = {
  name: { kind: 'text', where: folded('foyer_fold(t.name)') },
  size: { kind: 'number', integer: true, where: scalar('t.size', 'bigint') },
  score: { kind: 'number', where: scalar('t.score', 'real') },
  at: { kind: 'date', where: moment('t.at') },
  day: { kind: 'date', where: calendarDay('t.day') },
  good: { kind: 'boolean', where: flag('t.good') },
  mark: {
    kind: 'tag',
    where: related(
      (query) => query.from('marks as m').whereRaw('m.thing = t.number'),
      idOrName({ id: 'm.id', name: 'm.name' }),
    ),
  },
};

const NOW = new Date('2026-06-15T12:00:00Z');
const MARK = '01900000-0000-7000-8000-0000000000aa';

describe('applyRules', () => {
  let db: LooseDb;

  before(async () => {
    db = connectLoosely(await newDatabase(), createLog('silent', 'test'));
    atEnd(() => db.destroy());
    await db.raw(`
      create table rows (number int primary key, name text, size bigint, score real, at timestamptz, day date, good boolean not null);
      create table marks (thing int, id uuid, name text);
      insert into rows values
        (1, 'Amélie', 10, 7.3, '2026-06-15T08:00:00Z', '2026-06-15', true),
        (2, '100% Wolf', 20, 5.5, '2026-06-14T23:59:59.999Z', '2026-06-14', false),
        (3, 'a_b', null, null, null, null, false),
        (4, 'axb', 30, 9, '2026-05-01T00:00:00Z', '2026-05-01', true);
      insert into marks values (1, '${MARK}', 'comedie'), (2, null, 'action'), (2, null, 'comedie');
    `);
  });

  const numbers = async (rules: Rules): Promise<number[]> => {
    const query = db('rows as t').orderBy('number').select('number');
    applyRules(query, rules, { fields, context: { now: NOW } });
    return (await query).map((row: { number: number }) => row.number);
  };
  const found = (filter: string): Promise<number[]> => numbers(parseFilter(filter, fields));

  it('compares text without case and accents, and takes % and _ as they are', async () => {
    expect(await found('name:eq:AMELIE')).to.deep.equal([1]);
    expect(await found('name:starts:amé')).to.deep.equal([1]);
    expect(await found('name:contains:%')).to.deep.equal([2]);
    expect(await found('name:contains:_')).to.deep.equal([3]);
    expect(await found('name:nin:amelie,axb')).to.deep.equal([2, 3]);
    expect(await found("name:eq:' or true --")).to.deep.equal([]);
  });

  it('compares numbers; an item without one is not equal to any', async () => {
    expect(await found('size:gte:20')).to.deep.equal([2, 4]);
    expect(await found('size:between:10,20')).to.deep.equal([1, 2]);
    expect(await found('size:ne:10')).to.deep.equal([2, 3, 4]);
    expect(await found('size:nin:10,20')).to.deep.equal([3, 4]);
    expect(await found('size:exists:false')).to.deep.equal([3]);
    expect(await found('score:eq:7.3')).to.deep.equal([1]);
    expect(await found('size:eq:999999999999999')).to.deep.equal([]);
  });

  it('takes a day as its 24 hours', async () => {
    for (const field of ['at', 'day']) {
      expect(await found(`${field}:eq:2026-06-15`), field).to.deep.equal([1]);
      expect(await found(`${field}:gt:2026-06-14`), field).to.deep.equal([1]);
      expect(await found(`${field}:gte:2026-06-14`), field).to.deep.equal([1, 2]);
      expect(await found(`${field}:lte:2026-06-14`), field).to.deep.equal([2, 4]);
      expect(await found(`${field}:lt:2026-06-14`), field).to.deep.equal([4]);
      expect(await found(`${field}:ne:2026-06-15`), field).to.deep.equal([2, 3, 4]);
      expect(await found(`${field}:between:2026-05-01,2026-06-14`), field).to.deep.equal([2, 4]);
      expect(await found(`${field}:gte:now-30d`), field).to.deep.equal([1, 2]);
      expect(await found(`${field}:exists:false`), field).to.deep.equal([3]);
    }
    expect(await found('at:gt:2026-06-15T07\\:59\\:59Z')).to.deep.equal([1]);
  });

  it('finds related rows by id or name, and rows without them', async () => {
    expect(await found('mark:eq:Comédie')).to.deep.equal([1, 2]);
    expect(await found(`mark:in:${MARK},action`)).to.deep.equal([1, 2]);
    expect(await found(`mark:eq:${MARK}`)).to.deep.equal([1]);
    expect(await found('mark:ne:comedie')).to.deep.equal([3, 4]);
    expect(await found('mark:starts:act')).to.deep.equal([2]);
    expect(await found('mark:exists:true')).to.deep.equal([1, 2]);
    expect(await found('mark:exists:false;good:eq:true')).to.deep.equal([4]);
    expect(await found('mark:eq:01900000-0000-7000-8000-0000000000bb')).to.deep.equal([]);
  });

  it('joins groups by all and any', async () => {
    const rules = (group: RuleGroup): Rules => parseRules(group, fields);
    const size = (value: number): { field: string; op: 'eq'; value: number } => ({ field: 'size', op: 'eq', value });
    expect(await numbers(rules({ any: [size(10), size(30)] }))).to.deep.equal([1, 4]);
    const good = { field: 'good', op: 'eq', value: true } as const;
    expect(await numbers(rules({ all: [good, { any: [size(10), size(20)] }] }))).to.deep.equal([1]);
    expect(await numbers({ all: [] })).to.deep.equal([1, 2, 3, 4]);
  });

  it('binds every value: none stands in the SQL text', async () => {
    const secret = fc.stringMatching(/^zq[a-z'"$;%_\\-]{6,12}zq$/);
    await fc.assert(
      fc.asyncProperty(
        secret,
        fc.constantFrom('name', 'mark'),
        fc.constantFrom('eq', 'ne', 'in', 'nin', 'contains', 'starts'),
        async (value, field, op) => {
          const query = db('rows as t').select('number');
          applyRules(query, { all: [{ field, op: op as 'eq', values: [value] }] }, { fields, context: { now: NOW } });
          const { sql, bindings } = query.toSQL();
          expect(sql).not.to.include('zq');
          expect(JSON.stringify(bindings)).to.include('zq');
          await query; // and Postgres takes it
        },
      ),
      { numRuns: 100 },
    );
  });
});
