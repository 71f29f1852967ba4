import { expect } from 'chai';
import fc from 'fast-check';
import type { Knex } from 'knex';
import { ApiError } from '#kernel/errors.ts';
import { pageOf, parseSort, readCursor, type SortTable, writeCursor } from '#kernel/page.ts';
import { newId } from '#platform/ids.ts';
import { type Keys, readKeys } from '#platform/keys.ts';
import { createLog } from '#platform/log.ts';
import { writeKeys } from '#support/keys.ts';
import type { LooseDb } from '#support/loose.ts';
import { connectLoosely } from '#support/loose.ts';
import { atEnd, newDatabase, temporaryFolder } from '#support/stores.ts';

const sorts: SortTable = {
  name: { column: 't.name', type: 'text' },
  rank: { column: 't.rank', type: 'int', nullable: true },
  other: { column: 't.other', type: 'int', nullable: true },
  circle: { column: 't.share', type: 'real', start: 0.5 },
};

interface Thing {
  id: string;
  name: string;
  rank: number | null;
  other: number | null;
  share: number;
}

describe('pageOf', () => {
  let db: LooseDb;
  let keys: Keys;

  before(async () => {
    db = connectLoosely(await newDatabase(), createLog('silent', 'test'));
    atEnd(() => db.destroy());
    const file = `${temporaryFolder('keys')}/keys.json`;
    await writeKeys(file);
    keys = await readKeys(file);
    await db.raw(
      'create table things (id uuid primary key, name text not null, rank int, other int, share real not null, shelf int not null)',
    );
  });

  const queryFor = (sort: string, more: object = {}) => ({
    keys,
    terms: parseSort(sort, sorts, 'name'),
    cursor: undefined as string | undefined,
    limit: 3,
    scope: 'things',
    idColumn: 't.id',
    toItem: ({ id }: { id: string }) => id,
    backwards: true,
    ...more,
  });
  const things = (): Knex.QueryBuilder => db('things as t').select('t.id');

  /** Each of two shelves walked by itself and merged. */
  const spread = (inner: Knex.QueryBuilder): Knex.QueryBuilder =>
    db
      .queryBuilder()
      .select('x.*')
      .from(db.raw('(values (0), (1)) as shelf(number)'))
      .joinRaw(db.raw('cross join lateral ? as x', [inner.whereRaw('t.shelf = shelf.number')]) as unknown as string);

  const inOrder = async (sort: string): Promise<string[]> => {
    const query = things();
    for (const term of parseSort(sort, sorts, 'name')) {
      if (term.start !== undefined) query.orderByRaw('t.share < ?', [term.start]);
      query.orderByRaw(`${term.column} ${term.descending ? 'desc' : 'asc'} nulls last`);
    }
    return (await query.orderBy('t.id')).map((row: { id: string }) => row.id);
  };

  const arbitrary = fc.array(
    fc.record({
      name: fc.constantFrom('a', 'b', 'c'),
      rank: fc.option(fc.integer({ min: 0, max: 2 })),
      other: fc.option(fc.integer({ min: 0, max: 2 })),
      share: fc.constantFrom(0.1, 0.3, 0.5, 0.7),
      shelf: fc.integer({ min: 0, max: 1 }),
    }),
    { minLength: 1, maxLength: 14 },
  );
  const sort = fc.constantFrom(
    ...['name', '-name', 'rank', '-rank', 'rank,other', '-rank,other,name', 'name,-rank', '-other,-rank', 'circle'],
  );

  it('reads every row once, in order, forwards and back, with any ties and nulls', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitrary,
        sort,
        fc.tuple(fc.integer({ min: 1, max: 5 }), fc.boolean()),
        async (rows, by, [limit, shelves]) => {
          await db('things').delete();
          await db('things').insert(rows.map((row) => ({ id: newId(), ...row })));
          const wanted = await inOrder(by);
          const more = { limit, ...(shelves ? { spread, total: async () => ({ total: rows.length }) } : {}) };

          const forwards: string[][] = [];
          let cursor: string | undefined | null;
          let last: string | null | undefined;
          do {
            const { items, page } = await pageOf(db, things(), { ...queryFor(by, more), cursor: cursor ?? undefined });
            forwards.push(items);
            if (forwards.length === 1) expect(page.total).to.equal(rows.length);
            expect(page.hasMore).to.equal(page.cursor !== null);
            ({ cursor } = page);
            last = page.previous;
          } while (cursor);
          expect(forwards.flat()).to.deep.equal(wanted);

          const backwards: string[][] = [];
          while (last) {
            const { items, page } = await pageOf(db, things(), { ...queryFor(by, more), cursor: last });
            backwards.unshift(items);
            last = page.previous;
          }
          expect([...backwards.flat(), ...(forwards.at(-1) ?? [])]).to.deep.equal(wanted);
        },
      ),
      { numRuns: 60 },
    );
  });

  it('starts around a row, and reads on from there to both ends', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitrary,
        sort,
        fc.tuple(fc.integer({ min: 1, max: 5 }), fc.nat(13)),
        async (rows, by, [limit, nth]) => {
          await db('things').delete();
          await db('things').insert(rows.map((row) => ({ id: newId(), ...row })));
          const wanted = await inOrder(by);
          const around = wanted[nth % wanted.length] ?? '';
          const first = await pageOf(db, things(), queryFor(by, { limit, around }));
          expect(first.items).to.include(around);
          const whole = [...first.items];
          for (let cursor = first.page.cursor; cursor; ) {
            const next = await pageOf(db, things(), queryFor(by, { limit, cursor }));
            whole.push(...next.items);
            ({ cursor } = next.page);
          }
          for (let previous = first.page.previous; previous; ) {
            const before = await pageOf(db, things(), queryFor(by, { limit, cursor: previous }));
            whole.unshift(...before.items);
            previous = before.page.previous;
          }
          expect(whole).to.deep.equal(wanted);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('is 404 around a row that the list does not hold', async () => {
    const failed = await pageOf(db, things(), queryFor('name', { around: newId() })).catch((error: unknown) => error);
    expect((failed as ApiError).code).to.equal('NOT_FOUND');
  });

  it('neither repeats nor drops a row that stayed when others come and go', async () => {
    await db('things').delete();
    const rows: Thing[] = ['a', 'd', 'g', 'j'].map((name) => ({
      id: newId(),
      name,
      rank: null,
      other: null,
      share: 0,
    }));
    await db('things').insert(rows.map((row) => ({ ...row, shelf: 0 })));
    const first = await pageOf(db, things(), queryFor('name', { limit: 2 }));
    await db('things').insert({ id: newId(), name: 'b', share: 0, shelf: 0 });
    await db('things').where({ name: 'a' }).delete();
    const second = await pageOf(db, things(), queryFor('name', { limit: 2, cursor: first.page.cursor }));
    expect(second.items).to.deep.equal(rows.slice(2).map((row) => row.id));
  });

  it('rejects a cursor of another sort, another scope, or of no list with 400', async () => {
    const scope = 'things|name';
    const cursor = writeCursor(keys, scope, { values: ['a'], id: newId() });
    expect(readCursor(keys, scope, cursor).values).to.deep.equal(['a']);
    const refused = (other: string, text: string): unknown => {
      try {
        return readCursor(keys, other, text);
      } catch (error) {
        return error instanceof ApiError && error.code;
      }
    };
    expect(refused('things|-name', cursor)).to.equal('VALIDATION_FAILED');
    fc.assert(fc.property(fc.string(), (text) => refused(scope, text) === 'VALIDATION_FAILED'));
    const turned = cursor.slice(0, 30) + (cursor[30] === 'A' ? 'B' : 'A') + cursor.slice(31);
    expect(refused(scope, turned)).to.equal('VALIDATION_FAILED');
  });
});

describe('parseSort', () => {
  it('takes up to three known fields, each once', () => {
    expect(parseSort('-rank,name', sorts, 'name').map((term) => [term.name, term.descending])).to.deep.equal([
      ['rank', true],
      ['name', false],
    ]);
    for (const wrong of ['size', 'name,-name', 'name,rank,other,circle', '__proto__', '']) {
      if (wrong === '') expect(parseSort(wrong, sorts, 'name')).to.have.length(1);
      else expect(() => parseSort(wrong, sorts, 'name'), wrong).to.throw(ApiError);
    }
  });
});
