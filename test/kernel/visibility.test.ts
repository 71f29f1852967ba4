import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenItem, givenLibrary } from '#support/given-items.ts';

describe('visibility', () => {
  let api: Api;
  let library: GivenLibrary;
  const titles: Record<string, string> = {};

  const add = async (name: string, more: Record<string, unknown>): Promise<string> => {
    titles[name] = await givenItem(api.deps.db, library, { title: name, ...more });
    return titles[name];
  };
  const sees = async (person: Person): Promise<string[]> => {
    const listed = await api
      .as(person)
      .listLibraryItems({ params: { id: library.id }, query: { view: 'all', limit: 200 } });
    return listed.body.items.map((item) => item.title ?? '').sort((a, b) => a.localeCompare(b));
  };

  before(async () => {
    api = await startApi();
    library = await givenLibrary(api.deps.db, 'shows');
    const mixed = await add('mixed', { type: 'show', top: true, age_years: 12 });
    const season = await add('mixed season', { type: 'season', parent_id: mixed });
    await add('mixed child', { type: 'episode', parent_id: season, grandparent_id: mixed, age_years: 6 });
    await add('mixed grown', { type: 'episode', parent_id: season, grandparent_id: mixed, age_years: 18 });
    const grown = await add('grown', { type: 'show', top: true, age_years: 18 });
    await add('grown tame', { type: 'episode', parent_id: grown, grandparent_id: grown, age_years: 0 });
    const hollow = await add('hollow', { type: 'show', top: true });
    await add('hollow grown', { type: 'episode', parent_id: hollow, grandparent_id: hollow, age_years: 18 });
    await add('unrated', { type: 'episode' });
    await add('trashed', { type: 'episode', trashed_at: new Date() });
  });

  it('shows the owner everything but the trash', async () => {
    expect(await sees(await api.given.owner()))
      .to.have.length(9)
      .and.not.include('trashed');
  });

  it('hides items above the age, all of a hidden parent, and a container with nothing left in it', async () => {
    expect(await sees(await api.given.child(12))).to.deep.equal(['mixed', 'mixed child', 'mixed season', 'unrated']);
  });

  it('hides items without a rating when the account requires that', async () => {
    const person = await api.given.person('child', { age_limit: 12, hide_unrated: true });
    expect(await sees(person)).to.deep.equal(['mixed', 'mixed child', 'mixed season']);
  });

  it('limits a profile to the smaller age and to its libraries', async () => {
    const person = await api.given.member();
    const limit = (limits: object) =>
      api.deps
        .db('profiles')
        .where({ id: person.profileId })
        .update({ limits: JSON.stringify(limits) });
    await limit({ ageLimit: 6 });
    expect(await sees(person)).to.deep.equal(['unrated']);
    await limit({ libraryIds: [] });
    const listed = await api.as(person).listLibraryItems({ params: { id: library.id } });
    expect(listed.status).to.equal(404);
  });

  it('answers a hidden item as one that does not exist, in any operation', async () => {
    const child = api.as(await api.given.child(12));
    const params = { id: titles['grown tame'] ?? '' };
    for (const answer of [
      await child.getItem({ params }),
      await child.getItemProgress({ params }),
      await child.listItemFiles({ params }),
      await child.startPlayback({ params, body: { client: { builtIn: 'hls' } } }),
    ]) {
      expect(answer.status).to.equal(404);
    }
  });
});
