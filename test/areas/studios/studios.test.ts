import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenItem, givenLibrary, givenTag } from '#support/given-items.ts';

describe('studios', () => {
  let api: Api;
  let member: Person;
  let child: Person;
  let films: GivenLibrary;
  before(async () => {
    api = await startApi();
    member = await api.given.member();
    child = await api.given.child(12);
    films = await givenLibrary(api.deps.db, 'movies');
  });
  const film = async (studio: string, more: Record<string, unknown> = {}, library = films): Promise<string> => {
    const id = await givenItem(api.deps.db, library, { top: true, ...more });
    await givenTag(api.deps.db, library, id, ['studio', studio]);
    return id;
  };
  const list = async (query: Record<string, string | number> = {}, person = member, id = films.id) =>
    (await api.as(person).listStudios({ params: { id }, query })).body.items;
  const names = async (query: Record<string, string | number> = {}, person = member) =>
    (await list(query, person)).map(({ name, itemCount }) => `${name} ${itemCount}`);

  it('list who made visible items, sorted and filtered', async () => {
    for (const age of [null, 18, 18]) await film('Prana-Film', { age_years: age });
    await film('prana-FILM');
    for (const age of [6, 6]) await film('Ufa', { age_years: age });
    await film('Grown Ups', { age_years: 18 });
    expect(await names()).to.deep.equal(['Grown Ups 1', 'Prana-Film 4', 'Ufa 2']);
    expect(await names({}, child)).to.deep.equal(['Prana-Film 2', 'Ufa 2']);
    expect(await names({ sort: '-itemCount' })).to.deep.equal(['Prana-Film 4', 'Ufa 2', 'Grown Ups 1']);
    expect((await names({ sort: '-itemCount', limit: 1 }, child))[0]).to.match(/ 2$/);
    expect(await names({ minItems: 3 })).to.deep.equal(['Prana-Film 4']);
    expect(await names({ minItems: 3 }, child)).to.deep.equal([]);
    for (const q of ['pra', 'film', 'PRANAFILM']) expect(await names({ q }), q).to.deep.equal(['Prana-Film 4']);
    for (const q of ['rana', '%', '_']) expect(await names({ q }), q).to.deep.equal([]);
    expect(await names({ kind: 'label' })).to.deep.equal([]);
    expect((await names({ sort: 'random' })).sort()).to.have.length(3);
    const [studio] = await list({ q: 'ufa' });
    const items = await api
      .as(member)
      .listLibraryItems({ params: { id: films.id }, query: { filter: `studio:in:${studio?.id}` } });
    expect(items.body.items).to.have.length(2);
  });

  it('describe a studio by its visible items, with its family and other libraries', async () => {
    const { db } = api.deps;
    const other = await givenLibrary(db, 'movies');
    const secret = await givenLibrary(db, 'movies', { everyone: false, access_roles: [] });
    const item = await film('Whole', { rating: 5, year: 1922 });
    const hidden = await film('Whole', { rating: 9, year: 1999, age_years: 18 });
    for (const id of [item, hidden]) await givenTag(db, films, id, ['genre', id === item ? 'Horror' : 'Adult']);
    await film('Part', {}, films);
    await film('Whole Elsewhere', {}, other);
    await film('Whole Secret', {}, secret);
    const named = async (name: string): Promise<string> => (await db('studios').where({ name }).first('id')).id;
    const [whole, part] = [await named('Whole'), await named('Part')];
    await db('studios')
      .where('name', 'like', 'Whole%')
      .update({ external_ids: JSON.stringify({ tmdb: '7' }), country: 'DE' });
    await db('studios').where({ id: part }).update({ parent_id: whole });
    const read = async (person: Person, id = whole) => (await api.as(person).getStudio({ params: { id } })).body;
    const full = await read(member);
    expect(full).to.deep.include({ itemCount: 2, years: { from: 1922, to: 1999 }, country: 'DE', kind: 'studio' });
    expect(full.topItems.map(({ id }) => id)).to.deep.equal([hidden, item]);
    expect(full.subsidiaries).to.deep.equal([{ id: part, name: 'Part' }]);
    expect(full.elsewhere).to.deep.equal([
      { studioId: await named('Whole Elsewhere'), libraryId: other.id, itemCount: 1 },
    ]);
    expect((await read(member, part)).parent).to.deep.equal({ id: whole, name: 'Whole' });
    const less = await read(child);
    expect(less).to.deep.include({ itemCount: 1, years: { from: 1922, to: 1922 } });
    expect(less.genres).to.deep.equal([{ name: 'Horror', count: 1 }]);
    expect((await api.as(member).getStudio({ params: { id: await named('Whole Secret') } })).status).to.equal(404);
    expect((await api.as(member).listStudios({ params: { id: secret.id } })).status).to.equal(404);
  });

  it('are by the type of the library, and none in a library of photos', async () => {
    const music = await givenLibrary(api.deps.db, 'music');
    await film('Deutsche Grammophon', { type: 'album' }, music);
    expect((await list({}, member, music.id)).map(({ kind }) => kind)).to.deep.equal(['label']);
    const photos = await givenLibrary(api.deps.db, 'photos');
    await film('Agfa', { type: 'photo' }, photos);
    expect(await list({}, member, photos.id)).to.deep.equal([]);
  });
});
