import { expect } from 'chai';
import { findTracks, putTrack, stretchesOf } from '#areas/search/public.ts';
import { recordPlay } from '#areas/stats/public.ts';
import { type Answered, type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import {
  type GivenLibrary,
  givenCredit,
  givenFile,
  givenItem,
  givenLibrary,
  givenShow,
  givenTag,
} from '#support/given-items.ts';

const WORDS = ['qua', 'quartz', 'quartzite', 'quarzt', 'harbour', 'mendel', 'basalt', 'geology', 'quartz harbour'];

describe('what an account may not see', function () {
  this.timeout(120_000);
  let api: Api;
  let owner: Person;
  let admin: TestClient;
  let mine: GivenLibrary[];
  const people: Record<string, Person> = {};

  before(async () => {
    api = await startApi();
    const { db } = api.deps;
    owner = await api.given.owner();
    admin = api.as(owner);
    mine = [await givenLibrary(db, 'movies'), await givenLibrary(db, 'shows'), await givenLibrary(db, 'music')];
    Object.assign(people, {
      'a child': await api.given.child(12),
      'a guest': await api.given.guest(),
      'a member with three of forty libraries': await api.given.member(),
    });
    await db('libraries').update({ everyone: false });
    for (const { accountId } of Object.values(people))
      await db('library_access').insert(mine.map(({ id }) => ({ library_id: id, account_id: accountId })));
    await fill(mine[0] as GivenLibrary, { title: 'Quartz Family', age_years: 6, rating: 6 });
    await givenShow(db, mine[1] as GivenLibrary, { title: 'Quartz Harbour', seasons: 1, episodes: 3 });
    const rules = {
      match: { all: [{ field: 'year', op: 'gt', value: 1990 }] },
      types: ['movie'],
      libraryIds: [],
      sort: 'title',
    };
    await collection({ name: 'Since 1990', kind: 'smart', rules });
  });

  async function collection(body: Record<string, unknown>): Promise<void> {
    const { status, body: made } = await admin.createCollection({ body: { sharing: 'everyone', ...body } });
    expect(status, JSON.stringify(made)).to.equal(201);
  }

  /** An item with everything by which it could be found. */
  async function fill(library: GivenLibrary, item: { title: string; [column: string]: unknown }): Promise<string> {
    const { db } = api.deps;
    const id = await givenItem(db, library, { top: true, year: 1999, runtime_ms: 3_600_000, ...item });
    await givenCredit(db, id, { name: `Mendel of ${item.title}`, character: 'Basalt' });
    for (const kind of ['genre', 'studio']) await givenTag(db, library, id, [kind, `Geology of ${item.title}`]);
    const fileId = await givenFile(db, library, id, { streams: [{ kind: 'subtitle', codec: 'subrip' }] });
    const { id: stream = '' } = (await db('media_streams').where({ file_id: fileId }).first('id')) ?? {};
    const content = `the quartz of ${item.title}`;
    const track = {
      ...{ stream_id: String(stream), file_id: fileId, item_id: id, library_id: library.id },
      ...{ language: 'en', generated: false, content },
    };
    await putTrack(db, track, stretchesOf([{ startMs: 1000, endMs: 2000, text: content }]));
    expect(await findTracks(db, fileId)).to.have.length(1);
    return id;
  }

  /** Every answer in which an item could show. */
  async function answersTo(by: TestClient): Promise<Record<string, unknown>> {
    const answers: Record<string, unknown> = {};
    const keep = async (name: string, call: Promise<Answered<unknown>>): Promise<void> => {
      const { status, body } = await call;
      expect(status, name).to.equal(200);
      answers[name] = JSON.parse(JSON.stringify({ status, body }), (key, value: unknown) =>
        /^(generatedAt|tookMs|asOf)$/.test(key) ? 0 : value,
      );
    };
    for (const q of WORDS) {
      await api.deps.redis.flushdb(); // more than 20 questions a second
      await keep(`searchAll ${q}`, by.searchAll({ query: { q } }));
      await keep(`searchItems ${q}`, by.searchItems({ query: { q } }));
      await keep(`searchPeople ${q}`, by.searchPeople({ query: { q } }));
      await keep(`searchTranscripts ${q}`, by.searchTranscripts({ query: { q } }));
      await keep(`suggest ${q}`, by.suggest({ query: { q } }));
    }
    // a late row of Home is deferred, so each is read by itself
    for (const { rowId } of (await by.getHome()).body.rows) {
      const row = await by.getHomeRow({ params: { rowId } });
      if (row.body.items.length > 0) await keep(`getHomeRow ${rowId}`, Promise.resolve(row));
    }
    await keep('listLibraries', by.listLibraries());
    await keep('listItems', by.listItems({ query: { limit: 100 } }));
    for (const { id } of mine) {
      const params = { id };
      await keep(`listLibraryItems ${id}`, by.listLibraryItems({ params, query: { limit: 100 } }));
      await keep(
        `getLibraryFacets ${id}`,
        by.getLibraryFacets({ params, query: { fields: 'genre,studio,year,rating' } }),
      );
      await keep(`getLibraryIndex ${id}`, by.getLibraryIndex({ params }));
      await keep(`listLibraryFields ${id}`, by.listLibraryFields({ params }));
      await keep(`listSavedFilters ${id}`, by.listSavedFilters({ params }));
      await keep(`listStudios ${id}`, by.listStudios({ params }));
      await keep(`listSavedFilters ${id}`, by.listSavedFilters({ params }));
    }
    const collections = await by.listCollections();
    await keep('listCollections', Promise.resolve(collections));
    for (const { id } of collections.body.items)
      await keep(`listCollectionItems ${id}`, by.listCollectionItems({ params: { id } }));
    await keep('listPeople', by.listPeople());
    await keep('getStats', by.getStats());
    await keep('listHistory', by.listHistory());
    return answers;
  }

  it('changes no answer, count, suggestion, facet, collection, row of Home or figure that it gets', async () => {
    const { db } = api.deps;
    const before: Record<string, Record<string, unknown>> = {};
    for (const [name, person] of Object.entries(people)) before[name] = await answersTo(api.as(person));
    const hidden: string[] = [];
    for (let n = 0; n < 37; n += 1) {
      const library = await givenLibrary(db, 'movies', { everyone: false });
      hidden.push(await fill(library, { title: `Quartzite ${n}`, rating: 9 }));
    }
    const [first = ''] = hidden;
    const adult = await fill(mine[0] as GivenLibrary, { title: 'Quartzite for Adults', age_years: 18, rating: 9 });
    await collection({ name: 'Quartzite', itemIds: hidden, pinned: ['home'], ofServer: true });
    for (const itemId of [first, adult])
      await recordPlay(db, {
        ...{ profileId: owner.profileId, itemId, playedMs: 600_000, completed: false, method: 'direct_play' },
        ...{ source: 'playback', client: 'x', startedAt: new Date(Date.now() - 900_000), endedAt: new Date() },
      });
    for (const [name, person] of Object.entries(people)) {
      const after = await answersTo(api.as(person));
      const text = JSON.stringify(after);
      for (const id of hidden) expect(text, name).to.not.include(id);
      const sees = (before[name] ?? {}) as Record<string, unknown>;
      if (name === 'a child')
        for (const [call, answer] of Object.entries(after))
          expect(JSON.stringify(answer), `${name}: ${call}`).to.equal(JSON.stringify(sees[call]));
      else expect(text).to.not.match(/Quartzite \d/);
    }
    await db('items').where({ id: adult }).delete();
    for (const [name, person] of Object.entries(people))
      for (const [call, answer] of Object.entries(await answersTo(api.as(person))))
        expect(JSON.stringify(answer), `${name}: ${call}`).to.equal(JSON.stringify(before[name]?.[call]));
  });
});
