import { expect } from 'chai';
import type { Agent, Wanted } from '#platform/agents/agent.ts';
import { agentOf } from '#platform/agents/index.ts';
import { resumeAgents } from '#platform/agents/pace.ts';
import { type Api, startApi } from '#support/api.ts';
import { localCatalogues, patience, placeAgents } from '#support/catalogues/local.ts';
import {
  comicvineKey,
  fanartAlbum,
  fanartKeys,
  startAnilist,
  startComicvine,
  startFanart,
} from '#support/catalogues/pictured.ts';

describe('agents of anime, comics and pictures', function () {
  this.timeout(60_000);
  let api: Api;
  let anilist: Awaited<ReturnType<typeof startAnilist>>;
  let comicvine: Awaited<ReturnType<typeof startComicvine>>;
  let fanart: Awaited<ReturnType<typeof startFanart>>;

  before(async () => {
    api = await startApi({
      FOYER_COMICVINE_API_KEY: comicvineKey,
      FOYER_FANART_API_KEY: fanartKeys.project,
      FOYER_FANART_CLIENT_KEY: fanartKeys.personal,
    });
    [anilist, comicvine, fanart] = await Promise.all([startAnilist(), startComicvine(), startFanart()]);
    await placeAgents(api, { anilist: anilist.url, comicvine: comicvine.url, fanart: fanart.url });
  });
  beforeEach(async () => {
    await api.deps.db('catalogue_answers').delete();
    await resumeAgents(api.deps.redis, ['anilist', 'comicvine', 'fanart']);
  });

  const queryOf = (agent: Agent) => localCatalogues(api.deps).queryOf(agent, patience({ limitMs: 20_000 }));
  const find = (id: Agent['id'], more: Partial<Wanted>) =>
    agentOf(id).identify?.(queryOf(agentOf(id)), { type: 'show', title: '', ids: {}, language: 'en', ...more });
  const read = (id: Agent['id'], type: string, more: { ids: Record<string, string>; index?: number }) =>
    agentOf(id).describe?.(queryOf(agentOf(id)), { type, language: 'en', ...more });
  const reasonOf = async (work: Promise<unknown> | undefined): Promise<unknown> =>
    work?.then(
      () => 'none',
      (error: { reason?: string }) => error.reason,
    );

  it('AniList: finds a show by name and id, and describes it without spoilers and markup', async () => {
    const [found] = (await find('anilist', { title: 'Frieren' })) ?? [];
    const title = 'Frieren: Beyond Journey’s End';
    const known = { title, year: 2023, releasedOn: '2023-09-29', ids: { anilist: '154587', mal: '52991' } };
    expect(found).to.deep.include({ ...known, childCounts: { episodes: 28 } });
    expect(await find('anilist', { title: 'Nothing' })).to.deep.equal([]);
    const described = await read('anilist', 'show', { ids: { anilist: '154587' } });
    expect(described?.values).to.deep.include({
      ...{ overview: 'The adventure is over.\nLife goes on for elves & others.', rating: 9.1, status: 'ended' },
      ...{ genres: ['Adventure', 'Drama'], tags: ['Elf'], studios: ['MADHOUSE'], countries: ['JP'] },
    });
    expect(described?.values.people?.map(({ role, name, character }) => [role, name, character])).to.deep.equal([
      ['voice', 'Atsumi Tanezaki', 'Frieren'],
      ['director', 'Keiichirou Saitou', undefined],
    ]);
    expect(described?.pictures?.map(({ kind }) => kind)).to.deep.equal(['poster', 'banner']);
    expect(await read('anilist', 'show', { ids: { anilist: '1' } })).to.equal(undefined);
  });

  it('Comic Vine: reads a series with its issues page by page, and one issue with its people', async () => {
    const [found] = (await find('comicvine', { type: 'comic-series', title: 'Saga' })) ?? [];
    expect(found).to.deep.include({ title: 'Saga', year: 2012, ids: { comicvine: '46568' } });
    const series = await read('comicvine', 'comic-series', { ids: { comicvine: '46568' } });
    expect(series?.values).to.include({ overview: 'Two soldiers of opposite sides.', publisher: 'Image', year: 2012 });
    const agent = agentOf('comicvine');
    const ids = { comicvine: '46568' };
    const issues = await agent.children?.(queryOf(agent), { type: 'comic-series', ids, language: 'en' });
    expect(issues).to.have.length(130);
    expect(comicvine.at('/api/issues/')).to.have.length(2);
    const issue = await read('comicvine', 'comic', { ids, index: 12 });
    expect(issue?.values).to.deep.include({ title: 'Chapter Twelve', releasedOn: '2013-04-10', overview: 'Issue 12.' });
    expect(issue?.values.people?.map(({ role, name }) => [role, name])).to.deep.include(['writer', 'Brian K. Vaughan']);
    expect(comicvine.at('/api/issues/'), 'kept answers').to.have.length(2);
    expect(await read('comicvine', 'comic-series', { ids: { comicvine: '7' } })).to.equal(undefined);
    comicvine.state.limited = true;
    expect(await reasonOf(find('comicvine', { type: 'comic-series', title: 'Other' }))).to.equal('rate-limited');
    comicvine.state.limited = false;
  });

  it('Fanart.tv: gives pictures by id and language, of a season and an album too', async () => {
    const agent = agentOf('fanart');
    const pictures = async (type: string, ids: Record<string, string>, index?: number) =>
      (
        await agent.artwork?.(queryOf(agent), { type, ids, language: 'en', ...(index !== undefined && { index }) })
      )?.map(({ kind, url, language, votes }) => [kind, url.split('/fanart/')[1], language, votes]);
    expect(await pictures('movie', { tmdb: '949' })).to.deep.equal([
      ['poster', 'movies/949/movieposter/a.jpg', 'en', 3],
      ['poster', 'movies/949/movieposter/b.jpg', undefined, 11],
      ['logo', 'movies/949/hdmovielogo/a.jpg', 'de', 3],
    ]);
    expect(await pictures('season', { tvdb: '334824' }, 2)).to.deep.equal([
      ['poster', 'tv/334824/seasonposter/2.jpg', 'en', 3],
    ]);
    const album = { musicbrainzReleaseGroup: fanartAlbum.group };
    expect((await pictures('album', album))?.map(([kind]) => kind)).to.deep.equal(['poster', 'disc']);
    expect(await pictures('movie', { tmdb: '1' })).to.deep.equal([]);
    expect(fanart.got.every(({ headers }) => headers['client-key'] === fanartKeys.personal)).to.equal(true);
  });
});
