import { expect } from 'chai';
import { principalOf } from '#identity/account-row.ts';
import type { Principal } from '#identity/principal.ts';
import { seesArtwork } from '#kernel/images.ts';
import { newId } from '#platform/ids.ts';
import { emit } from '#platform/outbox.ts';
import { type Relay, startRelay } from '#platform/relay.ts';
import { type Answered, type Api, startApi } from '#support/api.ts';
import { EventReader } from '#support/event-reader.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary, givenShow } from '#support/given-items.ts';
import { eventually } from '#support/stores.ts';
import { sweepOnce } from '../../../workers/playback-sweeper.ts';

/** Every way to an item, for those from whom a label hides it. */
describe('items that a label hides', function () {
  this.timeout(60_000);
  let api: Api;
  let relay: Relay;
  let owner: Person;
  let plain: Person;
  let films: GivenLibrary;
  let shows: GivenLibrary;
  let [shown, secret, image, file, openFile, sharedLabel] = ['', '', '', '', '', ''];
  let show: Awaited<ReturnType<typeof givenShow>>;
  /** Three people who must not see the film or the show, by three rules. */
  const people: Record<string, Person> = {};
  const kinds = ['deny', 'only', 'restricted'];

  const label = async (name: string): Promise<string> => (await api.as(owner).createLabel({ body: { name } })).body.id;
  const put = (id: string, add: string[]) => api.as(owner).setLabelItems({ params: { id }, body: { add } });
  const access = (id: string, body: object) => api.as(owner).setLabelAccess({ params: { id }, body });

  before(async () => {
    api = await startApi();
    const { db } = api.deps;
    relay = startRelay(api.config.databaseUrl, api.deps.redis, api.deps.log);
    owner = await api.given.owner();
    plain = await api.given.member();
    films = await givenLibrary(db, 'movies', { everyone: true });
    shows = await givenLibrary(db, 'shows', { everyone: true });
    shown = await givenItem(db, films, { top: true, title: 'Shown film', year: 2001 });
    secret = await givenItem(db, films, { top: true, title: 'Hidden film', year: 2002 });
    file = await givenFile(db, films, secret);
    openFile = await givenFile(db, films, shown);
    show = await givenShow(db, shows, { seasons: 1, episodes: 2, title: 'Hidden show' });
    image = newId();
    await db('images').insert({
      ...{ id: image, kind: 'poster', owner_kind: 'item', owner_id: secret, source: 'upload', sha256: 'x' },
      ...{ mime: 'image/png', size_bytes: 1, width: 1, height: 1, blurhash: '', dominant: '#000000' },
    });
    for (const item of [secret, show.id]) {
      await db('item_neighbours').insert({ item_id: shown, neighbour_id: item, score: 1, because: [] });
    }
    for (const kind of kinds) people[kind] = await api.given.member();
    const [denied, shelf, closed] = [await label('Denied'), await label('Shelf'), await label('Closed')];
    sharedLabel = closed;
    await put(denied, [secret, show.id]);
    await put(closed, [secret, show.id]);
    await put(shelf, [shown]);
    await access(denied, { restricted: false, deny: [{ userId: people.deny?.accountId }] });
    await access(shelf, { restricted: false, only: [{ userId: people.only?.accountId }] });
    const allow = [plain, people.deny, people.only].map((one) => ({ userId: one?.accountId }));
    await access(closed, { restricted: true, allow });
  });
  after(() => relay.stop());

  const of = (person: Person | undefined) => api.as(person as Person);
  /** The same status and body as for an absent record, but for the request's id. */
  const refusalOf = (answer: Answered) => {
    const body = Buffer.isBuffer(answer.body) ? JSON.parse(answer.body.toString()) : answer.body;
    return { status: answer.status, error: { ...body.error, requestId: '' }, etag: answer.headers.get('etag') };
  };
  const idsOf = (answer: Answered<{ items: object[] }>) => answer.body.items.map((item) => (item as { id: string }).id);

  it('is visible to accounts without a rule', async () => {
    for (const person of [owner, plain]) {
      expect((await of(person).getItem({ params: { id: secret } })).status).to.equal(200);
      expect((await of(person).getItem({ params: { id: show.episodes[0]?.[0] ?? '' } })).status).to.equal(200);
    }
  });

  for (const kind of kinds) {
    describe(`from a person by ${kind}`, () => {
      it('answers for single records as if they did not exist', async () => {
        const client = of(people[kind]);
        const absent = newId();
        const episode = show.episodes[0]?.[0] ?? '';
        const requests = (id: string, fileId: string) => [
          client.getItem({ params: { id } }),
          client.getItemProgress({ params: { id } }),
          client.listItemFiles({ params: { id } }),
          client.listItemChildren({ params: { id } }),
          client.listSimilarItems({ params: { id } }),
          client.getItemTree({ params: { id } }),
          client.listLabels({ query: { itemId: id } }),
          client.markWatched({ params: { id } }),
          client.startPlayback({ params: { id }, body: { client: { builtIn: 'hls' } } }),
          client.streamFile({ params: { fileId } }),
          client.downloadFile({ params: { fileId } }),
        ];
        const missing = (await Promise.all(requests(absent, absent))).map(refusalOf);
        for (const id of [secret, show.id, episode]) {
          const answers = (await Promise.all(requests(id, file))).map(refusalOf);
          expect(answers).to.deep.equal(missing);
        }
        for (const answer of missing) expect([403, 404]).to.include(answer.status);
        const hls = newId();
        const { accountId = '', profileId = '' } = people[kind] ?? {};
        const session = { account_id: accountId, profile_id: profileId, playback_session_id: newId(), plan: '{}' };
        await api.deps
          .db('transcode_sessions')
          .insert({ ...session, id: hls, item_id: secret, file_id: file, state: 'running' });
        const parts = (id: string) =>
          Promise.all([
            client.getStreamMaster({ params: { id } }),
            client.getStreamPlaylist({ params: { id, rendition: 'v0' } }),
            client.getStreamSegment({ params: { id, rendition: 'v0', segment: '0.m4s' } }),
          ]).then((answers) => answers.map(refusalOf));
        expect(await parts(hls)).to.deep.equal(await parts(absent));
        const who = (await principalOf(api.deps.db, people[kind]?.accountId ?? '')) as Principal;
        expect(await seesArtwork(api.deps.db, who, image)).to.equal(false);
      });

      it('is in no list, filter, count, facet, index, neighbour or next', async () => {
        const client = of(people[kind]);
        const libraryOf = { id: films.id };
        expect(idsOf(await client.listItems())).to.deep.equal([shown]);
        expect(idsOf(await client.listItems({ query: { ids: `${secret},${shown},${show.id}` } }))).to.deep.equal([
          shown,
        ]);
        const listed = await client.listLibraryItems({ params: libraryOf });
        expect(idsOf(listed)).to.deep.equal([shown]);
        expect(listed.body.page.total).to.equal(1);
        const filtered = await client.listLibraryItems({
          params: libraryOf,
          query: { filter: 'title:contains:hidden', include: 'labels' },
        });
        expect(idsOf(filtered)).to.deep.equal([]);
        expect(
          idsOf(await client.listLibraryItems({ params: { id: shows.id }, query: { view: 'all' } })),
        ).to.deep.equal([]);
        const facets = await client.getLibraryFacets({ params: libraryOf, query: { fields: 'year,label' } });
        expect(facets.body.facets[0]?.values.map(({ value }) => value)).to.deep.equal(['2001']);
        expect(facets.body.facets[1]?.values).to.deep.equal([]);
        expect((await client.getLibraryIndex({ params: libraryOf })).body.total).to.equal(1);
        expect(idsOf(await client.listSimilarItems({ params: { id: shown } }))).to.deep.equal([]);
        const library = await client.getLibrary({ params: libraryOf });
        expect(library.body.itemCounts).to.deep.equal({ movie: 1 });
        expect(library.body.sizeBytes).to.equal(0);
        const all = await client.listLibraries();
        expect(all.body.find(({ id }) => id === shows.id)?.itemCounts).to.deep.equal({});
      });

      it('is in no event, neither live nor in a replay, and gone when it becomes so', async () => {
        const { db } = api.deps;
        const last = await db('events').max<{ max: number }[]>('number as max');
        expect(last).to.have.length(1);
        const person = people[kind] as Person;
        const open = (from?: string) =>
          EventReader.open(`${api.url}/api/v1/events`, { ...person.headers, ...(from && { 'last-event-id': from }) });
        const reader = await open();
        await eventually(() => reader.position !== undefined);
        const from = reader.position;
        const [own] = await db('items').where({ id: secret }).select('labels');
        const [seen] = await db('items').where({ id: shown }).select('labels');
        const say = (itemId: string, labels: number[]) =>
          emit(db, 'item.updated', {
            payload: { itemId, libraryId: films.id },
            facts: { libraryId: films.id, itemId, labels },
          });
        await say(secret, own.labels);
        await say(shown, seen.labels);
        const ids = (one: EventReader) => one.events.map(({ data }) => data.payload.itemId).filter(Boolean);
        await eventually(() => ids(reader).includes(shown));
        expect(ids(reader)).to.deep.equal([shown]);
        const again = await open(from);
        await eventually(() => ids(again).includes(shown));
        expect(ids(again)).to.deep.equal([shown]);
        reader.close();
        again.close();
      });
    });
  }

  describe('as rules and items change', () => {
    it('announces removal to those who lose an item by labelling, arrival to those who gain it, and a change to the others', async () => {
      const [item] = [await givenItem(api.deps.db, films, { top: true, title: 'Turns' })];
      const [loses, stays] = await Promise.all(
        [people.restricted, owner].map((person) => EventReader.open(`${api.url}/api/v1/events`, person?.headers ?? {})),
      );
      const names = (reader: EventReader | undefined) =>
        reader?.events.filter(({ data }) => data.payload.itemId === item).map(({ event }) => event);
      await put(sharedLabel, [item]);
      await eventually(() => names(stays)?.length === 1);
      await api.as(owner).setLabelItems({ params: { id: sharedLabel }, body: { remove: [item] } });
      await eventually(() => names(stays)?.length === 2 && names(loses)?.length === 2);
      expect(names(stays)).to.deep.equal(['item.updated', 'item.updated']);
      expect(names(loses)).to.deep.equal(['item.deleted', 'item.added']);
    });

    it('counts from the next request on, voids lists and cached counts, and resets open streams', async () => {
      const { db } = api.deps;
      const person = await api.given.member();
      const client = of(person);
      const id = await label('Later');
      const item = await givenItem(db, films, { top: true, title: 'Later', year: 2010 });
      await access(id, { restricted: true, allow: [{ userId: person.accountId }] });
      const listed = await client.listLibraryItems({ params: { id: films.id } });
      const facet = async () =>
        (
          await client.getLibraryFacets({ params: { id: films.id }, query: { fields: 'year' } })
        ).body.facets[0]?.values.map(({ value }) => value);
      expect(await facet()).to.include('2010');
      const reader = await EventReader.open(`${api.url}/api/v1/events`, person.headers);
      await put(id, [item]);
      expect(await facet()).to.include('2010');
      await access(id, { restricted: true });
      expect((await client.getItem({ params: { id: item } })).status).to.equal(404);
      expect(await facet()).to.not.include('2010');
      const again = await client.listLibraryItems({
        params: { id: films.id },
        headers: { 'if-none-match': listed.headers.get('etag') ?? '' },
      });
      expect(again.status).to.equal(200);
      await eventually(() => reader.events.some(({ event }) => event === 'stream.reset'));
      await access(id, { restricted: true, allow: [{ userId: person.accountId }] });
      expect(await facet()).to.include('2010');
      const other = await label('Other');
      await access(other, { restricted: true });
      await put(other, [item]);
      expect(await facet()).to.not.include('2010');
    });

    it('shows no container whose every child is hidden', async () => {
      const { db } = api.deps;
      const hollow = await givenShow(db, shows, { seasons: 1, episodes: 2, title: 'Hollow' });
      const id = await label('Each');
      await put(id, hollow.episodes[0] ?? []);
      await access(id, { restricted: false, deny: [{ userId: plain.accountId }] });
      expect((await of(plain).getItem({ params: { id: hollow.id } })).status).to.equal(404);
      await api.as(owner).setLabelItems({ params: { id }, body: { remove: [hollow.episodes[0]?.[1]] } });
      const next = await of(plain).getItem({ params: { id: hollow.id } });
      expect(next.status).to.equal(200);
      expect(next.body.next?.id).to.equal(hollow.episodes[0]?.[1]);
    });

    it('ends running playback of an item that becomes hidden', async () => {
      const { db } = api.deps;
      const person = await api.given.member();
      const session = (itemId: string, fileId: string) => ({
        ...{
          id: newId(),
          account_id: person.accountId,
          profile_id: person.profileId,
          item_id: itemId,
          file_id: fileId,
        },
        ...{ library_id: films.id, state: 'playing', method: 'direct_play', decision: '{}', url: '/', implicit: false },
      });
      const [stops, goes] = [session(secret, file), session(shown, openFile)];
      await db('playback_sessions').insert([stops, goes]);
      expect(await sweepOnce(db)).to.equal(1);
      const rows = await db('playback_sessions').whereIn('id', [stops.id, goes.id]).orderBy('id').select('id', 'state');
      expect(new Map(rows.map((row) => [row.id, row.state]))).to.deep.equal(
        new Map([
          [stops.id, 'stopped'],
          [goes.id, 'playing'],
        ]),
      );
    });
  });
});
