import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenCredit, givenItem, givenLibrary } from '#support/given-items.ts';

describe('merged people', () => {
  let api: Api;
  let owner: Person;
  let member: Person;
  let films: GivenLibrary;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    member = await api.given.member();
    films = await givenLibrary(api.deps.db, 'movies');
  });
  const film = () => givenItem(api.deps.db, films, { top: true });
  const create = async (body: Record<string, unknown>): Promise<string> =>
    (await api.as(owner).createPerson({ body: { name: 'Someone', ...body } })).body.id;
  const credit = (itemId: string, personId: string, more: Record<string, unknown> = {}) =>
    givenCredit(api.deps.db, itemId, { name: '', personId, ...more });
  const merge = (id: string, personIds: string[]) => api.as(owner).mergePeople({ params: { id }, body: { personIds } });

  it('gain credits, names, favourites, missing facts and ids; the old ids stay valid everywhere', async () => {
    const { db } = api.deps;
    const [both, alone] = [await film(), await film()];
    const into = await create({ name: 'Jo Merged', biography: 'Own.', externalIds: { tmdb: '1' } });
    const other = await create({ name: 'Joe Merged', aliases: ['J. M.'], biography: 'Other.', birthday: '1901-02-03' });
    const third = await create({ name: 'Jo M', externalIds: { tmdb: '2', imdb: 'nm2' } });
    for (const id of [into, other]) await credit(both, id, { character: 'A' });
    await credit(both, other, { character: 'B' });
    await credit(alone, third);
    await api.as(member).setPersonFavorite({ params: { id: third }, body: { favorite: true, notify: true } });
    await db('outbox').delete();
    const { body } = await merge(into, [other, third]);
    expect(body).to.deep.include({ id: into, biography: 'Own.', birthday: '1901-02-03', itemCount: 2 });
    expect(body.aliases).to.deep.equal(['Joe Merged', 'J. M.', 'Jo M']);
    expect(body.externalIds).to.deep.equal({ tmdb: '1', imdb: 'nm2' });
    const row = await db('people').where({ id: into }).first();
    expect(row.further_ids).to.deep.equal([{ provider: 'tmdb', value: '2' }]);
    const characters = await db('credits').where({ item_id: both }).orderBy('character').pluck('character');
    expect(characters).to.deep.equal(['A', 'B']);
    const events = await db('outbox').where({ event: 'item.updated' });
    expect(new Set(events.map(({ payload }) => payload.itemId))).to.deep.equal(new Set([both, alone]));
    for (const id of [into, other, third]) {
      const read = await api.as(member).getPerson({ params: { id } });
      expect(read.body).to.include({ id: into, favorite: true, notify: true });
      const items = await api.as(member).listPersonItems({ params: { id } });
      expect(items.body.items.map(({ item }) => item.id).sort()).to.deep.equal([both, alone].sort());
      const filtered = await api.as(member).listItems({ query: { filter: `person:eq:${id}` } });
      expect(filtered.body.items).to.have.length(2);
      expect((await api.as(member).listPersonPortraits({ params: { id } })).status).to.equal(200);
    }
    const taken = await api.as(owner).createPerson({ body: { name: 'New', externalIds: { tmdb: '2' } } });
    expect(taken.status, 'a further id is still that of the person').to.equal(409);
    const again = await create({ name: 'Jo the Fourth' });
    await merge(again, [other]);
    expect((await api.as(owner).getPerson({ params: { id: third } })).body.id, 'an alias of an alias').to.equal(again);
  });

  it('refuse themselves and the unknown, and repeat without effect', async () => {
    const [one, two] = [await create({ name: 'One' }), await create({ name: 'Two' })];
    expect((await merge(one, [one])).status).to.equal(400);
    expect((await merge(one, [newId()])).status).to.equal(404);
    expect((await merge(one, [two])).status).to.equal(200);
    expect((await merge(one, [two])).body).to.include({ id: one });
  });

  it('gain the portrait of another when they have none', async () => {
    const { db } = api.deps;
    const [into, other] = [await create({ name: 'Faceless' }), await create({ name: 'Faced' })];
    const id = newId();
    await db('images').insert({
      ...{ id, kind: 'portrait', owner_kind: 'person', owner_id: other, source: 'upload', sha256: 'x' },
      ...{ mime: 'image/png', size_bytes: 1, width: 60, height: 90, blurhash: '', dominant: '#000000' },
    });
    expect((await merge(into, [other])).body.portrait?.id).to.equal(id);
  });

  it('end as one, whatever merges run at the same time', async () => {
    for (let round = 0; round < 5; round++) {
      const item = await film();
      const people = await Promise.all(
        ['A', 'B', 'C'].map((name) => create({ name, externalIds: { custom: newId() } })),
      );
      const [a = '', b = '', c = ''] = people;
      for (const id of people) await credit(item, id);
      const answers = await Promise.all([merge(a, [b]), merge(b, [a]), merge(b, [c]), merge(c, [a])]);
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200, 200, 200]);
      const ids = await Promise.all(
        people.map(async (id) => (await api.as(owner).getPerson({ params: { id } })).body.id),
      );
      expect(new Set(ids).size).to.equal(1);
      const rows = await api.deps.db('credits').where({ item_id: item });
      expect(rows.map(({ person_id }) => person_id)).to.deep.equal([ids[0]]);
      const counted = await api.deps.db('credited_counts').whereIn('owner_id', people);
      expect(counted.map(({ owner_id, items }) => [owner_id, items])).to.deep.equal([
        [ids[0], 1],
        [ids[0], 1],
      ]);
    }
  });
});
