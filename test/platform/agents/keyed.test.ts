import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import type { Agent, Wanted } from '#platform/agents/agent.ts';
import { agentOf } from '#platform/agents/index.ts';
import { resumeAgents } from '#platform/agents/pace.ts';
import { type Api, startApi } from '#support/api.ts';
import { igdbKeys, startIgdb, startOmdb, startTvdb, tvdbKey } from '#support/catalogues/keyed.ts';
import { localCatalogues, patience, placeAgents } from '#support/catalogues/local.ts';
import { startWikidata } from '#support/catalogues/open-data.ts';
import { storesOf } from '#support/processes.ts';

const caller = new URL('../../support/catalogue-caller.ts', import.meta.url).pathname;

describe('agents with keys', function () {
  this.timeout(60_000);
  let api: Api;
  let tvdb: Awaited<ReturnType<typeof startTvdb>>;
  let igdb: Awaited<ReturnType<typeof startIgdb>>;
  let omdb: Awaited<ReturnType<typeof startOmdb>>;
  let wikidata: Awaited<ReturnType<typeof startWikidata>>;

  before(async () => {
    api = await startApi({
      FOYER_TVDB_API_KEY: tvdbKey,
      FOYER_OMDB_API_KEY: 'omdb key',
      FOYER_IGDB_CLIENT_ID: igdbKeys.id,
      FOYER_IGDB_CLIENT_SECRET: igdbKeys.secret,
    });
    [tvdb, igdb, omdb, wikidata] = await Promise.all([startTvdb(), startIgdb(), startOmdb(), startWikidata()]);
    await placeAgents(api, { tvdb: tvdb.url, igdb: igdb.url, omdb: omdb.url, wikidata: wikidata.url });
  });
  beforeEach(async () => {
    await api.deps.db('catalogue_answers').delete();
    await resumeAgents(api.deps.redis, ['tvdb', 'igdb', 'omdb', 'wikidata']);
  });

  const queryOf = (agent: Agent) => localCatalogues(api.deps).queryOf(agent, patience({ limitMs: 20_000 }));
  const find = (id: Agent['id'], more: Partial<Wanted>) =>
    agentOf(id).identify?.(queryOf(agentOf(id)), { type: 'show', title: '', ids: {}, language: 'en', ...more });
  const read = (id: Agent['id'], type: string, ids: Record<string, string>) =>
    agentOf(id).describe?.(queryOf(agentOf(id)), { type, ids, language: 'en' });

  it('TheTVDB: signs in once, again when its token has ended, and reads pages of episodes', async () => {
    const [found] = (await find('tvdb', { title: 'Dark' })) ?? [];
    expect(found).to.deep.include({ title: 'Dark', year: 2017, ids: { tvdb: '334824' } });
    const [byId] = (await find('tvdb', { title: 'x', ids: { imdb: 'tt5753856' } })) ?? [];
    expect(byId?.ids).to.deep.equal({ imdb: 'tt5753856', tvdb: '334824' });
    const described = await read('tvdb', 'show', { tvdb: '334824' });
    expect(described?.values).to.deep.include({
      ...{
        title: 'Dark',
        overview: 'In English.',
        year: 2017,
        status: 'ended',
        genres: ['Drama'],
        studios: ['Netflix'],
      },
      ...{ originalLanguage: 'de', externalIds: { tvdb: '334824', imdb: 'tt5753856', tmdb: '70523' } },
    });
    expect(tvdb.tokens.given).to.equal(1);
    tvdb.tokens.end();
    const agent = agentOf('tvdb');
    const children = await agent.children?.(queryOf(agent), { type: 'show', ids: { tvdb: '334824' }, language: 'en' });
    expect(children).to.have.length(700);
    expect(tvdb.tokens.given).to.equal(2);
    expect(tvdb.at('/v4/login').every(({ headers }) => headers.authorization === undefined)).to.equal(true);
  });

  it('IGDB: gets a token for the client, and describes a game', async () => {
    const [found] = (await find('igdb', { type: 'game', title: 'The Witcher 3: Wild Hunt' })) ?? [];
    expect(found).to.deep.include({ title: 'The Witcher 3: Wild Hunt', year: 2015, ids: { igdb: '1942' } });
    const described = await read('igdb', 'game', { igdb: '1942' });
    expect(described?.values).to.deep.include({
      ...{ releasedOn: '2015-05-19', rating: 9.3, studios: ['CD Projekt RED'], genres: ['Role-playing (RPG)'] },
    });
    expect(described?.pictures.map(({ kind }) => kind)).to.deep.equal(['poster', 'backdrop']);
    expect(igdb.tokens.given).to.equal(1);
    expect(igdb.at('/v4').some(({ query }) => query.has('client_secret'))).to.equal(false);
    const stored = await api.deps.redis.keys('agent:igdb:token:*');
    expect(await api.deps.redis.get(stored[0] ?? ''), 'sealed').to.not.include('token-');
  });

  it('OMDb: knows misses and limits from the text of an answer', async () => {
    const described = await read('omdb', 'movie', { imdb: 'tt0113277' });
    expect(described?.values).to.deep.include({ releasedOn: '1995-12-15', rating: 8.3, genres: ['Action', 'Crime'] });
    expect(described?.values.people?.map(({ name }) => name)).to.deep.equal(['Al Pacino', 'Michael Mann']);
    expect(await find('omdb', { type: 'movie', title: 'Nothing' })).to.deep.equal([]);
    expect(await read('omdb', 'movie', { imdb: 'tt0000000' })).to.equal(undefined);
    omdb.state.limited = true;
    const fault = await find('omdb', { type: 'movie', title: 'Other' })?.catch((error: unknown) => error);
    expect(fault).to.include({ reason: 'rate-limited' });
    omdb.state.limited = false;
  });

  it('keeps the rate of a catalogue over three processes, which send an equal request once', async () => {
    const { config } = api;
    const env = { ...process.env, ...storesOf(config), FOYER_LOG_LEVEL: 'silent' };
    const children = ['1', '2', '3'].map((name) =>
      spawn(process.execPath, [caller, name, '3'], { env, stdio: ['ignore', 'pipe', 'inherit'] }),
    );
    const codes = await Promise.all(children.map(async (child) => (await once(child, 'exit'))[0] as number));
    expect(codes).to.deep.equal([0, 0, 0]);
    expect(wikidata.got).to.have.length(10);
    expect(wikidata.repeated()).to.deep.equal([]);
    const { everyMs, burst } = agentOf('wikidata').rate;
    const times = wikidata.got.map(({ atMs }) => atMs).sort((a, b) => a - b);
    const tookMs = (times.at(-1) ?? 0) - (times[0] ?? 0);
    expect(tookMs).to.be.at.least(everyMs * (times.length - burst) * 0.9);
  });
});
