import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { Catalogues } from '#platform/agents/catalogues.ts';
import { emit } from '#platform/outbox.ts';
import { enqueue } from '#platform/queue.ts';
import { saveSettings } from '#platform/settings.ts';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import { type Catalogue, faults } from '#support/catalogues/catalogue.ts';
import { startTmdbListings, startWikidataListings } from '#support/catalogues/listings.ts';
import { localOutbound, placeAgents } from '#support/catalogues/local.ts';
import { tmdbKey } from '#support/catalogues/tmdb.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenItem, givenLibrary } from '#support/given-items.ts';
import { atEnd } from '#support/stores.ts';
import { createDiscoverRefresh } from '#workers/discover/refresh.ts';
import type { Work } from '#workers/work.ts';
import { painted } from '../artwork/support.ts';

const GB = { country: 'GB' };
const titles = (body: { items: { title: string }[] }): string[] => body.items.map(({ title }) => title);

describe('discover', function () {
  this.timeout(60_000);
  let api: Api;
  let member: Person;
  let tmdb: Catalogue;
  let wikidata: Catalogue;
  let films: GivenLibrary;

  before(async () => {
    api = await startApi({ FOYER_TMDB_API_KEY: tmdbKey });
    const poster = await painted(400, 600, '#c04020');
    const server = createServer((_request, response) => void response.end(poster)).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => void server.close());
    tmdb = await startTmdbListings(`http://127.0.0.1:${(server.address() as { port: number }).port}/t/p/`);
    wikidata = await startWikidataListings();
    await placeAgents(api, { tmdb: tmdb.url, wikidata: wikidata.url });
    Object.assign(api.deps, { catalogues: new Catalogues(api.deps, localOutbound()) });
    member = await api.given.member();
    films = await givenLibrary(api.deps.db, 'movies', { everyone: true });
    await givenItem(api.deps.db, films, { top: true, title: 'Home Film' });
    await refresh();
  });
  beforeEach(async () => {
    tmdb.fault = undefined;
    wikidata.fault = undefined;
    await api.deps.redis.flushdb();
    tmdb.got.length = 0;
    await api.deps.db('items').whereNot({ title: 'Home Film' }).delete();
  });

  const me = () => api.as(member);
  const refresh = async (payload: object = { place: { country: 'GB', language: 'en' } }): Promise<unknown> => {
    const work = { keep: async () => undefined, report: async () => undefined, emit, enqueue, checkpoint: null };
    const signal = new AbortController().signal;
    const all = { ...api.deps, ...work, signal, jobId: '', attempt: 1 } as unknown as Work;
    return createDiscoverRefresh({ catalogues: () => api.deps.catalogues, outbound: localOutbound() })(payload, all);
  };
  const setting = async (values: Record<string, unknown>): Promise<void> => {
    await saveSettings(api.deps.db, values, null);
    await api.deps.settings.reload();
  };

  it('lists films in cinemas by popularity, without those that can be had at home, and upcoming ones by date', async () => {
    const { body } = await me().listInCinemas({ query: GB });
    expect(titles(body)).to.deep.equal(['Night Train', 'Quiet Harbour']);
    const [first] = body.items;
    expect(first).to.deep.include({
      titleId: 'movie:wikidata:Q1001',
      ageRating: '12A',
      popularity: 50 / 80,
      genres: ['Drama'],
    });
    expect(first?.releases.map(({ kind, certainty }) => [kind, certainty])).to.deep.equal([['cinema', 'confirmed']]);
    expect(body.missing).to.deep.equal([]);
    expect(body.sources.map(({ source, state }) => [source, state])).to.deep.equal([
      ['local', 'ok'],
      ['spine', 'not-covered'],
      ['wikidata', 'ok'],
      ['tmdb', 'ok'],
    ]);
    expect(titles((await me().listInCinemas({ query: { ...GB, when: 'upcoming' } })).body)).to.deep.equal([
      'Far Shore',
    ]);
    const sorted = await me().listInCinemas({ query: { ...GB, sort: 'title', limit: 1 } });
    expect(sorted.body.page).to.deep.include({ hasMore: true, total: 2 });
    const cursor = sorted.body.page.cursor ?? '';
    expect(
      titles((await me().listInCinemas({ query: { ...GB, sort: 'title', limit: 1, cursor } })).body),
    ).to.deep.equal(['Quiet Harbour']);
    expect((await me().listInCinemas({ query: { ...GB, genre: 'drama' } })).body.page.total).to.equal(1);
    expect(tmdb.got, 'a list reads rows only').to.have.length(0);
  });

  it('lists dated releases on disc', async () => {
    expect(titles((await me().listNewOnDisc({ query: GB })).body)).to.deep.equal(['Silver Disc', 'Disc of Wikidata']);
    expect(titles((await me().listNewOnDisc({ query: { ...GB, when: 'upcoming' } })).body)).to.deep.equal([
      'Next Disc',
    ]);
  });

  it('lists what services offer, by service, kind and day', async () => {
    const { body } = await me().listToStream({ query: { ...GB, sort: 'title' } });
    expect(titles(body)).to.deep.equal(['Dark', 'Heat', 'Listed Serial', 'Old Road']);
    expect(body.missing).to.deep.equal(['services-not-chosen']);
    expect(body.items[2]?.offers).to.have.length(1);
    expect(body.items[2]?.offers[0]).to.deep.include({
      ...{
        serviceId: 'netflix',
        certainty: 'listed',
        kind: 'subscription',
        url: 'https://www.netflix.com/title/81111111',
      },
    });
    const by = async (query: Record<string, string>) =>
      titles((await me().listToStream({ query: { ...GB, sort: 'title', ...query } })).body);
    expect(await by({ services: 'niche-box-plus' })).to.deep.equal(['Heat']);
    expect(await by({ offers: 'rent' })).to.deep.equal(['Old Road']);
    expect(await by({ kind: 'show', services: 'netflix' })).to.deep.equal(['Dark', 'Listed Serial']);
    expect(await by({ since: '2999-01-01' })).to.deep.equal([]);
    expect(await by({ offers: 'here', hideHere: 'false' })).to.deep.equal(['Home Film']);
  });

  it('knows which titles are here, watched, and visible to the caller', async () => {
    const id = await givenItem(api.deps.db, films, { top: true, title: 'Heat', external_ids: { imdb: 'tt0113277' } });
    const streamed = async (query: object = {}) =>
      (await me().listToStream({ query: { ...GB, hideHere: false, ...query } })).body.items.find(
        ({ title }) => title === 'Heat',
      );
    expect(titles((await me().listToStream({ query: GB })).body)).not.to.include('Heat');
    expect((await streamed())?.here).to.deep.equal({ itemId: id, libraryId: films.id, watched: false });
    expect((await streamed())?.offers.map(({ kind }) => kind)).to.deep.equal(['here', 'free']);
    await api.deps
      .db('item_states')
      .insert({ item_id: id, profile_id: member.profileId, library_id: films.id, watched: true });
    expect(await streamed()).to.equal(undefined);
    expect((await streamed({ hideWatched: false }))?.here?.watched).to.equal(true);
    await api.deps.db('libraries').where({ id: films.id }).update({ everyone: false });
    try {
      expect((await streamed())?.here, 'shown as if not owned').to.equal(undefined);
      expect(titles((await me().listToStream({ query: { ...GB, hideHere: false } })).body)).not.to.include('Home Film');
    } finally {
      await api.deps.db('libraries').where({ id: films.id }).update({ everyone: true });
    }
  });

  it('hides unrated titles and those above an age limit everywhere', async () => {
    const child = await api.given.person('child', {
      age_limit: 12,
      restrictions: JSON.stringify({ discover: 'allow' }),
    });
    const kid = api.as(child);
    expect(titles((await kid.listInCinemas({ query: GB })).body)).to.deep.equal(['Night Train']);
    expect(titles((await kid.listNewOnDisc({ query: GB })).body)).to.deep.equal(['Silver Disc']);
    expect(titles((await kid.searchDiscoverTitles({ query: { ...GB, q: 'Old Road' } })).body)).to.deep.equal([]);
    expect(titles((await kid.searchDiscoverTitles({ query: { ...GB, q: 'Night Train' } })).body)).to.deep.equal([
      'Night Train',
    ]);
    const get = (titleId: string) => kid.getDiscoverTitle({ params: { titleId }, query: GB });
    expect((await get('movie:tmdb:101')).status).to.equal(404);
    expect((await get('movie:tmdb:102')).status).to.equal(404);
    expect((await get('movie:tmdb:100')).status).to.equal(200);
    const denied = await api.as(await api.given.child()).listInCinemas({ query: GB });
    expect([denied.status, errorOf(denied).details]).to.deep.equal([403, { restriction: 'discover' }]);
    await setting({ 'discover.enabled': false });
    expect((await me().listStreamingServices()).status).to.equal(403);
    const shown = async (): Promise<unknown> => (await me().getMe()).body.access.restrictions['discover'];
    expect(await shown(), 'apps show no link').to.equal('deny');
    await setting({ 'discover.enabled': true });
    expect(await shown()).to.equal('allow');
  });

  it('answers one title by any of its ids, with offers, people and a poster of its own', async () => {
    const get = (titleId: string) => me().getDiscoverTitle({ params: { titleId }, query: GB });
    const { body } = await get('movie:imdb:tt1000001');
    expect(body).to.deep.include({
      titleId: 'movie:wikidata:Q1001',
      tagline: 'A line',
      externalIds: { imdb: 'tt1000001', tmdb: '100', wikidata: 'Q1001' },
    });
    expect((await get('movie:tmdb:100')).body.titleId).to.equal(body.titleId);
    expect(body.people).to.deep.equal([{ name: 'Al Pacino', role: 'actor' }]);
    expect(body.trailers).to.deep.equal([
      { site: 'YouTube', url: 'https://www.youtube.com/watch?v=abc123', language: 'en' },
    ]);
    const image = await api.fetch(`/api/v1/images/${body.poster?.id}?width=160&format=webp`, {
      headers: member.headers,
    });
    expect([image.status, image.headers.get('content-type')]).to.deep.equal([200, 'image/webp']);
    const offers = (await get('movie:tmdb:101')).body.availability.offers;
    expect(offers.map(({ serviceId, kind }) => [serviceId, kind])).to.deep.equal([
      ['netflix', 'subscription'],
      ['apple-tv', 'rent'],
    ]);
    expect((await get('show:tmdb:70523')).body.availability.offers[0]?.seasons).to.deep.equal([1, 2]);
    expect((await get('movie:tmdb:31337')).status).to.equal(404);
    expect((await get('movie:tmdb:x')).status).to.equal(400);
    const own = (await api.deps.db('items').where({ title: 'Home Film' }).first()).id as string;
    expect((await get(`movie:item:${own}`)).body).to.deep.include({ titleId: `movie:item:${own}`, title: 'Home Film' });
  });

  it('keeps details for a day and offers for six hours, and shows older ones while the providers fail', async () => {
    const get = () => me().getDiscoverTitle({ params: { titleId: 'movie:tmdb:949' }, query: GB });
    const age = (columns: object) => api.deps.db('discover_details').update(columns);
    await get();
    expect(tmdb.got).to.have.length(0);
    await age({ offers_at: new Date(Date.now() - 7 * 3_600_000) });
    await get();
    expect(tmdb.got.map(({ path }) => path)).to.deep.equal(['/3/movie/949/watch/providers']);
    await age({ details_at: new Date(Date.now() - 25 * 3_600_000) });
    [tmdb.fault, wikidata.fault] = [faults.overloaded(), faults.overloaded()];
    const stale = await get();
    expect([stale.status, stale.body.title]).to.deep.equal([200, 'Heat']);
    expect(stale.body.availability.sources.find(({ source }) => source === 'tmdb')?.state).to.equal('stale');
    const refused = await me().getDiscoverTitle({ params: { titleId: 'movie:tmdb:555' }, query: GB });
    expect([refused.status, errorOf(refused).code]).to.deep.equal([502, 'PROVIDER_UNAVAILABLE']);
    expect((await me().listInCinemas({ query: GB })).status).to.equal(200);
  });

  it('searches every source, merges the same title, and finds a title by an id', async () => {
    const id = await givenItem(api.deps.db, films, {
      top: true,
      title: 'Night Train',
      external_ids: { imdb: 'tt1000001' },
    });
    const search = async (query: object) => (await me().searchDiscoverTitles({ query: { ...GB, ...query } })).body;
    const found = await search({ q: 'night train' });
    expect(found.items.map(({ titleId, here }) => [titleId, here?.itemId])).to.deep.equal([
      ['movie:wikidata:Q1001', id],
    ]);
    expect(titles(await search({ q: 'harbour' }))).to.deep.equal(['Quiet Harbour']);
    expect(titles(await search({ q: 'tt0113277' }))).to.deep.equal(['Heat']);
    expect(titles(await search({ q: 'Dark', kind: 'movie' }))).to.deep.equal([]);
    expect(titles(await search({ q: 'home film' }))).to.deep.equal(['Home Film']);
    tmdb.fault = faults.overloaded();
    const kept = await search({ q: 'night train' });
    expect(kept.missing, 'an hour old answers need no provider').to.deep.equal([]);
    await api.deps.db('discover_searches').update({ made_at: new Date(Date.now() - 2 * 3_600_000) });
    expect((await search({ q: 'night train' })).sources.find(({ source }) => source === 'tmdb')?.state).to.equal(
      'stale',
    );
    expect((await search({ q: 'something else' })).missing).to.deep.equal(['search-results']);
  });

  it('lists services, with those that providers know', async () => {
    const { body } = await me().listStreamingServices({ query: GB });
    expect(body.items[0]).to.deep.include({ id: 'netflix', titleCount: 3, mine: false });
    expect(body.items.map(({ id }) => id)).to.include.members(['niche-box-plus', 'bbc-iplayer']);
    expect(body.items.map(({ id }) => id)).not.to.include('hulu');
    expect((await me().listStreamingServices({ query: { ...GB, q: 'niche' } })).body.items).to.have.length(1);
  });

  it('names the missing parts without a key, and answers from the server alone while offline', async () => {
    const { body } = await me().listNewOnDisc({ query: { country: 'FR' } });
    expect([titles(body), body.missing]).to.deep.equal([[], ['lists']]);
    const waiting = await api.deps.db('jobs').where({ kind: 'discover.refresh' }).first();
    expect(waiting.payload).to.deep.include({ place: { country: 'FR', language: 'en' } });
    await placeAgents(api, {});
    await setting({ 'network.offline': true });
    await refresh({});
    const offline = (await me().listToStream({ query: { country: 'FR', hideHere: false } })).body;
    expect(titles(offline)).to.deep.equal(['Home Film']);
    expect(offline.missing).to.include('streaming-offers');
    expect(offline.sources.map(({ state }) => state)).to.deep.equal(['ok', 'not-covered', 'disabled', 'disabled']);
    expect((await me().listNewOnDisc({ query: { country: 'FR' } })).body.missing).to.include('disc-dates');
    expect(titles((await me().listInCinemas({ query: GB })).body), 'known titles stay').to.include('Night Train');
    await setting({ 'network.offline': false });
  });
});
