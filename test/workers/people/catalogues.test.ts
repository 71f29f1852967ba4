import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import { describePeopleBy } from '#areas/people/public.ts';
import { resumeAgents } from '#platform/agents/pace.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import { localCatalogues, localOutbound, placeAgents } from '#support/catalogues/local.ts';
import { startTmdb, tmdbKey } from '#support/catalogues/tmdb.ts';
import type { Person } from '#support/given.ts';
import { givenCredit, givenItem, givenLibrary } from '#support/given-items.ts';
import { atEnd } from '#support/stores.ts';
import { describingCatalogues } from '#workers/people/catalogues.ts';
import { createRefreshPeople } from '#workers/people/refresh.ts';
import type { Work } from '#workers/work.ts';
import { painted } from '../artwork/support.ts';

describe('people.refresh by catalogues', function () {
  this.timeout(60_000);
  let api: Api;
  let owner: Person;
  let work: Work;
  let fake: Awaited<ReturnType<typeof startTmdb>>;
  const paths: string[] = [];
  const refresh = createRefreshPeople(localOutbound());

  before(async () => {
    api = await startApi({ FOYER_TMDB_API_KEY: tmdbKey });
    owner = await api.given.owner();
    const portrait = await painted(400, 600, '#c04020');
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      response.end(portrait);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => void server.close());
    fake = await startTmdb({ pictures: `http://127.0.0.1:${(server.address() as { port: number }).port}/t/p/` });
    await placeAgents(api, { tmdb: fake.url });
    const report = async () => undefined;
    work = { ...api.deps, jobId: newId(), signal: new AbortController().signal, report } as unknown as Work;
    describePeopleBy(describingCatalogues(api.deps, localCatalogues(api.deps)));
  });
  after(() => describePeopleBy([]));
  beforeEach(async () => {
    fake.fault = undefined;
    paths.length = 0;
    fake.got.length = 0;
    await resumeAgents(api.deps.redis, ['tmdb']);
    await api.deps.db('catalogue_answers').delete();
  });

  const credited = async (name: string, tmdb: string, language = 'en'): Promise<string> => {
    const { body } = await api.as(owner).createPerson({ body: { name, externalIds: { tmdb } } });
    const settings = JSON.stringify({ agents: ['tmdb'], language });
    const library = await givenLibrary(api.deps.db, 'movies', { settings });
    await givenCredit(api.deps.db, await givenItem(api.deps.db, library, { top: true }), {
      name: '',
      personId: body.id,
    });
    return body.id;
  };
  const personOf = async (id: string) => (await api.as(owner).getPerson({ params: { id } })).body;

  it('gives facts and a portrait, which a person may remove for good', async () => {
    const id = await credited('Al Pacino', '1158', 'de');
    expect(await refresh({ personId: id }, work)).to.deep.equal({ refreshed: 1 });
    const person = await personOf(id);
    expect(person).to.deep.include({
      ...{ name: 'Al Pacino', birthday: '1940-04-25', birthplace: 'New York City, New York, USA' },
      ...{ aliases: ['Alfredo James Pacino', 'アル・パチーノ'] },
      externalIds: { tmdb: '1158', imdb: 'nm0000199', wikidata: 'Q41163' },
    });
    expect(person.biography, 'in English where it is not translated').to.include('American actor');
    expect(person.portrait).to.include({ kind: 'portrait', width: 400, height: 600 });
    expect(paths).to.deep.equal(['/t/p/original/p1158.jpg']);
    await refresh({ personId: id }, work);
    expect(paths, 'fetched once').to.have.length(1);
    await api.as(owner).deleteImage({ params: { id: person.portrait?.id ?? '' } });
    await refresh({ personId: id, replacePortrait: true }, work);
    expect(paths).to.have.length(1);
    expect((await personOf(id)).portrait).to.equal(undefined);
  });

  it('leaves what a person wrote, and someone whom the catalogue does not know', async () => {
    const id = await credited('Known Otherwise', '22222');
    await api.as(owner).updatePerson({ params: { id }, body: { biography: 'Mine.' } });
    expect(await refresh({ personId: id }, work)).to.deep.equal({ refreshed: 1 });
    expect(await personOf(id)).to.include({ biography: 'Mine.' });
    const bare = await credited('Without Facts', '77');
    await refresh({ personId: bare }, work);
    expect((await personOf(bare)).portrait).to.equal(undefined);
  });

  it('leaves people for later while the catalogue fails', async () => {
    await api.deps.db('people').update({ refreshed_at: new Date() });
    const id = await credited('Robert De Niro', '380');
    fake.fault = () => ({ status: 503, body: {} });
    expect(await refresh({}, work)).to.deep.equal({ refreshed: 0 });
    expect((await personOf(id)).refreshedAt).to.equal(undefined);
    fake.fault = undefined;
    await resumeAgents(api.deps.redis, ['tmdb']);
    expect(await refresh({}, work)).to.deep.equal({ refreshed: 1 });
    expect((await personOf(id)).refreshedAt).to.be.a('string');
    expect(await refresh({}, work)).to.deep.equal({ refreshed: 0 });
  });
});
