import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { errorOf as failureOf } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenCredit, givenItem, givenLibrary } from '#support/given-items.ts';

const errorOf = (answer: { body: unknown }) => failureOf(answer).details;

describe('saved filters', () => {
  let api: Api;
  let owner: Person;
  let member: Person;
  let other: Person;
  let films: GivenLibrary;

  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    member = await api.given.member();
    other = await api.given.member();
    films = await givenLibrary(api.deps.db, 'movies', { everyone: true });
  });
  beforeEach(async () => {
    await api.deps.db('saved_filters').delete();
  });

  const draft = (name: string, more: object = {}) => ({ name, filter: 'year:gte:2000', ...more });
  const put = (by: Person, filterId: string, body: object) =>
    api.as(by).saveFilter({ params: { id: films.id, filterId }, body: body as never });
  const list = async (by: Person) => (await api.as(by).listSavedFilters({ params: { id: films.id } })).body.items;
  const names = async (by: Person): Promise<string[]> => (await list(by)).map(({ name }) => name);
  const drop = (by: Person, filterId: string) => api.as(by).deleteSavedFilter({ params: { id: films.id, filterId } });

  it('are made once by the id of the client, and stand in their places', async () => {
    const [one, two, three] = [newId(), newId(), newId()];
    expect((await put(member, one, draft('One'))).status).to.equal(201);
    const again = await put(member, one, draft('One'));
    expect(again.status).to.equal(200);
    expect(again.body).to.deep.include({
      name: 'One',
      sort: 'title',
      pinned: false,
      shared: false,
      mine: true,
      position: 0,
    });
    await put(member, two, draft('Two'));
    await put(
      member,
      three,
      draft('Three', { position: 0, view: 'table', groupBy: 'year', icon: 'ghost', pinned: true }),
    );
    expect(await names(member)).to.deep.equal(['Three', 'One', 'Two']);
    expect((await list(member)).map(({ position }) => position)).to.deep.equal([0, 1, 2]);
    expect((await list(member))[0]).to.deep.include({ view: 'table', groupBy: 'year', icon: 'ghost', pinned: true });
    await put(member, three, draft('Three', { position: 1 }));
    expect(await names(member)).to.deep.equal(['One', 'Three', 'Two']);
    expect(errorOf(await put(member, two, draft('ONE')))).to.deep.include({ reason: 'duplicate-name' });
    expect((await drop(member, three)).status).to.equal(204);
    expect((await drop(member, three)).status).to.equal(404);
    expect((await list(member)).map(({ position }) => position)).to.deep.equal([0, 1]);
  });

  it('keep every place when they are saved at the same time', async () => {
    await Promise.all(Array.from({ length: 6 }, (_, i) => put(member, newId(), draft(`F${i}`, { position: 0 }))));
    expect((await list(member)).map(({ position }) => position)).to.deep.equal([0, 1, 2, 3, 4, 5]);
  });

  it('of others are neither visible nor replaced, and shared ones change with library:manage alone', async () => {
    const [own, shared] = [newId(), newId()];
    await put(member, own, draft('Private'));
    expect(await names(other)).to.deep.equal([]);
    expect((await put(other, own, draft('Mine'))).status).to.equal(404);
    expect((await drop(owner, own)).status).to.equal(404);
    expect(errorOf(await put(member, shared, draft('Ours', { shared: true })))).to.deep.include({
      permission: 'library:manage',
    });
    await put(owner, shared, draft('Ours', { shared: true }));
    expect(await names(member)).to.deep.equal(['Private', 'Ours']);
    const [, found] = await list(member);
    expect(found).to.deep.include({ mine: false, shared: true });
    expect(found?.owner?.userId).to.equal(owner.accountId);
    expect((await put(member, shared, draft('Taken'))).status).to.equal(403);
    expect((await drop(member, shared)).status).to.equal(403);
    const admin = await api.given.admin();
    expect((await put(admin, shared, draft('Closed'))).status).to.equal(200); // and is the owner's alone again
    expect(await names(owner)).to.deep.equal(['Closed']);
    expect(await names(admin)).to.deep.equal([]);
  });

  it('show labels and people that a reader may not see as hidden', async () => {
    const { db } = api.deps;
    const secret = await givenLibrary(db, 'movies', { everyone: false });
    const film = await givenItem(db, secret, { top: true });
    await givenItem(db, films, { top: true });
    await givenCredit(db, film, { name: 'Mr Unknown' });
    const person = (await db('credits').where({ item_id: film }).first<{ person_id: string }>('person_id')).person_id;
    const label = (await api.as(owner).createLabel({ body: { name: 'Gifts', restricted: true } })).body.id;
    const filter = `label:in:${label},Gifts,Open;person:eq:${person};year:gt:1`;
    await put(owner, newId(), draft('Ours', { filter, shared: true }));
    expect((await list(owner))[0]?.filter).to.equal(filter);
    const [found] = await list(member);
    expect(found?.filter).to.equal('label:in:hidden,hidden,Open;person:eq:hidden;year:gt:1');
    expect(found?.broken).to.deep.equal([]);
  });

  it('are checked when saved, and name what broke since', async () => {
    const admin = api.as(owner);
    const field = async (key: string, more: object) =>
      (await admin.createCustomField({ body: { key, label: key, itemTypes: ['movie'], ...more } as never })).body.id;
    const gone = await field('mood', { kind: 'text' });
    const choice = await field('shelf', {
      kind: 'choice',
      options: [
        { value: 'top', label: 'Top' },
        { value: 'low', label: 'Low' },
      ],
    });
    const label = (await admin.createLabel({ body: { name: 'Later' } })).body.id;
    const id = newId();
    const filter = `custom.mood:eq:dark;year:gte:2000;custom.shelf:eq:top;label:eq:${label}`;
    await put(owner, id, draft('Kept', { filter }));
    expect((await list(owner))[0]?.broken).to.deep.equal([]);
    await admin.deleteCustomField({ params: { id: gone } });
    await admin.updateCustomField({
      params: { id: choice },
      body: { options: [{ value: 'low', label: 'Low' }] } as never,
    });
    await admin.deleteLabel({ params: { id: label }, query: {} });
    const [kept] = await list(owner);
    expect(kept?.filter).to.equal(filter);
    expect(kept?.broken).to.deep.equal([
      { condition: 0, reason: 'unknown-field' },
      { condition: 2, reason: 'unknown-value' },
      { condition: 3, reason: 'unknown-value' },
    ]);
    const { issues } = errorOf(
      await put(owner, newId(), draft('New', { filter: 'year:eq:2000;nonsense:eq:1;year:eq:soon' })),
    );
    expect(
      (issues as { path: unknown[]; code: string }[]).map(({ path, code }) => `${path.join('.')} ${code}`),
    ).to.deep.equal(['body.filter.1 unknown_field', 'body.filter.2 bad_value']);
    expect((await put(owner, newId(), draft('New', { sort: 'nonsense' }))).status).to.equal(400);
  });

  it('follow labels that become one', async () => {
    const admin = api.as(owner);
    const label = async (name: string) => (await admin.createLabel({ body: { name } })).body.id;
    const [from, into] = [await label('Old'), await label('New')];
    await put(owner, newId(), draft('Kept', { filter: `label:eq:${from}` }));
    await admin.updateLabel({ params: { id: from }, body: { mergeInto: into } });
    const [kept] = await list(owner);
    expect(kept).to.deep.include({ filter: `label:eq:${into}`, broken: [] });
  });

  it('are limited, and go with their library', async () => {
    const { db } = api.deps;
    const fill = (count: number, profileId: string, shared: boolean) =>
      db.raw(
        `insert into saved_filters (id, library_id, profile_id, name, name_folded, filter, sort, position, shared)
         select gen_random_uuid(), ?, ?, 'n' || n, 'n' || n || ?, 'year:eq:1', 'title', n, ? from generate_series(1, ?) n`,
        [films.id, profileId, shared, shared, count],
      );
    await fill(100, member.profileId, false);
    expect(errorOf(await put(member, newId(), draft('More')))).to.deep.include({ reason: 'too-many-filters' });
    await fill(50, other.profileId, true);
    expect(errorOf(await put(owner, newId(), draft('More', { shared: true })))).to.deep.include({
      reason: 'too-many-filters',
    });
    expect((await put(owner, newId(), draft('Own'))).status).to.equal(201);
    const gone = await givenLibrary(db, 'movies', { everyone: false });
    expect((await api.as(member).listSavedFilters({ params: { id: gone.id } })).status).to.equal(404);
  });
});
