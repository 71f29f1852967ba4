import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary, givenMany } from '#support/given-items.ts';

describe('totals of libraries', function () {
  this.timeout(120_000);
  let api: Api;
  let owner: Person;
  let library: GivenLibrary;
  let items: string[];
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    library = await givenLibrary(api.deps.db, 'movies', { everyone: true });
    await givenMany(api.deps.db, library, 9);
    items = await api.deps.db('items').where({ library_id: library.id }).orderBy('id').pluck('id');
  });

  /** Sent often enough that the answer comes from the known state of the library. */
  async function totals(person: Person): Promise<(number | undefined)[]> {
    const counted: (number | undefined)[] = [];
    for (let i = 0; i < 4; i += 1) {
      const { body } = await api.as(person).listLibraryItems({ params: { id: library.id }, query: { limit: 2 } });
      counted.push(body.page.total);
    }
    return counted;
  }

  it('count what the caller sees now, whatever others see and whatever earlier totals were', async () => {
    const [free, bound] = [await api.given.member(), await api.given.member()];
    const { body: label } = await api.as(owner).createLabel({ body: { name: 'Denied' } });
    const put = (add: string[]) => api.as(owner).setLabelItems({ params: { id: label.id }, body: { add } });
    await put(items.slice(0, 1));
    expect([await totals(free), await totals(bound)]).to.deep.equal([Array(4).fill(9), Array(4).fill(9)]);
    await api.as(owner).setLabelAccess({
      params: { id: label.id },
      body: { restricted: false, allow: [], deny: [{ userId: bound.accountId }], only: [] },
    });
    expect([await totals(bound), await totals(free)]).to.deep.equal([Array(4).fill(8), Array(4).fill(9)]);
    await put(items.slice(1, 4));
    expect([await totals(free), await totals(bound)]).to.deep.equal([Array(4).fill(9), Array(4).fill(5)]);
    const gone = await givenItem(api.deps.db, library, { trashed_at: new Date(), trash_reason: 'missing' });
    await givenFile(api.deps.db, library, gone);
    expect([await totals(bound), await totals(free)]).to.deep.equal([Array(4).fill(5), Array(4).fill(9)]);
    await api.as(owner).restoreTrash({ params: { id: library.id }, body: { all: true } });
    expect([await totals(bound), await totals(free)]).to.deep.equal([Array(4).fill(6), Array(4).fill(10)]);
  });
});
