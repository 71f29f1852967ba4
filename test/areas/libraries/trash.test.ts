import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { type Api, clientFor, startApi, type TestClient } from '#support/api.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary, givenShow } from '#support/given-items.ts';

describe('the trash of a library', () => {
  let api: Api;
  let admin: TestClient;
  let library: GivenLibrary;
  before(async () => {
    api = await startApi();
    admin = clientFor(api.url, (await api.given.admin()).headers);
  });
  beforeEach(async () => {
    library = await givenLibrary(api.deps.db, 'shows');
  });
  const moveToTrash = (...ids: string[]) =>
    api.deps
      .db('items')
      .where((q) => void q.whereIn('id', ids).orWhereIn('parent_id', ids).orWhereIn('grandparent_id', ids))
      .update({ trashed_at: new Date(), trash_reason: 'missing' });
  const film = async (more: object = {}): Promise<string> => {
    const id = await givenItem(api.deps.db, library, { top: true });
    await givenFile(api.deps.db, library, id, { ...more });
    await moveToTrash(id);
    return id;
  };
  const rows = (ids: readonly string[]) =>
    api.deps.db('items').whereIn('id', ids).whereNull('trashed_at').pluck<string[]>('id');

  it('restores the chosen items with everything below them, and reports those it cannot restore', async () => {
    const show = await givenShow(api.deps.db, library, { seasons: 2, episodes: 2 });
    for (const episode of show.episodes.flat()) await givenFile(api.deps.db, library, episode);
    await moveToTrash(show.id);
    const [kept, unknown] = [await film(), newId()];
    const answer = await admin.restoreTrash({ params: { id: library.id }, body: { itemIds: [show.id, unknown] } });
    expect(answer.status).to.equal(200);
    expect(answer.body).to.deep.include({ restored: 1, missing: 0 });
    expect(answer.body.notRestored).to.deep.equal([{ itemId: unknown, reason: 'not-in-trash' }]);
    const family = [show.id, ...show.seasons, ...show.episodes.flat()];
    expect(await rows([...family, kept])).to.have.members(family);
    const found = await admin.getItem({ params: { id: show.id } });
    expect(found.status).to.equal(200);
    const counted = (await admin.getLibrary({ params: { id: library.id } })).body;
    expect(counted).to.deep.include({ itemCounts: { show: 1, season: 2, episode: 4 }, trashCount: 1 });
  });

  it('restores items without a file as missing, from now on', async () => {
    const gone = await film({ missing_since: new Date(Date.now() - 86_400_000 * 40) });
    const before = Date.now() - 60_000;
    const answer = await admin.restoreTrash({ params: { id: library.id }, body: { itemIds: [gone] } });
    expect(answer.body).to.deep.include({ restored: 0, missing: 1, notRestored: [] });
    const row = await api.deps.db('items').where({ id: gone }).first<{ availability: string; missing_since: Date }>();
    expect(row.availability).to.equal('missing');
    expect(row.missing_since.getTime()).to.be.greaterThan(before);
  });

  it('gives back everything of one reason', async () => {
    const [one, two, other] = [await film(), await film(), await film()];
    await api.deps.db('items').where({ id: other }).update({ trash_reason: 'deleted' });
    const answer = await admin.restoreTrash({ params: { id: library.id }, body: { all: true, reason: 'missing' } });
    expect(answer.body.restored).to.equal(2);
    expect(await rows([one, two, other])).to.have.members([one, two]);
    const events = await api.deps
      .db('outbox')
      .where({ event: 'item.added' })
      .whereRaw(`payload ->> 'itemId' = any(?::text[])`, [[one, two, other]])
      .select<{ payload: { itemId: string } }[]>('payload');
    expect(events.map(({ payload }) => payload.itemId)).to.have.members([one, two]);
    const trash = await admin.listTrash({ params: { id: library.id } });
    expect(trash.body.items.map((entry) => entry.item.id)).to.deep.equal([other]);
    expect((await admin.getLibrary({ params: { id: library.id } })).body.trashCount).to.equal(1);
  });

  it('is emptied by reason and by one, and counted', async () => {
    const [one, two, other] = [await film(), await film(), await film()];
    await api.deps.db('items').where({ id: other }).update({ trash_reason: 'deleted' });
    const emptied = await admin.emptyTrash({ params: { id: library.id }, query: { reason: 'missing' } });
    expect(emptied.body).to.deep.include({ purged: 2, skipped: [] });
    expect(await api.deps.db('items').whereIn('id', [one, two]).pluck('id')).to.deep.equal([]);
    const purged = await admin.purgeTrashedItem({ params: { id: library.id, itemId: other } });
    expect([purged.status, purged.body.purged]).to.deep.equal([200, 1]);
    const again = await admin.purgeTrashedItem({ params: { id: library.id, itemId: other } });
    expect(again.status).to.equal(404);
    expect((await admin.getLibrary({ params: { id: library.id } })).body.trashCount).to.equal(0);
  });
});
