import { expect } from 'chai';
import { type Agent, catalogueIds, type Description, type Identity, type Wanted } from '#platform/agents/agent.ts';
import { agentOf, agents } from '#platform/agents/index.ts';
import { bestOf, ranked, similarity } from '#platform/agents/score.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Catalogue } from '#support/catalogues/catalogue.ts';
import { localCatalogues, patience, placeAgents } from '#support/catalogues/local.ts';
import { OK_COMPUTER, startMusicBrainz } from '#support/catalogues/musicbrainz.ts';
import { startOpenLibrary, startWikidata } from '#support/catalogues/open-data.ts';
import { startTmdb, tmdbKey } from '#support/catalogues/tmdb.ts';

describe('agents', function () {
  this.timeout(60_000);
  let api: Api;
  const fakes: Partial<Record<Agent['id'], Catalogue>> = {};

  before(async () => {
    api = await startApi({ FOYER_TMDB_API_KEY: tmdbKey });
    const music = await startMusicBrainz();
    fakes.tmdb = await startTmdb();
    Object.assign(fakes, { musicbrainz: music, coverartarchive: music });
    Object.assign(fakes, { wikidata: await startWikidata(), openlibrary: await startOpenLibrary() });
    await placeAgents(api, Object.fromEntries(Object.entries(fakes).map(([id, fake]) => [id, fake.url])));
  });

  const queryOf = (agent: Agent) => localCatalogues(api.deps).queryOf(agent, patience({ limitMs: 20_000 }));
  const wanted = (more: Partial<Wanted>): Wanted => ({ type: 'movie', title: '', ids: {}, language: 'en', ...more });
  const find = async (id: Agent['id'], more: Partial<Wanted>) => {
    const agent = agentOf(id);
    const found = (await agent.identify?.(queryOf(agent), wanted(more))) ?? [];
    return bestOf(wanted(more), found);
  };
  const read = async (id: Agent['id'], identity: Partial<Identity>): Promise<Description | undefined> => {
    const agent = agentOf(id);
    return agent.describe?.(queryOf(agent), { type: 'movie', ids: {}, language: 'en', ...identity });
  };

  it('has one record for each, whose ping each catalogue answers', async () => {
    expect(agents.map(({ id }) => id)).to.have.members([...catalogueIds]);
    for (const id of Object.keys(fakes) as Agent['id'][]) {
      const agent = agentOf(id);
      await queryOf(agent)(agent.ping);
    }
  });

  it('TMDB: finds a film by name and year or by an id of IMDb, and describes it', async () => {
    const byName = await find('tmdb', { title: 'heat', year: 1995 });
    expect(byName?.found.ids).to.deep.equal({ tmdb: '949' });
    expect(byName?.score).to.be.greaterThan(0.9);
    expect(await find('tmdb', { title: 'Heat' }), 'two of one name').to.equal(undefined);
    const byId = await find('tmdb', { title: 'another name', ids: { imdb: 'tt0113277' } });
    expect(byId).to.deep.include({ score: 1, because: ['external-id'] });
    const { values, pictures } = (await read('tmdb', { ids: { tmdb: '949' }, country: 'GB' })) as Description;
    expect(values).to.deep.include({
      ...{ title: 'Heat', year: 1995, releasedOn: '1995-12-15', ageRating: '15', rating: 7.9, originalLanguage: 'en' },
      ...{ genres: ['Action', 'Crime'], tags: ['robbery'], studios: ['Regency Enterprises'], countries: ['US'] },
    });
    expect(values.people?.map(({ role, name }) => `${role} ${name}`)).to.deep.equal([
      ...['actor Al Pacino', 'actor Robert De Niro', 'director Michael Mann', 'writer Michael Mann'],
    ]);
    expect(pictures.map(({ kind }) => kind)).to.deep.equal(['poster', 'poster', 'backdrop', 'thumb', 'logo']);
  });

  it('MusicBrainz: finds an album whatever its edition, describes it and its artist, and has its cover', async () => {
    const album = { type: 'album', title: 'OK Computer', by: ['Radiohead'], childCounts: { tracks: 12 } };
    const found = await find('musicbrainz', album);
    expect(found?.found.ids).to.include({ musicbrainz: OK_COMPUTER });
    const ids = found?.found.ids ?? {};
    const { values } = (await read('musicbrainz', { type: 'album', ids })) as Description;
    expect(values).to.deep.include({
      ...{ title: 'OK Computer', year: 1997, releasedOn: '1997-05-21', rating: 9.3, artists: ['Radiohead'] },
      ...{ genres: ['art rock', 'alternative rock'], studios: ['Parlophone'] },
    });
    expect(values.externalIds).to.include({ wikidata: 'Q202996' });
    const artist = await find('musicbrainz', { type: 'artist', title: 'On a Friday' });
    expect(artist, 'only an alias of a name that the catalogue did not find').to.equal(undefined);
    const named = await find('musicbrainz', { type: 'artist', title: 'Radiohead' });
    const described = await read('musicbrainz', { type: 'artist', ids: named?.found.ids ?? {} });
    expect(described?.values).to.deep.include({ countries: ['GB'], sortTitle: 'Radiohead' });
    const archive = agentOf('coverartarchive');
    const pictures = await archive.artwork?.(queryOf(archive), { type: 'album', ids, language: 'en' });
    expect(pictures?.map(({ kind }) => kind)).to.deep.equal(['poster', 'disc']);
    const albums = await agentOf('musicbrainz').children?.(queryOf(agentOf('musicbrainz')), {
      ...{ type: 'artist', ids: named?.found.ids ?? {}, language: 'en' },
    });
    expect(albums).to.have.length(1);
    const times = (fakes.musicbrainz?.at('/ws/2') ?? []).map(({ atMs }) => atMs).sort((a, b) => a - b);
    for (const [at, ms] of times.entries()) if (at > 0) expect(ms - (times[at - 1] ?? 0)).to.be.greaterThan(900);
  });

  it('Wikidata: finds a film by the id of another catalogue or by name, and names its people', async () => {
    for (const more of [{ ids: { imdb: 'tt0113277' } }, { ids: { tmdb: '949' } }, { ids: {}, year: 1995 }])
      expect((await find('wikidata', { title: 'Heat', ...more }))?.found.ids).to.include({ wikidata: 'Q42198' });
    const { values, pictures } = (await read('wikidata', { ids: { wikidata: 'Q42198' } })) as Description;
    expect(values).to.deep.include({
      ...{ title: 'Heat', year: 1995, releasedOn: '1995-12-15', overview: '1995 film by Michael Mann' },
      ...{ genres: ['action film'], countries: ['US'], originalLanguage: 'en' },
      externalIds: { wikidata: 'Q42198', imdb: 'tt0113277', tmdb: '949' },
    });
    expect(values.people?.map(({ name }) => name)).to.deep.equal(['Michael Mann', 'Al Pacino', 'Robert De Niro']);
    expect(pictures[0]?.url).to.include('/Special:FilePath/Heat%20premiere.jpg');
    expect(await read('wikidata', { ids: { wikidata: 'Q404' } }), 'a fault with status 200').to.equal(undefined);
  });

  it('Open Library: finds a book by its ISBN or name, and describes its work and edition', async () => {
    const byIsbn = await find('openlibrary', { type: 'book', title: 'x', isbn: '9780140328721' });
    expect(byIsbn).to.deep.include({ score: 1, because: ['isbn'] });
    expect(byIsbn?.found.ids).to.deep.equal({ openlibrary: 'OL45804W', openlibraryEdition: 'OL7353617M' });
    const byName = await find('openlibrary', {
      type: 'book',
      title: 'Fantastic Mr Fox',
      by: ['Roald Dahl'],
      year: 1970,
    });
    expect(byName?.found.ids).to.deep.equal({ openlibrary: 'OL45804W' });
    const { values, pictures } = (await read('openlibrary', {
      type: 'book',
      ids: byIsbn?.found.ids ?? {},
    })) as Description;
    expect(values).to.deep.include({
      ...{ title: 'Fantastic Mr. Fox', originalTitle: 'Fantastic Mr Fox', year: 1988, publisher: 'Puffin' },
      ...{ isbn: '9780140328721', authors: ['Roald Dahl'], tags: ['Animals', 'Foxes'] },
    });
    expect(pictures.map(({ url }) => url.split('/').at(-1))).to.deep.equal([
      ...['8739161-L.jpg', '6498519-L.jpg', '8904777-L.jpg'],
    ]);
  });

  it('takes no id of another form into a path', async () => {
    for (const tmdb of ['949/../../account', '949?x=', '', '-1', 'x'.repeat(500)])
      expect(await read('tmdb', { ids: { tmdb } })).to.equal(undefined);
    expect(await read('musicbrainz', { type: 'album', ids: { musicbrainz: '../artist' } })).to.equal(undefined);
    expect(await read('wikidata', { ids: { wikidata: 'Q1|Q2' } })).to.equal(undefined);
  });

  it('scores by name, year, makers and length', () => {
    expect(similarity('The Matrix', 'matrix')).to.equal(1);
    expect(similarity('Amélie', 'Amelie')).to.equal(1);
    expect(similarity('Heat', 'Ran')).to.equal(0);
    const film = wanted({ title: 'Solaris', year: 1972, runtimeMs: 167 * 60_000 });
    const entry = (year: number, runtime: number, id: string) => ({
      ...{ ids: { tmdb: id }, type: 'movie', title: 'Solaris', year, runtimeMs: runtime * 60_000 },
    });
    const [first, second] = ranked(film, [entry(2002, 99, '2'), entry(1972, 166, '1')]);
    expect(first).to.deep.include({ score: 1, because: ['title', 'year', 'runtime'] });
    expect(second?.score).to.be.lessThan(0.6);
    const album = wanted({ type: 'album', title: 'Live', by: ['Portishead'] });
    const other = { ids: { musicbrainz: 'x' }, type: 'album', title: 'Live', by: ['AC/DC'] };
    expect(bestOf(album, [other])).to.equal(undefined);
  });
});
