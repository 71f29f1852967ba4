import { expect } from 'chai';
import type { Agent, CatalogueRequest } from '#platform/agents/agent.ts';
import { CatalogueFault } from '#platform/agents/fault.ts';
import { resumeAgents } from '#platform/agents/pace.ts';
import { tmdb } from '#platform/agents/tmdb/index.ts';
import { saveSettings } from '#platform/settings.ts';
import { type Api, startApi } from '#support/api.ts';
import { Catalogue, faults } from '#support/catalogues/catalogue.ts';
import { ageAnswers, localCatalogues, patience, placeAgents } from '#support/catalogues/local.ts';
import { startTmdb, tmdbKey } from '#support/catalogues/tmdb.ts';

const FILM = { path: '/3/movie/949', schema: tmdb.ping.schema } satisfies CatalogueRequest;

describe('queries of catalogues', function () {
  this.timeout(60_000);
  let api: Api;
  let fake: Awaited<ReturnType<typeof startTmdb>>;

  before(async () => {
    api = await startApi({ FOYER_TMDB_API_KEY: tmdbKey });
    fake = await startTmdb();
    await placeAgents(api, { tmdb: fake.url });
  });
  beforeEach(async () => {
    fake.got.length = 0;
    fake.fault = undefined;
    fake.state.key = tmdbKey;
    await resumeAgents(api.deps.redis, ['tmdb']);
    await api.deps.db('catalogue_answers').delete();
  });

  const send = async (request: CatalogueRequest = tmdb.ping, more = {}, agent: Agent = tmdb) =>
    localCatalogues(api.deps).queryOf(agent, patience(more))(request);
  const faultOf = async (...given: Parameters<typeof send>): Promise<CatalogueFault> => {
    const error = await send(...given).then(
      () => undefined,
      (reason: unknown) => reason,
    );
    expect(error).to.be.instanceOf(CatalogueFault);
    return error as CatalogueFault;
  };

  it('keeps an answer for a day, also that there is none, and then revalidates it by its ETag', async () => {
    for (let times = 0; times < 3; times += 1) expect(await send()).to.have.property('images');
    expect(await send({ ...tmdb.ping, path: '/3/movie/1' })).to.equal(undefined);
    expect(await send({ ...tmdb.ping, path: '/3/movie/1' })).to.equal(undefined);
    expect(fake.got.map(({ path }) => path)).to.deep.equal(['/3/configuration', '/3/movie/1']);
    const details = (await import('#platform/agents/tmdb/schemas.ts')).Title;
    const film = { path: FILM.path, schema: details };
    expect(await send(film)).to.include({ title: 'Heat' });
    await ageAnswers(api);
    fake.fault = ({ headers }) => (headers['if-none-match'] === 'W/"949-"' ? { status: 304, body: '' } : undefined);
    expect(await send(film)).to.include({ title: 'Heat' });
    expect(await send(film), 'kept for another day').to.include({ title: 'Heat' });
    expect(fake.at('/3/movie/949')).to.have.length(2);
  });

  it('sends one request for many that are made at once', async () => {
    fake.fault = (_request, response) => {
      setTimeout(() => response.end(JSON.stringify({ images: { secure_base_url: fake.url } })), 200);
      return 'written';
    };
    const all = await Promise.all(Array.from({ length: 8 }, () => send()));
    expect(all).to.have.length(8);
    expect(fake.got).to.have.length(1);
  });

  const kinds = [
    ['rate-limited', faults.tooMany(20)],
    ['rate-limited', faults.tooMany()],
    ['rate-limited', faults.overloaded(20)],
    ['unreachable', faults.overloaded()],
    ['invalid-answer', faults.html()],
    ['unreachable', faults.cut()],
    ['invalid-answer', faults.endless()],
    ['refused', faults.refused()],
  ] as const;
  for (const [at, [reason, fault]] of kinds.entries())
    it(`reports fault ${at + 1}, ${reason}, keeps no answer, and leaves the catalogue alone for a while`, async () => {
      fake.fault = fault;
      expect((await faultOf()).reason).to.equal(reason);
      fake.fault = undefined;
      const again = await faultOf(tmdb.ping, { limitMs: 1000 });
      expect(again.reason).to.equal(reason);
      expect(again.waitMs).to.be.within(10_000, 30 * 60_000);
      expect(fake.got).to.have.length(1);
      await resumeAgents(api.deps.redis, ['tmdb']);
      expect(await send()).to.have.property('images');
    });

  it('waits as long as Retry-After requires, when the caller has the time', async () => {
    let first = true;
    fake.fault = () => {
      if (!first) return undefined;
      first = false;
      return { status: 429, headers: { 'retry-after': '2' } };
    };
    expect(await send()).to.have.property('images');
    expect((fake.got[1]?.atMs ?? 0) - (fake.got[0]?.atMs ?? 0)).to.be.at.least(1900);
  });

  it('doubles the pause with each further failure, up to 30 minutes', async () => {
    fake.fault = faults.overloaded();
    const pauses: number[] = [];
    for (let times = 0; times < 7; times += 1) {
      await faultOf();
      pauses.push(Math.round((await api.deps.redis.pttl('agent:tmdb:pause')) / 60_000));
      await api.deps.redis.del('agent:tmdb:pause');
    }
    expect(pauses).to.deep.equal([1, 2, 4, 8, 16, 30, 30]);
  });

  it('sends the key to the address of the agent only, never across a redirect', async () => {
    const other = await Catalogue.start(() => ({ body: { images: { secure_base_url: 'http://x.test' } } }));
    fake.fault = faults.elsewhere(other.url);
    expect((await faultOf()).reason).to.equal('redirected');
    expect(other.got).to.deep.equal([]);
    const keyless: Agent = { ...tmdb, id: 'openlibrary' };
    delete keyless.credentials;
    const moved = await Catalogue.start(() => ({ status: 307, headers: { location: `${other.url}/moved` } }));
    await placeAgents(api, { tmdb: fake.url, openlibrary: moved.url });
    expect(await send(tmdb.ping, {}, keyless)).to.have.property('images');
    expect(other.got.map(({ path, headers }) => [path, headers.authorization])).to.deep.equal([['/moved', undefined]]);
  });

  it('notes that a key is refused until it is taken or replaced', async () => {
    const owner = api.as(await api.given.owner());
    const noted = async () =>
      (await owner.listCatalogueKeys()).body.items.find(({ name }) => name === 'tmdb.apiKey')?.refusedAt;
    fake.state.key = 'another';
    await faultOf();
    expect(await noted()).to.be.a('string');
    fake.state.key = tmdbKey;
    await resumeAgents(api.deps.redis, ['tmdb']);
    await send();
    expect(await noted()).to.equal(undefined);
  });

  it('queries no catalogue without its key, while the server is offline, or at a closed address', async () => {
    const { deps } = api;
    const closed = new (await import('#platform/agents/catalogues.ts')).Catalogues(deps);
    const guarded = await closed
      .queryOf(
        tmdb,
        patience(),
      )(tmdb.ping)
      .catch((error: unknown) => error);
    expect(guarded, 'loopback stays closed').to.include({ reason: 'unreachable' });
    await resumeAgents(deps.redis, ['tmdb']);
    await saveSettings(deps.db, { 'network.offline': true }, null);
    await deps.settings.reload();
    expect((await faultOf()).reason, 'the mirror is in no allowed network').to.equal('unreachable');
    await placeAgents(api, {});
    expect((await faultOf()).reason).to.equal('disabled');
    await saveSettings(deps.db, { 'network.offline': false }, null);
    await placeAgents(api, { tmdb: fake.url });
    const bare = await startApi();
    await placeAgents(bare, { tmdb: fake.url });
    const query = localCatalogues(bare.deps).queryOf(tmdb, patience());
    expect(await query(tmdb.ping).catch((error: unknown) => error)).to.include({ reason: 'missing-key' });
    expect(fake.got).to.deep.equal([]);
  });
});
