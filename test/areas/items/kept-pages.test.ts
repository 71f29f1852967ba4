import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenItem, givenLibrary } from '#support/given-items.ts';
import { KeptPages } from '../../../api/areas/items/kept-pages.ts';

describe('kept pages', () => {
  let api: Api;
  let owner: Person;
  let library: GivenLibrary;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
  });
  beforeEach(async () => {
    library = await givenLibrary(api.deps.db, 'movies');
    await givenItem(api.deps.db, library, { title: 'Alpha', top: true });
  });

  const list = async (): Promise<{ tag: string | null; titles: string[] }> => {
    const answer = await api.as(owner).listLibraryItems({ params: { id: library.id } });
    return {
      tag: answer.headers.get('etag'),
      titles: answer.body.items.map((item) => (item as { title: string }).title),
    };
  };
  /** Statements that read items during `work`. */
  const itemReads = async (work: () => Promise<unknown>): Promise<number> => {
    let count = 0;
    const hear = ({ sql }: { sql: string }): void => void (sql.includes('from items as i') && count++);
    api.deps.db.client.on('query', hear);
    await work();
    api.deps.db.client.removeListener('query', hear);
    return count;
  };

  it('answer without reading an item while nothing changed', async () => {
    const first = await list();
    const second = await list();
    const reads = await itemReads(async () => expect(await list()).to.deep.equal(first));
    expect(reads).to.equal(0);
    expect(second).to.deep.equal(first);
  });

  it('are left as soon as the library, the own state or a storage changes', async () => {
    const { db } = api.deps;
    for (let i = 0; i < 3; i++) await list();
    const id = await givenItem(db, library, { title: 'Beta', top: true });
    await db('libraries').where({ id: library.id }).increment('change_seq', 1);
    expect((await list()).titles).to.deep.equal(['Alpha', 'Beta']);
    for (let i = 0; i < 3; i++) await list();

    await api.as(owner).markWatched({ params: { id } });
    const answer = await api.as(owner).listLibraryItems({ params: { id: library.id } });
    const watched = answer.body.items.map((one) => (one as { userState: { watched: boolean } }).userState.watched);
    expect(watched).to.deep.equal([false, true]);

    const before = await list();
    await db('storages').where({ id: api.given.storageId }).update({ state: 'unavailable' });
    const after = await list();
    await db('storages').where({ id: api.given.storageId }).update({ state: 'available' });
    expect(after.tag).not.to.equal(before.tag);
    expect((await list()).tag).to.equal(before.tag);
  });

  it('take no more room than they may, and the longest unread go first', () => {
    const pages = new KeptPages();
    const text = 'x'.repeat(2 ** 21);
    for (const key of ['a', 'b', 'c', 'd']) pages.keep(key, '1', text);
    expect(pages.take('a', '1')).to.equal(text);
    pages.keep('e', '1', text);
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => pages.has(key))).to.deep.equal([true, false, true, true, true]);
    expect(pages.take('a', '2')).to.equal(undefined);
    expect(pages.has('a')).to.equal(false);
  });
});
