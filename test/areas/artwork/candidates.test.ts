import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import sharp from 'sharp';
import { Catalogues } from '#platform/agents/catalogues.ts';
import { resumeAgents } from '#platform/agents/pace.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { localOutbound, placeAgents } from '#support/catalogues/local.ts';
import { startTmdb, tmdbKey } from '#support/catalogues/tmdb.ts';
import { type GivenLibrary, givenItem, givenLibrary } from '#support/given-items.ts';
import { errorOf } from '#support/signing-in.ts';
import { atEnd } from '#support/stores.ts';
import { painted } from './support.ts';

describe('Artwork: candidates of catalogues', function () {
  this.timeout(60_000);
  let api: Api;
  let admin: TestClient;
  let member: TestClient;
  let library: GivenLibrary;
  let fake: Awaited<ReturnType<typeof startTmdb>>;
  const paths: string[] = [];

  before(async () => {
    api = await startApi({ FOYER_TMDB_API_KEY: tmdbKey });
    Object.assign(api.deps, { catalogues: new Catalogues(api.deps, localOutbound()) });
    const [poster, wide] = [await painted(2000, 3000, '#c04020'), await painted(1600, 900, '#20c040')];
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      if (request.url?.includes('/n949')) response.writeHead(404).end();
      else response.end(request.url?.includes('/b949') ? wide : poster);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    atEnd(() => void server.close());
    fake = await startTmdb({ pictures: `http://127.0.0.1:${(server.address() as { port: number }).port}/t/p/` });
    await placeAgents(api, { tmdb: fake.url });
    admin = api.as(await api.given.owner());
    member = api.as(await api.given.member());
    library = await givenLibrary(api.deps.db, 'movies', {
      everyone: true,
      settings: JSON.stringify({ agents: ['tmdb'] }),
    });
  });
  beforeEach(async () => {
    fake.fault = undefined;
    paths.length = 0;
    await resumeAgents(api.deps.redis, ['tmdb']);
    await api.deps.db('catalogue_answers').delete();
  });
  const film = (): Promise<string> => givenItem(api.deps.db, library, { external_ids: { tmdb: '949' } });
  const search = async (id: string, query: object = {}) =>
    (await admin.searchItemArtwork({ params: { id }, query } as never)).body.items;

  it('are found by the ids of the item, and narrowed by kind and language', async () => {
    const id = await film();
    const all = await search(id);
    expect(all.map(({ kind, language }) => [kind, language ?? null])).to.deep.include.members([
      ['poster', 'en'],
      ['poster', null],
      ['backdrop', null],
      ['thumb', 'en'],
      ['logo', 'en'],
    ]);
    expect(all.find(({ kind }) => kind === 'poster')).to.deep.include({
      ...{ agent: 'tmdb', width: 2000, height: 3000, kept: false, language: 'en' },
    });
    expect(paths, 'a search fetches no picture').to.deep.equal([]);
    const kinds = async (query: object) => new Set((await search(id, query)).map(({ kind }) => kind));
    expect(await kinds({ kind: 'poster,logo' })).to.deep.equal(new Set(['poster', 'logo']));
    expect(await kinds({ language: 'none' })).to.deep.equal(new Set(['poster', 'backdrop']));
    const none = await admin.searchItemArtwork({ params: { id }, query: { agent: 'fanart' } } as never);
    expect([none.status, errorOf(none).details.reason]).to.deep.equal([502, 'no-agent']);
    fake.fault = () => ({ status: 503, body: {} });
    await api.deps.db('catalogue_answers').delete();
    const down = await admin.searchItemArtwork({ params: { id } });
    expect([down.status, errorOf(down).details.reason]).to.deep.equal([502, 'failed']);
  });

  it('are previewed at an address of the server by those who edit, and small', async () => {
    const id = await film();
    const [poster] = await search(id, { kind: 'poster', language: 'en' });
    const preview = poster?.previewUrl.slice('/api/v1/images/'.length) ?? '';
    const get = (client: TestClient) => client.getImage({ params: { id: preview }, query: {} });
    const shown = await get(admin);
    expect([shown.status, shown.headers.get('content-type')]).to.deep.equal([200, 'image/webp']);
    expect(await sharp(shown.body as never).metadata()).to.include({ width: 320, height: 480 });
    expect((await get(member)).status).to.equal(404);
    await get(admin);
    expect(paths, 'fetched once').to.have.length(1);
  });

  it('are imported by their id for an hour, by the item that they belong to', async () => {
    const id = await film();
    const [poster] = await search(id, { kind: 'poster', language: 'en' });
    const body = { kind: 'poster', candidateId: poster?.id ?? '' };
    const added = await admin.importItemArtwork({ params: { id }, body } as never);
    expect(added.status, JSON.stringify(added.body)).to.equal(201);
    expect(added.body).to.deep.include({ source: 'agent', language: 'en', width: 2000, selected: true });
    expect(added.body.sourceUrl).to.include('/t/p/original/m949.jpg');
    expect((await search(id, { kind: 'poster' })).filter(({ kept }) => kept)).to.have.length(1);
    expect((await admin.importItemArtwork({ params: { id: await film() }, body } as never)).status).to.equal(404);
    const [lost] = await search(id, { kind: 'poster', language: 'none' });
    const gone = { kind: 'poster', candidateId: lost?.id ?? '' };
    expect((await admin.importItemArtwork({ params: { id }, body: gone } as never)).status).to.equal(502);
    await api.deps.redis.flushdb();
    expect((await admin.importItemArtwork({ params: { id }, body } as never)).status).to.equal(404);
  });
});
