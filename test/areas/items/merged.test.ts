import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';

describe('items that were merged into others', () => {
  let api: Api;
  let member: Person;
  before(async () => {
    api = await startApi();
    member = await api.given.member();
  });
  const merged = async (into: string, at = new Date()): Promise<string> => {
    const [id] = await api.deps
      .db('item_merges')
      .insert({ old_id: newId(), into_id: into, merged_at: at })
      .returning<{ old_id: string }[]>('old_id');
    return id?.old_id ?? '';
  };
  const day = 86_400_000;

  it('are found at their old id for a year, with the address of the new one', async () => {
    const library = await givenLibrary(api.deps.db, 'movies');
    const id = await givenItem(api.deps.db, library, { title: 'Kept' });
    const old = await merged(id);
    const { status, headers, body } = await api.as(member).getItem({ params: { id: old } });
    expect(status).to.equal(200);
    expect(body).to.include({ id, title: 'Kept' });
    expect(headers.get('content-location')).to.equal(`/api/v1/items/${id}`);
    const own = await api.as(member).getItem({ params: { id } });
    expect(own.headers.get('content-location')).to.equal(null);
    const again = await api.as(member).getItem({
      params: { id: old },
      headers: { 'if-none-match': headers.get('etag') ?? '' },
    });
    expect(again.status).to.equal(304);

    const aYear = await merged(id, new Date(Date.now() - 364 * day));
    expect((await api.as(member).getItem({ params: { id: aYear } })).status).to.equal(200);
    const longAgo = await merged(id, new Date(Date.now() - 367 * day));
    expect((await api.as(member).getItem({ params: { id: longAgo } })).status).to.equal(404);
  });

  it('are found by every read of an item, and in no list of ids', async () => {
    const library = await givenLibrary(api.deps.db, 'shows');
    const id = await givenItem(api.deps.db, library, { type: 'show', title: 'Kept' });
    const old = await merged(id);
    const as = api.as(member);
    const params = { id: old };
    for (const [answer, path] of [
      [await as.listItemChildren({ params }), 'children'],
      [await as.getItemTree({ params }), 'tree'],
      [await as.listItemAncestors({ params }), 'ancestors'],
      [await as.getItemNeighbours({ params }), 'neighbours'],
      [await as.listSimilarItems({ params }), 'similar'],
      [await as.listItemExtras({ params }), 'extras'],
      [await as.listItemFiles({ params }), 'files'],
      [await as.listItemChapters({ params }), 'chapters'],
      [await as.listItemPeople({ params }), 'people'],
    ] as const) {
      expect(answer.status, path).to.equal(200);
      expect(answer.headers.get('content-location')).to.equal(`/api/v1/items/${id}/${path}`);
    }
    const { body } = await as.listItems({ query: { ids: `${old},${id}` } });
    expect(body.items.map((item) => item.id)).to.deep.equal([id]);
  });

  it('omit items that the caller may not see, that are in the trash, or gone', async () => {
    const library = await givenLibrary(api.deps.db, 'movies');
    const trashed = await merged(await givenItem(api.deps.db, library, { trashed_at: new Date() }));
    const gone = await givenItem(api.deps.db, library);
    const toGone = await merged(gone);
    await api.deps.db('items').where({ id: gone }).delete();
    const hidden = await merged(await givenItem(api.deps.db, library, { age_years: 18 }));
    const child = await api.given.child(12);
    expect((await api.as(member).getItem({ params: { id: trashed } })).status).to.equal(404);
    expect((await api.as(member).getItem({ params: { id: toGone } })).status).to.equal(404);
    expect((await api.as(member).getItem({ params: { id: hidden } })).status).to.equal(200);
    expect((await api.as(child).getItem({ params: { id: hidden } })).status).to.equal(404);
  });
});
