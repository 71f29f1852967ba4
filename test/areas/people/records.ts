// Refusals of the contract that depend on the owner of the record; test/contract/record-matrix.test.ts sends the
// requests.
import { newId } from '#platform/ids.ts';
import { givenCredit, givenItem } from '#support/given-items.ts';
import { all, listed, type Row } from '#support/record-row.ts';
import type { Caller, World } from '#support/record-world.ts';

const EDITORS: Caller[] = ['owner', 'admin', 'editor', "the admin's key"];
const VIEWERS: Caller[] = ['member', 'child', 'guest', "the member's key", 'operator'];
const HIDDEN_FROM_CHILD =
  'A person is visible when at least one credited item is; otherwise 404 as if unknown. Counts, credits and colleagues contain visible items';

/** A person in the credits of an item of that age, or without any credit. */
async function person({ api, films }: World, ageYears?: number): Promise<string> {
  const { db } = api.deps;
  if (ageYears !== undefined) {
    return givenCredit(db, await givenItem(db, films, { top: true, age_years: ageYears }), { name: 'Credited' });
  }
  const id = newId();
  await db('people').insert({ id, name: 'Uncredited', name_folded: 'uncredited' });
  return id;
}
const others: Caller[] = ['member', 'guest', "the member's key", ...EDITORS];

export const rows: Row[] = [
  {
    op: 'getPerson',
    says: HIDDEN_FROM_CHILD,
    request: async (world) => ({ params: { id: await person(world, 18) } }),
    answers: { ...all('ok', ...others), child: '404' },
  },
  {
    op: 'listPersonItems',
    says: HIDDEN_FROM_CHILD,
    request: async (world) => ({ params: { id: await person(world, 18) } }),
    answers: { ...all('ok', ...others), child: '404' },
  },
  {
    op: 'setPersonFavorite',
    says: HIDDEN_FROM_CHILD,
    request: async (world) => ({ params: { id: await person(world, 18) }, body: { favorite: true } }),
    answers: { ...all('ok', ...others), child: '404' },
  },
  {
    op: 'listPeople',
    says: HIDDEN_FROM_CHILD,
    request: async (world) => ({ query: { limit: 200 }, headers: { 'x-of': await person(world, 18) } }),
    answers: { ...all('listed', ...others), child: 'not listed' },
    read: listed,
  },
  {
    op: 'getPerson',
    when: 'without a credit',
    says: 'A person without any credit is seen only with `item:edit`',
    request: async (world) => ({ params: { id: await person(world) } }),
    answers: { ...all('ok', ...EDITORS), ...all('404', ...VIEWERS) },
  },
  {
    op: 'mergePeople',
    says: '400 when `{id}` is among personIds.',
    request: async (world) => {
      const id = await person(world, 0);
      return { params: { id }, body: { personIds: [id] } };
    },
    answers: all('400', ...EDITORS),
  },
  {
    op: 'createPerson',
    says: '409 `duplicate-external-id` with details.personId.',
    request: async (world) => {
      const ids = { custom: newId() };
      await world.api.deps.db('people').insert({
        ...{ id: newId(), name: 'First', name_folded: 'first', external_ids: JSON.stringify(ids) },
      });
      return { body: { name: 'Second', externalIds: ids } };
    },
    answers: all('409 duplicate-external-id', ...EDITORS),
  },
  {
    op: 'refreshPerson',
    says: '409 `no-identity` when there is no external id and no agent that searches by name.',
    request: async (world) => ({ params: { id: await person(world, 0) }, body: {} }),
    answers: all('409 no-identity', ...EDITORS),
  },
];
