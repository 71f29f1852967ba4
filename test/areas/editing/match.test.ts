import { expect } from 'chai';
import { Catalogues } from '#platform/agents/catalogues.ts';
import { resumeAgents } from '#platform/agents/pace.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import { faults } from '#support/catalogues/catalogue.ts';
import { localOutbound, placeAgents } from '#support/catalogues/local.ts';
import { startTmdb, tmdbKey } from '#support/catalogues/tmdb.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenItem, givenLibrary } from '#support/given-items.ts';
import { createRefresh } from '#workers/metadata/refresh.ts';
import type { Work } from '#workers/work.ts';

describe('matching an item', function () {
  this.timeout(60_000);
  let api: Api;
  let owner: Person;
  let fake: Awaited<ReturnType<typeof startTmdb>>;
  let films: GivenLibrary;
  let film: string;

  before(async () => {
    api = await startApi({ FOYER_TMDB_API_KEY: tmdbKey });
    fake = await startTmdb();
    await placeAgents(api, { tmdb: fake.url });
    Object.assign(api.deps, { catalogues: new Catalogues(api.deps, localOutbound()) });
    owner = await api.given.owner();
    films = await givenLibrary(api.deps.db, 'movies');
    await api.deps.db('libraries').where({ id: films.id }).update({ settings: '{"agents":["files","tmdb"]}' });
  });
  beforeEach(async () => {
    fake.fault = undefined;
    fake.got.length = 0;
    await api.deps.redis.flushdb();
    await resumeAgents(api.deps.redis, ['tmdb']);
    await api.deps.db('catalogue_answers').delete();
    await api.deps.db('jobs').delete();
    await api.deps.db('items').where({ library_id: films.id }).delete();
    film = await givenItem(api.deps.db, films, { top: true, title: 'Heat' });
  });

  const me = () => api.as(owner);
  const params = () => ({ params: { id: film } });
  const search = (query: Record<string, string | number> = {}) => me().searchItemMatches({ ...params(), query });
  /** Runs the job that waits. */
  const runJob = async (): Promise<void> => {
    const job = await api.deps.db('jobs').where({ kind: 'metadata.refresh', state: 'waiting' }).first();
    await api.deps.db('jobs').where({ id: job.id }).update({ state: 'completed' });
    const work = { keep: async () => undefined, report: async () => undefined, emit, enqueue, checkpoint: null };
    const signal = new AbortController().signal;
    const all = { ...api.deps, ...work, signal, jobId: job.id, attempt: 1 } as unknown as Work;
    await createRefresh(() => api.deps.catalogues)(job.payload, all);
  };
  const item = async () => (await me().getItem(params())).body;

  it('lists candidates with their scores, by name and year, by an id, and by the address of a page', async () => {
    const { body } = await search({ year: 1986 });
    expect(body.match).to.deep.equal({ itemId: film, state: 'unmatched', externalIds: {} });
    expect(body.items[0]).to.deep.include({ agent: 'tmdb', title: 'Heat', year: 1986, externalIds: { tmdb: '12599' } });
    expect(body.items[0]?.because).to.have.members(['title', 'year']);
    for (const externalId of ['tmdb:949', 'imdb:tt0113277', 'https://www.themoviedb.org/movie/949-heat']) {
      const [first] = (await search({ externalId })).body.items;
      expect(first).to.deep.include({ year: 1995, score: 1, because: ['external-id'] });
    }
    expect((await search({ q: 'Ran' })).body.items.map(({ year }) => year)).to.deep.equal([1985]);
    expect((await search({ externalId: 'https://films.example/949' })).status).to.equal(400);
    expect((await search({ agent: 'igdb' })).status).to.equal(400);
  });

  it('answers 502 when no agent answers, within the time of a person', async () => {
    fake.fault = faults.overloaded();
    const began = performance.now();
    const refused = await search();
    expect(refused.status).to.equal(502);
    expect(errorOf(refused)).to.deep.include({ code: 'PROVIDER_UNAVAILABLE' });
    expect(performance.now() - began).to.be.lessThan(9000);
    const bare = await givenLibrary(api.deps.db, 'photos');
    const photo = await givenItem(api.deps.db, bare, { top: true, title: 'Heat' });
    expect((await me().searchItemMatches({ params: { id: photo } })).status).to.equal(502);
  });

  it('sets and locks a chosen identity at once, and fields follow by the job', async () => {
    const { items } = (await search({ year: 1995 })).body;
    const candidateId = items[0]?.id ?? '';
    const applied = await me().applyItemMatch({ ...params(), body: { candidateId } });
    expect(applied.status).to.equal(202);
    expect(applied.body).to.deep.include({ state: 'matched', agent: 'tmdb', matchedBy: 'person' });
    expect(applied.body.jobId).to.be.a('string');
    expect(await item()).to.deep.include({ externalIds: { tmdb: '949' }, lockedFields: ['externalIds'] });
    await runJob();
    expect(await item()).to.deep.include({ year: 1995, overview: 'Obsessive master thief Neil McCauley.' });
    expect((await item()).externalIds).to.deep.equal({ tmdb: '949', imdb: 'tt0113277', wikidata: 'Q42198' });
    const again = (await search({ year: 1986 })).body;
    expect(again.items.find(({ current }) => current)?.externalIds).to.deep.include({ tmdb: '949' });
    await me().applyItemMatch({ ...params(), body: { externalIds: { tmdb: '12599' }, agent: 'tmdb' } });
    await runJob();
    expect(await item()).to.deep.include({ year: 1986 });
    expect((await item()).externalIds).to.deep.equal({ tmdb: '12599', imdb: 'tt0093164' });
    await api.deps.redis.flushdb();
    expect((await me().applyItemMatch({ ...params(), body: { candidateId } })).status).to.equal(404);
  });

  it('refuses an identity of another item where versions are not merged', async () => {
    const other = await givenItem(api.deps.db, films, { top: true, title: 'Other' });
    await api.deps.db('items').where({ id: other }).update({ external_ids: '{"tmdb":"949"}' });
    await api.deps
      .db('libraries')
      .where({ id: films.id })
      .update({ settings: '{"agents":["tmdb"],"mergeVersions":false}' });
    const refused = await me().applyItemMatch({ ...params(), body: { externalIds: { tmdb: '949' } } });
    expect(errorOf(refused).details).to.deep.include({ reason: 'already-matched', itemId: other });
    expect((await search({ year: 1995 })).body.items[0]?.alreadyItemId).to.equal(other);
    await api.deps.db('libraries').where({ id: films.id }).update({ settings: '{"agents":["files","tmdb"]}' });
  });

  it('returns an item to its files, and identifies it no more until that is requested', async () => {
    await me().applyItemMatch({ ...params(), body: { externalIds: { tmdb: '949' } } });
    await runJob();
    for (let times = 0; times < 2; times += 1) expect((await me().clearItemMatch(params())).status).to.equal(204);
    expect(await item()).to.deep.include({ title: 'Heat', externalIds: {}, lockedFields: [] });
    expect(await item()).to.not.have.property('overview');
    fake.got.length = 0;
    await me().refreshItem({ ...params(), body: {} });
    await runJob();
    expect(fake.got).to.deep.equal([]);
    expect((await search({ year: 1995 })).body.match.state).to.equal('local-only');
    await api.deps.db('items').where({ id: film }).update({ year: 1995 });
    await me().refreshItem({ ...params(), body: { identify: true } });
    await runJob();
    expect((await item()).externalIds).to.include({ tmdb: '949' });
  });

  it('queues a refresh once while it waits, and knows its modes and agents', async () => {
    const first = await me().refreshItem({ ...params(), body: { mode: 'missing' } });
    expect(first.status).to.equal(202);
    expect(first.body).to.deep.include({ kind: 'metadata.refresh', state: 'waiting', queue: 'metadata' });
    const second = await me().refreshItem({ ...params(), body: { mode: 'missing' } });
    expect([second.status, second.body.id]).to.deep.equal([200, first.body.id]);
    const other = await me().refreshItem({ ...params(), body: { mode: 'update' } });
    expect(other.status).to.equal(202);
    for (const body of [{ mode: 'all' }, { agents: ['igdb'] }, { agents: ['nobody'] }])
      expect((await me().refreshItem({ ...params(), body })).status, JSON.stringify(body)).to.equal(400);
  });

  it('fills empty fields alone, renews values of agents, and drops edits, as the mode says', async () => {
    await api.deps.db('items').where({ id: film }).update({ external_ids: '{"tmdb":"949"}' });
    await me().updateItem({ ...params(), body: { overview: 'mine' }, query: { lock: false } });
    const refreshed = async (mode: string) => {
      await me().refreshItem({ ...params(), body: { mode } });
      await runJob();
      return item();
    };
    expect(await refreshed('missing')).to.deep.include({ overview: 'mine', tagline: 'A Los Angeles crime saga' });
    expect(await refreshed('update')).to.deep.include({ overview: 'Obsessive master thief Neil McCauley.' });
    await me().updateItem({ ...params(), body: { overview: 'locked' } });
    expect(await refreshed('replace')).to.deep.include({ overview: 'locked' });
  });
});
