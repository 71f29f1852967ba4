import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenCredit, givenItem, givenLibrary, givenShow } from '#support/given-items.ts';

describe('fields of a show that a child sees in part', () => {
  let api: Api;
  let child: Person;
  let shows: GivenLibrary;

  before(async () => {
    api = await startApi();
    child = await api.given.person('child', { age_limit: 12 });
    shows = await givenLibrary(api.deps.db, 'shows');
  });

  /** A show of two episodes of which the child sees the first; the child has watched it. */
  async function half(): Promise<{ show: string; seen: string; hidden: string }> {
    const { db } = api.deps;
    const show = await givenShow(db, shows, { seasons: 1, episodes: 2 });
    const [seen = '', hidden = ''] = show.episodes[0] ?? [];
    await db('items').where({ id: hidden }).update({ age_rating: 'FSK 18', age_years: 18 });
    await api.as(child).markWatched({ params: { id: show.id } });
    return { show: show.id, seen, hidden };
  }

  it('filters by its own state of the items it sees, as shown', async () => {
    const { show } = await half();
    const listed = async (filter: string): Promise<boolean> => {
      const { body } = await api.as(child).listLibraryItems({ params: { id: shows.id }, query: { filter } });
      return body.items.some((item) => item.id === show);
    };
    expect((await api.as(child).getItem({ params: { id: show } })).body.userState.watched).to.equal(true);
    const filters = ['watched:eq:true', 'unwatched:eq:true', 'in_progress:eq:true', 'watched:ne:true'];
    expect(await Promise.all(filters.map(listed))).to.deep.equal([true, false, false, false]);
  });

  it('counts of the cast the episodes that it sees', async () => {
    const { db } = api.deps;
    const { show, seen, hidden } = await half();
    const star = await givenCredit(db, show, { name: 'Star', position: 0 });
    for (const id of [seen, hidden]) await givenCredit(db, id, { name: 'Star', personId: star, position: 0 });
    const episodes = async (person: Person) =>
      (await api.as(person).listItemPeople({ params: { id: show } })).body.items[0]?.episodes;
    expect([await episodes(child), await episodes(await api.given.member())]).to.deep.equal([1, 2]);
  });

  it('starts its copy of a library again once it may see less', async () => {
    const { db } = api.deps;
    const other = await api.given.person('child', { age_limit: 16 });
    const since = async (cursor?: string) =>
      api.as(other).listLibraryChanges({ params: { id: shows.id }, query: cursor ? { since: cursor } : {} });
    const cursor = (await since()).body.page.cursor ?? '';
    expect((await since(cursor)).status).to.equal(200);
    await db('accounts').where({ id: other.accountId }).update({ age_limit: 6 });
    const less = await since(cursor);
    expect(less.status).to.equal(409);
    expect(JSON.stringify(less.body)).to.include('cursor-expired');
  });

  it('is offered no filter by places where the library keeps them to its editors', async () => {
    const { db } = api.deps;
    const photos = await givenLibrary(db, 'photos');
    await givenItem(db, photos, { type: 'photo' });
    const places = async (): Promise<string[]> => {
      const { body } = await api.as(child).listLibraryFields({ params: { id: photos.id } });
      return body.items.map(({ name }) => name).filter((name) => name.startsWith('place_') || name === 'has_location');
    };
    expect(await places()).to.have.length(3);
    await db('libraries')
      .where({ id: photos.id })
      .update({ settings: JSON.stringify({ shareLocation: false }) });
    expect(await places()).to.deep.equal([]);
  });

  it('has no neighbours in an invalid list', async () => {
    const { seen } = await half();
    const within = `collection:${'-'.repeat(36)}`;
    const { status, body } = await api.as(child).getItemNeighbours({ params: { id: seen }, query: { within } });
    expect([status, body]).to.deep.equal([200, { before: [], after: [] }]);
  });
});
