// One compiler: rules in JSON and the filter string of the same conditions become the same statement and find the same items.
import { expect } from 'chai';
import fc from 'fast-check';
import { fieldsFor, knowCustomFields, listed, rulesFor, smartList } from '#areas/items/public.ts';
import { seers } from '#areas/notifications/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type Condition, operatorsOf, printFilter, printRules } from '#kernel/filter.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary, givenState, givenTag } from '#support/given-items.ts';

const VALUES: Readonly<Record<string, fc.Arbitrary<string>>> = {
  text: fc.constantFrom('film', 'Film 3', 'a;b:c,d\\e', '100%'),
  tag: fc.constantFrom('drama', 'Noir; old', 'none'),
  person: fc.constantFrom('Ada', '01900000-0000-7000-8000-00000000dead'),
  number: fc.integer({ min: 1, max: 12 }).map(String),
  duration: fc.integer({ min: 0, max: 600_000 }).map(String),
  bytes: fc.nat().map(String),
  boolean: fc.constantFrom('true', 'false'),
  date: fc.constantFrom('now-30d', '2024-05-01', '2024-05-01T10:00:00Z'),
  enum: fc.constantFrom('movie', 'fhd', 'ended'),
  language: fc.constantFrom('en', 'de-AT'),
};

describe('rules and filter strings', function () {
  this.timeout(60_000);
  let api: Api;
  let person: Person;
  let call: Call;
  before(async () => {
    api = await startApi();
    const { db } = api.deps;
    person = await api.given.member();
    const films = await givenLibrary(db, 'movies', { everyone: true });
    for (let n = 1; n <= 12; n++) {
      const id = await givenItem(db, films, {
        title: `Film ${n}`,
        top: true,
        year: n,
        rating: n / 2,
        runtime_ms: n * 50_000,
      });
      await givenTag(db, films, id, ['genre', n % 2 ? 'Drama' : 'Noir; old']);
      if (n % 3 === 0) await givenState(db, films, { profileId: person.profileId, itemId: id, watched: true });
    }
    const [seer] = await seers(db, [person.profileId], { kind: 'collection-shared' });
    call = { db, who: seer?.who, now: new Date(), deps: api.deps } as unknown as Call;
  });

  it('become the same statement, and find the same items', async () => {
    await knowCustomFields(call, {});
    const fields = Object.entries(fieldsFor(call.who, [])).filter(
      ([, field]) => !field.values && VALUES[field.kind] && !field.shape,
    );
    const condition = fc.constantFrom(...fields).chain(([field, spec]) =>
      fc.constantFrom(...operatorsOf(spec)).chain((op) => {
        const value = op === 'exists' ? fc.constantFrom('true', 'false') : (VALUES[spec.kind] ?? fc.constant('1'));
        const count = op === 'between' ? 2 : op === 'in' || op === 'nin' ? 3 : 1;
        return fc.array(value, { minLength: count, maxLength: count }).map(
          (values): Condition => ({
            field,
            op,
            values: spec.integer ? values.map((one) => one.split('.')[0] ?? '1') : values,
          }),
        );
      }),
    );
    let found = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(condition, { minLength: 1, maxLength: 5 }), async (all) => {
        const filter = printFilter({ all }) ?? '';
        const smart = await smartList(call, { match: printRules({ all }), types: [], libraryIds: [], sort: 'title' });
        expect(smart.ignored).to.deep.equal([]);
        const byRules = listed(call, smart.listing, smart.rules).select('i.id').orderBy('i.id');
        const byFilter = listed(call, smart.listing, rulesFor(call, [], filter))
          .select('i.id')
          .orderBy('i.id');
        expect(byRules.toSQL().toNative()).to.deep.equal(byFilter.toSQL().toNative());
        const ids: { id: string }[] = await byRules;
        const listedIds = (await api.as(person).listItems({ query: { filter, limit: 200 } })).body.items.map(
          ({ id }) => id,
        );
        if (!all.some(({ field }) => field === 'type')) expect(ids.map(({ id }) => id)).to.have.members(listedIds);
        found += ids.length;
      }),
      { numRuns: 120 },
    );
    expect(found, 'not every filter is empty').to.be.greaterThan(50);
  });
});
