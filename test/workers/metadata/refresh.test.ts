import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect } from 'chai';
import type { RefreshOptions } from '#areas/editing/public.ts';
import { resumeAgents } from '#platform/agents/pace.ts';
import { type Api, startApi } from '#support/api.ts';
import { faults } from '#support/catalogues/catalogue.ts';
import { localCatalogues, localOutbound, placeAgents } from '#support/catalogues/local.ts';
import { startTmdb, tmdbKey } from '#support/catalogues/tmdb.ts';
import { atEnd } from '#support/stores.ts';
import { createFetchArtwork } from '#workers/artwork/fetch.ts';
import { createRefresh } from '#workers/metadata/refresh.ts';
import { Postponed } from '#workers/work.ts';
import { painted } from '../artwork/support.ts';
import { newPlace, type Place } from '../scan/support.ts';

/** A server of pictures, with the paths that were requested. */
async function servePictures(): Promise<{ url: string; paths: string[] }> {
  const paths: string[] = [];
  const poster = await painted(400, 600, '#c04020');
  const wide = await painted(800, 450, '#20c040');
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    response.end(request.url?.includes('/original/b') ? wide : poster);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  atEnd(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}/t/p/`, paths };
}

describe('metadata.refresh', function () {
  this.timeout(120_000);
  let api: Api;
  let fake: Awaited<ReturnType<typeof startTmdb>>;
  let pictures: Awaited<ReturnType<typeof servePictures>>;

  before(async () => {
    api = await startApi({ FOYER_TMDB_API_KEY: tmdbKey });
    pictures = await servePictures();
    fake = await startTmdb({ pictures: pictures.url });
    await placeAgents(api, { tmdb: fake.url });
  });
  beforeEach(async () => {
    fake.fault = undefined;
    fake.got.length = 0;
    await resumeAgents(api.deps.redis, ['tmdb']);
    await api.deps.db('catalogue_answers').delete();
  });

  const library = (type: string) => newPlace(type, { agents: ['nfo', 'files', 'tmdb'] }, api);
  const refresh = async (place: Place, payload: object = { libraryId: place.libraryId }): Promise<object> => {
    // Takes the place of the queued job.
    await api.deps.db('jobs').where({ kind: 'metadata.refresh', state: 'waiting' }).update({ state: 'completed' });
    const run = createRefresh(() => localCatalogues(api.deps));
    return run(payload, place.work()).catch((error: unknown) => {
      if (error instanceof Postponed) return { until: error.runAt };
      throw error;
    });
  };
  const itemOf = async ({ libraryId }: Place, title: string) =>
    api.deps.db('items').where({ library_id: libraryId, title }).first();
  const matchOf = async (itemId: string) => api.deps.db('item_matches').where({ item_id: itemId }).first();

  it('describes, identifies and pictures a film that a scan added, and queries nothing twice', async () => {
    const place = await library('movies');
    await place.put('Heat (1995)/Heat (1995).mkv');
    await place.scan();
    const queued = await api.deps.db('jobs').where({ kind: 'metadata.refresh', library_id: place.libraryId }).first();
    expect(queued).to.include({ state: 'waiting', cause: 'scan' });
    await refresh(place);
    const film = await itemOf(place, 'Heat');
    expect(film).to.include({ year: 1995, tagline: 'A Los Angeles crime saga', age_rating: 'R', matched: true });
    expect(film.external_ids).to.deep.equal({ tmdb: '949', imdb: 'tt0113277', wikidata: 'Q42198' });
    expect(film.origins).to.include({ overview: 'tmdb', title: 'tmdb' });
    const detail = (
      await api.as(await api.given.admin()).getItem({ params: { id: film.id }, query: { include: 'people' } })
    ).body;
    expect(detail.genres).to.have.members(['Action', 'Crime']);
    expect(JSON.stringify(detail)).to.include('Robert De Niro').and.to.include('Michael Mann');
    expect(await matchOf(film.id)).to.include({ state: 'matched', agent: 'tmdb', matched_by: 'scan', due_at: null });
    await createFetchArtwork(localOutbound())({ libraryId: place.libraryId }, place.work());
    const images = await api.deps.db('images').where({ owner_id: film.id, source: 'agent' }).orderBy('kind');
    expect(images.map(({ kind }: { kind: string }) => kind)).to.deep.equal(['backdrop', 'logo', 'poster', 'thumb']);
    expect(pictures.paths).to.include('/t/p/original/m949.jpg').and.not.include('/t/p/original/n949.jpg');
    await refresh(place, { itemId: film.id, options: { by: 'person' } });
    await place.scan();
    await refresh(place);
    expect(fake.repeated()).to.deep.equal([]);
    expect((await itemOf(place, 'Heat')).revision).to.be.greaterThan(film.revision - 1);
  });

  it('gathers the films of a series, keeps changes of people, and does not make a deleted one again', async () => {
    const place = await library('movies');
    const admin = api.as(await api.given.admin());
    const series = async () => (await admin.listCollections({ query: { source: 'agent' } })).body.items;
    const titles = async (id: string) =>
      (await admin.listCollectionItems({ params: { id } })).body.items.map(({ title }) => title);
    await place.put('Aliens (1986)/Aliens (1986).mkv');
    await place.scan();
    await refresh(place);
    expect(await series(), 'of one film').to.deep.equal([]);
    for (const name of ['Alien (1979)', 'Alien 3 (1992)']) await place.put(`${name}/${name}.mkv`);
    await place.scan();
    await refresh(place);
    const [made] = await series();
    const { id = '' } = made ?? {};
    expect(made).to.deep.include({ name: 'Alien Collection', sharing: 'everyone', externalIds: { tmdb: '8091' } });
    expect(made).to.not.have.property('owner');
    expect(await titles(id)).to.deep.equal(['Alien', 'Aliens', 'Alien 3']);
    await place.put('Heat (1995)/Heat (1995).mkv');
    await place.scan();
    await refresh(place);
    const ids = new Map(
      (await api.deps.db('items').where({ library_id: place.libraryId })).map((row) => [row.title, row.id]),
    );
    const idOf = (title: string): string => ids.get(title) ?? '';
    await admin.addCollectionItems({ params: { id }, body: { itemIds: [idOf('Heat')] } });
    await admin.changeCollectionItems({ params: { id }, body: { remove: [idOf('Alien 3')] } });
    await admin.updateCollection({ params: { id }, body: { name: 'The xenomorph' } });
    for (const itemId of ids.values()) await refresh(place, { itemId, options: { by: 'person' } });
    expect(await titles(id)).to.deep.equal(['Alien', 'Aliens', 'Heat']);
    expect((await admin.getCollection({ params: { id } })).body).to.deep.include({
      name: 'The xenomorph',
      lockedFields: ['name'],
    });
    await admin.deleteCollection({ params: { id } });
    await refresh(place, { itemId: idOf('Alien'), options: { by: 'person' } });
    expect(await series()).to.deep.equal([]);
  });

  it('describes seasons and episodes by their show, a season with one request', async () => {
    const place = await library('shows');
    for (const number of ['01', '02', '03']) await place.put(`Dark/Season 01/Dark S01E${number}.mkv`);
    await place.scan();
    await refresh(place);
    expect(await itemOf(place, 'Secrets 2')).to.include({
      type: 'episode',
      index_number: 2,
      overview: 'What happens in 2.',
    });
    expect((await itemOf(place, 'Season 1')).overview).to.equal('The 1. season.');
    const show = await itemOf(place, 'Dark');
    expect(show.details.knownChildren).to.have.length(18);
    const missing = await api.as(await api.given.admin()).listMissingChildren({ params: { id: show.id } });
    expect(missing.body.items).to.have.length(15);
    expect(missing.body.items[0]).to.include({ parentIndex: 1, index: 4, agent: 'tmdb' });
    expect(fake.at('/3/tv/70523/season/1')).to.have.length(1);
    expect(fake.repeated()).to.deep.equal([]);
  });

  for (const [name, fault] of Object.entries({
    'is overloaded': faults.overloaded(),
    'limits the rate for long': faults.tooMany(900),
    'answers with a page': faults.html(),
    'cuts its answers': faults.cut(),
    'refuses the key': faults.refused(),
  }))
    it(`leaves items as they were when the agent ${name}, and tries again after 1, 6 and 24 hours`, async () => {
      const place = await library('movies');
      await place.put('Ran (1985)/Ran (1985).mkv');
      await place.scan();
      const before = await itemOf(place, 'Ran');
      fake.fault = fault;
      for (const hours of [1, 6, 24]) {
        const done = (await refresh(place)) as { until: Date };
        expect((done.until.getTime() - Date.now()) / 3_600_000).to.be.closeTo(hours, 0.1);
        expect(await itemOf(place, 'Ran')).to.deep.equal(before);
        await resumeAgents(api.deps.redis, ['tmdb']);
        await api.deps.db('item_matches').where({ item_id: before.id }).update({ due_at: new Date() });
      }
      expect(await refresh(place)).to.deep.equal({ refreshed: 1, failed: ['tmdb'] });
      fake.fault = undefined;
      await resumeAgents(api.deps.redis, ['tmdb']);
      await refresh(place, { itemId: before.id });
      expect((await itemOf(place, 'Ran')).external_ids).to.include({ tmdb: '11645' });
    });

  it('continues a container behind its checkpoint', async () => {
    const place = await library('shows');
    await place.put('Dark/Season 01/Dark S01E01.mkv');
    await place.put('Dark/Season 01/Dark S01E02.mkv');
    await place.scan();
    const show = await itemOf(place, 'Dark');
    const kept: unknown[] = [];
    const keep = async (_db: unknown, checkpoint: unknown) => void kept.push(checkpoint);
    const run = async (checkpoint: unknown) =>
      createRefresh(() => localCatalogues(api.deps))({ itemId: show.id }, { ...place.work(), checkpoint, keep });
    expect(await run({ done: 4 })).to.deep.include({ refreshed: 0 });
    expect(await run(null)).to.deep.include({ refreshed: 4 });
    expect(kept).to.deep.equal([{ done: 4 }]);
    expect(fake.repeated()).to.deep.equal([]);
  });

  it('refreshes items each month, and forgets old answers', async () => {
    const place = await library('movies');
    await place.put('Heat (1995)/Heat (1995).mkv');
    await place.scan();
    await refresh(place);
    const { id } = await itemOf(place, 'Heat');
    const { db } = api.deps;
    await db('item_matches')
      .where({ item_id: id })
      .update({ refreshed_at: new Date(Date.now() - 31 * 86_400_000) });
    await db.raw(`update catalogue_answers set fetched_at = now() - interval '15 days'`);
    await refresh(place, {});
    expect((await matchOf(id)).refreshed_at.getTime()).to.be.greaterThan(Date.now() - 60_000);
    expect(fake.repeated().length, 'queried again').to.be.greaterThan(0);
    expect(await db('catalogue_answers').whereRaw(`fetched_at < now() - interval '1 day'`)).to.deep.equal([]);
  });

  it('keeps an identity that a person chose when names identify items again', async () => {
    const place = await library('movies');
    await place.put('Heat (1995)/Heat (1995).mkv');
    await place.scan();
    const film = await itemOf(place, 'Heat');
    const body = { externalIds: { tmdb: '11645' } };
    const owner = api.as(await api.given.owner());
    expect((await owner.applyItemMatch({ params: { id: film.id }, body } as never)).status).to.be.oneOf([200, 202]);
    await refresh(place, { itemId: film.id, options: { identify: true, mode: 'replace', by: 'person' } });
    const row = await api.deps.db('items').where({ id: film.id }).first();
    expect(row.external_ids).to.include({ tmdb: '11645' });
    expect(row.title).to.not.equal('Heat');
  });

  it('delays an item whose values cannot be stored, and no other', async () => {
    const place = await library('movies');
    await place.put('Heat (1995)/Heat (1995).mkv');
    await place.put('Ran (1985)/Ran (1985).mkv');
    await place.scan();
    const ran = await itemOf(place, 'Ran');
    await api.deps.db.raw(
      `alter table items add constraint refused check (id <> '${ran.id}' or original_title is null)`,
    );
    const done = (await refresh(place)) as { until: Date };
    await api.deps.db.raw('alter table items drop constraint refused');
    expect((done.until.getTime() - Date.now()) / 3_600_000).to.be.closeTo(1, 0.1);
    expect((await itemOf(place, 'Heat')).overview).to.be.a('string');
    expect((await matchOf(ran.id)).due_at).to.be.instanceOf(Date);
  });

  it('writes items together, and has pictures fetched that are new', async () => {
    const { db } = api.deps;
    const statementsFor = async (names: readonly string[]): Promise<number> => {
      const place = await library('movies');
      for (const name of names) await place.put(`${name}/${name}.mkv`);
      await place.scan();
      let statements = 0;
      const count = (): void => {
        statements += 1;
      };
      db.on('query', count);
      await refresh(place);
      db.removeListener('query', count);
      const emitted = await db('outbox')
        .where({ event: 'item.updated' })
        .whereRaw(`facts ->> 'libraryId' = ?`, [place.libraryId]);
      expect(new Set(emitted.map(({ facts }: { facts: { itemId: string } }) => facts.itemId)).size).to.equal(
        names.length,
      );
      await db('artwork_pending').delete();
      const { id } = await itemOf(place, 'Ran');
      await refresh(place, { itemId: id, options: { by: 'person' } });
      expect(await db('artwork_pending').where({ item_id: id })).to.deep.equal([]);
      return statements;
    };
    const few = await statementsFor(['Ran (1985)']);
    await db('catalogue_answers').delete();
    const many = await statementsFor(['Ran (1985)', 'Heat (1995)', 'Alien (1979)', 'Aliens (1986)', 'Alien 3 (1992)']);
    expect(many - few, 'of four more films').to.be.below(4 * 16);
  });

  it('never changes locked fields, and does not guess between films of one name', async () => {
    const place = await library('movies');
    await place.put('Heat/Heat.mkv');
    await place.scan();
    const film = await itemOf(place, 'Heat');
    await refresh(place);
    expect(await matchOf(film.id)).to.include({ state: 'unmatched' });
    expect((await itemOf(place, 'Heat')).external_ids).to.deep.equal({});
    await api.deps
      .db('items')
      .where({ id: film.id })
      .update({ locked_fields: ['tagline'], external_ids: '{"tmdb":"949"}' });
    const options: RefreshOptions = { mode: 'replace' };
    await refresh(place, { itemId: film.id, options });
    expect(await itemOf(place, 'Heat')).to.include({
      tagline: null,
      overview: 'Obsessive master thief Neil McCauley.',
    });
  });
});
