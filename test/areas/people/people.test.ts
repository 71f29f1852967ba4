import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import {
  type GivenLibrary,
  givenCredit,
  givenItem,
  givenLibrary,
  givenShow,
  givenState,
} from '#support/given-items.ts';

describe('people', () => {
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

  const film = (more: Record<string, unknown> = {}) => givenItem(api.deps.db, films, { top: true, ...more });
  const credit = (itemId: string, name: string, more: Record<string, unknown> = {}) =>
    givenCredit(api.deps.db, itemId, { name, ...more });
  const names = async (query: Record<string, unknown>, person = member): Promise<string[]> =>
    (await api.as(person).listPeople({ query: { limit: 200, ...query } })).body.items.map(({ name }) => name);
  const create = async (body: Record<string, unknown>) =>
    (await api.as(owner).createPerson({ body: { name: 'Someone', ...body } })).body;

  it('lists whom visible items credit, with counts by item', async () => {
    const [one, two] = [await film(), await film()];
    const id = await credit(one, 'Ann Counted');
    await credit(one, 'Ann Counted', { personId: id, role: 'director' });
    await credit(two, 'Ann Counted', { personId: id, role: 'director' });
    const { body } = await api.as(member).listPeople({ query: { q: 'ann counted' } });
    expect(body.items).to.have.length(1);
    expect(body.items[0]).to.deep.include({ id, itemCount: 2, knownFor: 'director', favorite: false });
    await api.deps.db('items').where({ id: two }).update({ trashed_at: new Date() });
    expect((await api.as(member).getPerson({ params: { id } })).body.itemCount).to.equal(1);
    await api.deps.db('items').where({ id: one }).delete();
    expect((await api.as(member).getPerson({ params: { id } })).status).to.equal(404);
    await api.deps.db('items').where({ id: two }).update({ trashed_at: null });
    expect((await api.as(member).getPerson({ params: { id } })).body.itemCount).to.equal(1);
  });

  it('finds by the start of words and by likeness of names and aliases, and filters', async () => {
    const item = await film();
    const id = await credit(item, 'Søren Örgård', { role: 'composer' });
    await api
      .as(owner)
      .updatePerson({ params: { id }, body: { aliases: ['Quentin Xylophone'], sortName: 'Zz Örgård' } });
    for (const q of ['sor', 'ørg', 'orgard', 'xylo', 'SOREN ORGAARD'])
      expect(await names({ q }), q).to.include('Søren Örgård');
    for (const q of ['rgard', '%', '_', 'ylophone']) expect(await names({ q }), q).to.not.include('Søren Örgård');
    expect(await names({ startsWith: 'zz ' })).to.deep.equal(['Søren Örgård']);
    expect(await names({ role: 'composer' })).to.deep.equal(['Søren Örgård']);
    expect(await names({ libraryId: films.id, role: 'composer' })).to.deep.equal(['Søren Örgård']);
    expect(await names({ libraryId: newId() })).to.deep.equal([]);
    const refused = await api.as(member).listPeople({ query: { startsWith: 'abcd' } } as never);
    expect(refused.status).to.equal(400);
  });

  it('sorts by each sort in both directions, page by page', async () => {
    const library = await givenLibrary(api.deps.db, 'movies');
    const birthdays = [null, '1960-01-01', '1950-06-01', null, '1970-02-03'];
    for (const [at, birthday] of birthdays.entries()) {
      const item = await givenItem(api.deps.db, library, { top: true });
      const id = await credit(item, `Sorted ${String.fromCharCode(101 - at)}`);
      for (let more = 0; more < at; more++)
        await credit(await givenItem(api.deps.db, library, {}), '', { personId: id });
      await api.deps.db('people').where({ id }).update({ birthday });
    }
    const walk = async (sort: string): Promise<string> => {
      let cursor: string | undefined;
      const found: string[] = [];
      do {
        const query = { libraryId: library.id, sort, limit: 2, ...(cursor && { cursor }) };
        const { body } = await api.as(member).listPeople({ query });
        found.push(...body.items.map(({ name }) => name.slice(-1)));
        cursor = body.page.cursor ?? undefined;
      } while (cursor);
      return found.join('');
    };
    expect(await walk('sortName')).to.equal('abcde');
    expect(await walk('-sortName')).to.equal('edcba');
    expect(await walk('-itemCount')).to.equal('abcde');
    expect(await walk('itemCount')).to.equal('edcba');
    expect((await walk('birthday')).slice(0, 3)).to.equal('cda');
    expect((await walk('-birthday')).slice(0, 3)).to.equal('adc');
    expect(await walk('addedAt')).to.equal('edcba');
    const shuffled = await walk('random');
    expect(shuffled.split('').sort().join('')).to.equal('abcde');
    expect(await walk('random')).to.equal(shuffled);
  });

  it('describes a person with roles, items, colleagues and the artist of the same id', async () => {
    const { db } = api.deps;
    const music = await givenLibrary(db, 'music');
    const artist = await givenItem(db, music, {
      type: 'artist',
      title: 'Other Name',
      external_ids: { musicbrainz: 'mb-1' },
    });
    await givenItem(db, music, { type: 'artist', title: 'Ida Full', external_ids: { musicbrainz: 'mb-2' } });
    const made = await create({ name: 'Ida Full', externalIds: { musicbrainz: 'mb-1' }, biography: 'Of Rome.' });
    const [best, worse] = [await film({ rating: 9, year: 1990 }), await film({ rating: 2, year: 2010 })];
    await credit(best, '', { personId: made.id, role: 'actor', character: 'The Count' });
    await credit(best, '', { personId: made.id, role: 'director', job: 'Director', position: 2 });
    await credit(worse, '', { personId: made.id, role: 'actor' });
    const friend = await credit(best, 'A Friend', { role: 'writer' });
    await credit(worse, '', { personId: friend, role: 'writer' });
    const once = await credit(best, 'Met Once');
    const { body } = await api
      .as(member)
      .getPerson({ params: { id: made.id }, query: { include: 'colleagues,topItems' } as never });
    expect(body.roles).to.deep.equal([
      { role: 'actor', count: 2 },
      { role: 'director', count: 1 },
    ]);
    expect(body.sameAs).to.deep.equal([{ itemId: artist, type: 'artist', title: 'Other Name' }]);
    expect(body.colleagues?.map(({ person, together, roles }) => [person.id, together, roles])).to.deep.equal([
      [friend, 2, ['writer']],
      [once, 1, ['actor']],
    ]);
    expect(body.topItems?.map(({ id }) => id)).to.deep.equal([best, worse]);
    await givenState(db, films, { profileId: member.profileId, itemId: worse, rating: 10, play_count: 1 });
    const own = await api.as(member).getPerson({ params: { id: made.id }, query: { include: 'topItems' } as never });
    expect(own.body.topItems?.map(({ id }) => id)).to.deep.equal([worse, best]);
    const items = await api.as(member).listPersonItems({ params: { id: made.id } });
    expect(items.body.items.map(({ item, year }) => [item.id, year])).to.deep.equal([
      [worse, 2010],
      [best, 1990],
    ]);
    expect(items.body.items[1]?.roles).to.deep.equal([
      { role: 'actor', character: 'The Count', order: 0 },
      { role: 'director', job: 'Director', order: 2 },
    ]);
    const directed = await api.as(member).listPersonItems({ params: { id: made.id }, query: { role: 'director' } });
    expect(directed.body.items.map(({ item }) => item.id)).to.deep.equal([best]);
    const filtered = await api
      .as(member)
      .listPersonItems({ params: { id: made.id }, query: { filter: 'year:gt:2000' } });
    expect(filtered.body.items.map(({ item }) => item.id)).to.deep.equal([worse]);
    const refused = await api.as(member).listPersonItems({ params: { id: made.id }, query: { filter: 'title:eq:x' } });
    expect(refused.status).to.equal(400);
  });

  it('lists a show once with its episodes, or the episodes singly', async () => {
    const { db } = api.deps;
    const shows = await givenLibrary(db, 'shows');
    const show = await givenShow(db, shows, { seasons: 1, episodes: 3 });
    const [first = '', second = ''] = show.episodes[0] ?? [];
    const id = await credit(first, 'Guest Star', { role: 'guest' });
    await credit(second, '', { personId: id, role: 'guest' });
    const list = async (episodes: boolean) =>
      (await api.as(member).listPersonItems({ params: { id }, query: { episodes } as never })).body.items;
    expect((await list(false)).map(({ item, episodes }) => [item.id, episodes])).to.deep.equal([[show.id, 2]]);
    expect((await list(true)).map(({ item }) => item.id).sort()).to.deep.equal([first, second].sort());
    expect((await api.as(member).getPerson({ params: { id } })).body.itemCount).to.equal(1);
    await db('items').where({ id: second }).delete();
    expect((await list(false)).map(({ episodes }) => episodes)).to.deep.equal([1]);
    const [row] = await db('credited_items').where({ owner_id: id });
    expect(row).to.include({ item_id: show.id, episodes: 1 });
  });

  it('creates and changes people; changed fields are locked, null clears and unlocks', async () => {
    const made = await create({ name: '  Ida Lupino ', birthday: '1918-02-04', externalIds: { imdb: 'nm0526946' } });
    expect(made).to.deep.include({ name: 'Ida Lupino', sortName: 'Ida Lupino', birthday: '1918-02-04', itemCount: 0 });
    const params = { id: made.id };
    const change = async (body: Record<string, unknown>) => api.as(owner).updatePerson({ params, body });
    const locked = (await change({ sortName: 'Lupino, Ida', biography: 'Of London.', externalIds: { tmdb: '1' } }))
      .body;
    expect(locked.lockedFields).to.deep.equal(['sortName', 'biography', 'externalIds']);
    expect(locked.externalIds).to.deep.equal({ imdb: 'nm0526946', tmdb: '1' });
    const cleared = (await change({ biography: null, externalIds: { tmdb: null } })).body;
    expect(cleared.lockedFields).to.deep.equal(['sortName', 'externalIds']);
    expect(cleared.biography).to.equal(undefined);
    expect(cleared.externalIds).to.deep.equal({ imdb: 'nm0526946' });
    expect((await change({ lockedFields: [] })).body.lockedFields).to.deep.equal([]);
    expect((await change({ deathday: '1900-01-01' })).status).to.equal(400);
    expect((await change({ homepage: 'http://plain.example' })).status).to.equal(400);
    const other = await create({ name: 'Other' });
    const taken = await api
      .as(owner)
      .updatePerson({ params: { id: other.id }, body: { externalIds: { imdb: 'nm0526946' } } });
    expect([taken.status, taken.body]).to.deep.include(409);
    expect(JSON.stringify(taken.body)).to.include('duplicate-external-id').and.include(made.id);
    expect((await api.as(member).getPerson({ params })).status, 'without a credit').to.equal(404);
    expect(await names({ q: 'lupino' }, owner)).to.deep.equal(['Ida Lupino']);
    expect(await names({ q: 'lupino' })).to.deep.equal([]);
  });

  it('deletes a person with credits and events; a blocked id is not taken again', async () => {
    const { db } = api.deps;
    const item = await film();
    const made = await create({ name: 'To Delete', externalIds: { tmdb: '77' } });
    await credit(item, '', { personId: made.id });
    await db('outbox').delete();
    const { status } = await api.as(owner).deletePerson({ params: { id: made.id }, query: { block: true } as never });
    expect(status).to.equal(204);
    const events = await db('outbox').where({ event: 'item.updated' }).select('payload');
    expect(events.map(({ payload }) => [payload.itemId, payload.changed])).to.deep.equal([[item, ['people']]]);
    expect(await db('person_blocks')).to.deep.equal([{ provider: 'tmdb', value: '77' }]);
    expect(await db('credits').where({ item_id: item })).to.deep.equal([]);
    expect(await db('credited_items').where({ owner_id: made.id })).to.deep.equal([]);
    expect(await db('credited_counts').where({ owner_id: made.id })).to.deep.equal([]);
    expect((await api.as(owner).getPerson({ params: { id: made.id } })).status).to.equal(404);
  });

  it('keeps favourites of a profile', async () => {
    const id = await credit(await film(), 'A Favourite');
    const set = (body: { favorite: boolean; notify?: boolean }, person = member) =>
      api.as(person).setPersonFavorite({ params: { id }, body });
    expect((await set({ favorite: true, notify: true })).body).to.deep.equal({ favorite: true, notify: true });
    expect((await api.as(member).getPerson({ params: { id } })).body).to.include({ favorite: true, notify: true });
    expect((await api.as(owner).getPerson({ params: { id } })).body).to.include({ favorite: false, notify: false });
    expect(await names({ favorite: true })).to.deep.equal(['A Favourite']);
    expect(await names({ favorite: false })).to.not.include('A Favourite');
    expect((await set({ favorite: false, notify: true })).body).to.deep.equal({ favorite: false, notify: false });
    expect(await names({ favorite: true })).to.deep.equal([]);
  });

  it('refuses the 2,001st favourite', async () => {
    const { db } = api.deps;
    const other = await api.given.member();
    const ids = Array.from({ length: 2000 }, () => newId());
    await db('people').insert(ids.map((id) => ({ id, name: 'x', name_folded: 'x' })));
    await db('person_favorites').insert(ids.map((person_id) => ({ person_id, profile_id: other.profileId })));
    const id = await credit(await film(), 'One Too Many');
    const full = await api.as(other).setPersonFavorite({ params: { id }, body: { favorite: true } });
    expect([full.status, JSON.stringify(full.body).includes('too-many-favorites')]).to.deep.equal([409, true]);
    await db('people').whereIn('id', ids).delete();
  });

  it('refreshes one at a time, and refuses who cannot be identified', async () => {
    const nameless = await create({ name: 'No Identity' });
    const refused = await api.as(owner).refreshPerson({ params: { id: nameless.id } });
    expect([refused.status, JSON.stringify(refused.body).includes('no-identity')]).to.deep.equal([409, true]);
    const made = await create({ name: 'Known', externalIds: { wikidata: 'Q1' } });
    const refresh = async () => (await api.as(owner).refreshPerson({ params: { id: made.id }, body: {} })).body.jobId;
    const jobId = await refresh();
    expect(await refresh()).to.equal(jobId);
    await api.deps.db('jobs').where({ id: jobId }).update({ state: 'active' });
    expect(await refresh()).to.equal(jobId);
    const row = await api.deps.db('jobs').where({ id: jobId }).first();
    expect(row).to.deep.include({ kind: 'people.refresh', payload: { personId: made.id, replacePortrait: false } });
  });

  it('takes hostile names as text and refuses broken ones', async () => {
    const hostile = [
      "'; drop table people; --",
      '<img src=x onerror=alert(1)>',
      '\u202eevil',
      '👩‍👩‍👧',
      `${'a'.repeat(200)}`,
      '$1 ? :id',
    ];
    for (const name of hostile) {
      const made = await create({ name, aliases: [name] });
      expect(made.name).to.equal(name);
      expect(await names({ q: name.slice(0, 100) }, owner), name).to.include(name);
    }
    for (const name of ['', '  ', 'a\0b', 'a\nb', '\ud800', 'a'.repeat(201)]) {
      const { status } = await api.as(owner).createPerson({ body: { name } });
      expect(status, JSON.stringify(name)).to.equal(400);
    }
    for (const q of ['\\', '%%%', "' or 1=1", '(((', '\u202e', 'a'.repeat(100)]) await names({ q });
  });
});
