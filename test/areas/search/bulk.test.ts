import { expect } from 'chai';
import { startApi } from '#support/api.ts';
import { givenLibrary, givenMany } from '#support/given-items.ts';

const ROWS = 3000;

interface Explained {
  'Execution Time': number;
  Triggers: { 'Trigger Name': string; Time: number }[];
}

describe('a change of very many items', function () {
  this.timeout(120_000);

  it('costs its triggers less than the change itself, also after one of few items on the same connection', async () => {
    const api = await startApi();
    const { db } = api.deps;
    await givenMany(db, await givenLibrary(db, 'movies'), ROWS);
    await db.transaction(async (transaction) => {
      await transaction.raw('set local statement_timeout = 0');
      await transaction.raw('update items set rating = 1, labels = array[7], age_years = 6 where index_number = 0');
      const { rows } = await transaction.raw<{ rows: { 'QUERY PLAN': Explained[] }[] }>(
        'explain (analyze, format json) update items set rating = 2, labels = array[8], age_years = 12',
      );
      const [explained] = rows[0]?.['QUERY PLAN'] ?? [];
      const own = explained?.Triggers.filter((one) => /^items_(search|credited)_changed$/.test(one['Trigger Name']));
      expect(own).to.have.length(2);
      const spent = own?.reduce((sum, { Time }) => sum + Time, 0) ?? 0;
      expect(spent / (explained?.['Execution Time'] ?? 0)).to.be.below(0.5);
    });
    expect(await db('search_documents').whereRaw("labels = '{8}' and age = 12").pluck('id')).to.have.length(ROWS);
  });
});
