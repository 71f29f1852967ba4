import { expect } from 'chai';
import { describePeopleBy, type PersonAgent } from '#areas/people/public.ts';
import { identifyPeople } from '#platform/identify-people.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenCredit, givenItem, givenLibrary, givenTag } from '#support/given-items.ts';
import { refreshPeople } from '#workers/people/refresh.ts';
import { tidyPeople } from '#workers/people/tidy.ts';
import type { Work } from '#workers/work.ts';

describe('jobs of people', () => {
  let api: Api;
  let owner: Person;
  let films: GivenLibrary;
  let work: Work;
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    films = await givenLibrary(api.deps.db, 'movies', { settings: JSON.stringify({ agents: ['second', 'first'] }) });
    const report = async () => undefined;
    work = { ...api.deps, jobId: newId(), signal: new AbortController().signal, report } as unknown as Work;
  });
  after(() => describePeopleBy([]));
  const film = (more: Record<string, unknown> = {}) => givenItem(api.deps.db, films, { top: true, ...more });
  const person = async (name: string, more: Record<string, unknown> = {}): Promise<string> =>
    (await api.as(owner).createPerson({ body: { name, ...more } })).body.id;

  it('credits are of one person by external id, else by folded name or alias', async () => {
    const { db } = api.deps;
    const identify = (...people: { name: string; externalIds?: Record<string, string> }[]) =>
      identifyPeople(db, people);
    const [zoe, again, other] = await identify({ name: 'Zoë Kravitz' }, { name: 'ZOE KRAVITZ' }, { name: 'Zoe K.' });
    expect(again).to.equal(zoe);
    expect(other).to.not.equal(zoe);
    await api.as(owner).mergePeople({ params: { id: zoe ?? '' }, body: { personIds: [other ?? ''] } });
    expect(await identify({ name: 'Zoe K.' }), 'a merge outlives a scan').to.deep.equal([zoe]);
    const known = { tmdb: '37153' };
    const [first] = await identify({ name: 'Zoe Kravitz', externalIds: known });
    expect(first, 'who had no id gains it').to.equal(zoe);
    expect(await identify({ name: 'Someone Else', externalIds: known })).to.deep.equal([zoe]);
    const [namesake, plain] = await identify(
      { name: 'Zoe Kravitz', externalIds: { tmdb: '2' } },
      { name: 'zoe kravitz' },
    );
    expect(namesake, 'a name alone does not make two people one').to.not.equal(zoe);
    expect(plain).to.equal(zoe);
    await api.as(owner).deletePerson({ params: { id: namesake ?? '' }, query: { block: true } as never });
    expect(await identify({ name: 'Zoe Kravitz', externalIds: { tmdb: '2' } }), 'blocked').to.deep.equal([undefined]);
    const fresh = [
      { name: 'New N', externalIds: { imdb: 'nm1' } },
      { name: 'new n' },
      { name: 'New N', externalIds: { imdb: 'nm2' } },
    ];
    const [one, two, three] = await identify(...fresh);
    expect([two, three === one]).to.deep.equal([one, false]);
    const together = await Promise.all(
      [1, 2, 3].map(() => db.transaction((tx) => identifyPeople(tx, [{ name: 'At Once' }]))),
    );
    expect(new Set(together.flat()).size).to.equal(1);
  });

  it('people and studios without items for 30 days are forgotten', async () => {
    const { db } = api.deps;
    const [gone, fresh, credited] = [await person('Gone'), await person('Fresh'), await person('Credited')];
    const item = await film();
    await givenCredit(db, item, { name: '', personId: credited });
    await givenTag(db, films, item, ['studio', 'Kept']);
    await givenTag(db, films, item, ['studio', 'Unused']);
    await db('item_tags').where({ name: 'Unused' }).delete();
    await tidyPeople({}, work);
    const past = new Date(Date.now() - 31 * 86_400_000);
    await db('people').whereIn('id', [gone, credited]).update({ uncredited_since: past });
    await db('studios').update({ unused_since: past });
    expect(await tidyPeople({}, work)).to.deep.include({ people: 1, studios: 1 });
    const left = await db('people').whereIn('id', [gone, fresh, credited]).pluck('id');
    expect(new Set(left)).to.deep.equal(new Set([fresh, credited]));
    expect(await db('studios').where({ library_id: films.id }).pluck('name')).to.deep.equal(['Kept']);
  });

  it('a profile is notified once a day of new visible items of its favourites', async () => {
    const { db } = api.deps;
    const child = await api.given.child(12);
    const star = await person('Star');
    await givenCredit(db, await film({ added_at: new Date(Date.now() - 86_400_000) }), { name: '', personId: star });
    const favorite = (notify: boolean) =>
      api.as(child).setPersonFavorite({ params: { id: star }, body: { favorite: true, notify } });
    expect((await favorite(true)).status).to.equal(200);
    const notified = async () => {
      await tidyPeople({}, work);
      const { body } = await api.as(child).listNotifications();
      return body.items.map(({ kind, count, body: text }) => [kind, count, text.includes('Shown')]);
    };
    const add = async (more: Record<string, unknown>) =>
      givenCredit(db, await film(more), { name: '', personId: star });
    await add({ title: 'Hidden', age_years: 18 });
    expect(await notified(), 'a hidden item is no news').to.deep.equal([]);
    const old = await film({ title: 'Old', added_at: new Date(Date.now() - 10 * 86_400_000) });
    await givenCredit(db, old, { name: '', personId: star });
    expect(await notified(), 'an old item is no news').to.deep.equal([]);
    await add({ title: 'Shown one' });
    expect(await notified()).to.deep.equal([['person-new-items', 1, true]]);
    await add({ title: 'Shown two' });
    expect(await notified(), 'the same day').to.have.length(1);
    await db('person_favorites').update({ notified_at: new Date(Date.now() - 86_400_000) });
    await db('notifications').delete();
    await add({ title: 'Shown three' });
    expect(await notified()).to.deep.equal([['person-new-items', 2, false]]);
    await favorite(false);
    await db('person_favorites').update({ notified_at: null });
    await add({ title: 'Shown four' });
    expect(await notified()).to.have.length(1);
  });

  it('agents are queried in the order of the library; locked fields and the ids of others stay', async () => {
    const { db } = api.deps;
    const queried: string[] = [];
    const agent = (key: string, answer: () => Awaited<ReturnType<PersonAgent['describePerson']>>): PersonAgent => ({
      ...{ key, providers: ['tmdb'], searchesByName: false },
      describePerson: async ({ name }) => {
        if (name === 'Queried') queried.push(key);
        return answer();
      },
    });
    describePeopleBy([
      agent('first', () => ({ biography: 'First.', birthplace: 'Rome', externalIds: { imdb: 'nm9', wikidata: 'Q9' } })),
      agent('second', () => ({ biography: 'Second.', birthday: '1950-01-02', aliases: ['Also'] })),
      agent('broken', () => {
        throw new Error('away');
      }),
      { ...agent('other', () => ({ biography: 'Never.' })), providers: ['tvdb'] },
    ]);
    await person('Holder', { externalIds: { imdb: 'nm9' } });
    const id = await person('Queried', { externalIds: { tmdb: '5' } });
    await givenCredit(db, await film(), { name: '', personId: id });
    await api.as(owner).updatePerson({ params: { id }, body: { lockedFields: ['birthplace'] } });
    expect(await refreshPeople({ personId: id }, work)).to.deep.equal({ refreshed: 1 });
    expect(queried).to.deep.equal(['second', 'first', 'broken']);
    const { body } = await api.as(owner).getPerson({ params: { id } });
    expect(body).to.deep.include({ biography: 'Second.', birthday: '1950-01-02', aliases: ['Also'] });
    expect(body.birthplace).to.equal(undefined);
    expect(body.externalIds).to.deep.equal({ tmdb: '5', wikidata: 'Q9' });
    expect(body.refreshedAt).to.be.a('string');
    queried.length = 0;
    await refreshPeople({}, work);
    expect(queried, 'a fresh person is not refreshed nightly').to.deep.equal([]);
  });
});
