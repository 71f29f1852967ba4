import { expect } from 'chai';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { type GivenFile, type GivenLibrary, givenFile, givenItem, givenLibrary } from '#support/given-items.ts';

describe('Libraries: listDuplicates', () => {
  let api: Api;
  let admin: TestClient;
  let library: GivenLibrary;
  before(async () => {
    api = await startApi();
    admin = api.as(await api.given.owner());
  });
  beforeEach(async () => {
    library = await givenLibrary(api.deps.db, 'movies', { everyone: true });
  });

  const film = async (title: string, file: GivenFile = {}, of = library): Promise<string> =>
    givenFile(api.deps.db, of, await givenItem(api.deps.db, of, { title }), file);
  const content = async (fileIds: readonly string[], byte: number) => {
    for (const file_id of fileIds)
      await api.deps.db('fingerprints').insert({
        ...{ file_id, kind: 'content', state: 'done', version: 1, content: Buffer.alloc(32, byte) },
        ...{ size_bytes: api.deps.db('media_files').where({ id: file_id }).select('size_bytes') },
        ...{ modified_ms: 1_700_000_000_000 },
      });
  };
  const near = async (one: string, other: string, distance: number) => {
    const [first, second] = [one, other].sort();
    await api.deps.db('near_files').insert({ kind: 'video', one: first, other: second, distance });
  };
  const list = async (query = {}, as = admin) => (await as.listDuplicates({ params: { id: library.id }, query })).body;
  const titles = ({ items }: Awaited<ReturnType<typeof list>>) =>
    items.map(({ members }) => members.map(({ item }) => item.title).join('+'));

  it('pages through groups by what their removal gives back, the one to keep first', async () => {
    for (const [n, size] of [3e9, 1e9, 2e9].entries()) {
      const streams = [{ probe: { width: 1920, height: 1080 } }];
      const large = await film(`Large ${n}`, { size_bytes: size, streams });
      await content([await film(`Small ${n}`, { size_bytes: size }), large], n + 1);
    }
    const all = await list();
    expect(titles(all)).to.deep.equal(['Large 0+Small 0', 'Large 2+Small 2', 'Large 1+Small 1']);
    expect(all.items[0]).to.include({ totalBytes: 6e9, reclaimableBytes: 3e9, kind: 'exact', distance: 0 });
    expect(all.items[0]?.members[0]).to.include({ width: 1920, height: 1080, codec: 'h264', suggestion: 'keep' });
    expect(all.page).to.include({ total: 3, hasMore: false, cursor: null });
    const first = await list({ limit: 2 });
    expect(titles(first)).to.have.length(2);
    expect(titles(await list({ limit: 2, cursor: first.page.cursor }))).to.deep.equal(['Large 1+Small 1']);
    expect(titles(await list({ sort: 'totalBytes' }))[0]).to.equal('Large 1+Small 1');
  });

  it('joins near pairs up to the distance into groups, by kind', async () => {
    const [a, b, c] = [await film('A'), await film('B'), await film('C')];
    await near(a, b, 2);
    await near(b, c, 5);
    expect(titles(await list())).to.deep.equal(['A+B']);
    const wide = await list({ distance: 8 });
    expect(wide.items.map(({ distance, kind, members }) => [distance, kind, members.length])).to.deep.equal([
      [5, 'near', 3],
    ]);
    expect(titles(await list({ distance: 8, kind: 'image' }))).to.deep.equal([]);
    expect(titles(await list({ distance: 1 }))).to.deep.equal([]);
  });

  it('shows no versions of one item, extras, trashed or missing files', async () => {
    const { db } = api.deps;
    const itemId = await givenItem(db, library);
    await near(await givenFile(db, library, itemId), await givenFile(db, library, itemId), 0);
    const one = await film('One');
    const extra = await givenItem(db, library, { extra_of: itemId, extra_kind: 'trailer' });
    await near(one, await givenFile(db, library, extra), 0);
    await near(one, await film('Missing', { missing_since: new Date() }), 0);
    const trashed = await givenItem(db, library, { trashed_at: new Date(), trash_reason: 'deleted' });
    await near(one, await givenFile(db, library, trashed), 0);
    expect(titles(await list())).to.deep.equal([]);
  });

  it('compares with other libraries on request, and never with one that is hidden from the caller', async () => {
    const other = await givenLibrary(api.deps.db, 'videos', { everyone: false });
    const open = await givenLibrary(api.deps.db, 'videos', { everyone: true });
    const mine = await film('Mine');
    const hidden = await film('Hidden', {}, other);
    await near(mine, hidden, 1);
    await near(hidden, await film('Open', {}, open), 1);
    expect(titles(await list())).to.deep.equal([]);
    expect(titles(await list({ acrossLibraries: true }))).to.deep.equal(['Mine+Hidden']);
    const member = api.as(await api.given.member());
    expect(titles(await list({ acrossLibraries: true }, member))).to.deep.equal([]);
  });
});
