import { expect } from 'chai';
import { itemFields } from '#areas/items/fields/fields.ts';
import { sortOf } from '#areas/items/listing/listing.ts';
import { librarySorts } from '#areas/items/listing/sorts.ts';
import type { Principal } from '#identity/principal.ts';
import { operatorsOf } from '#kernel/filter.ts';
import { scopeOf, writeCursor } from '#kernel/page.ts';
import { named } from '#platform/db.ts';
import { newId } from '#platform/ids.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import {
  type GivenLibrary,
  givenFile,
  givenItem,
  givenLibrary,
  givenMany,
  givenShow,
  givenState,
  givenTag,
} from '#support/given-items.ts';

const IMAGE = { id: newId(), kind: 'poster', width: 400, height: 600, blurhash: null, version: '1' };

describe('browsing', () => {
  let api: Api;
  let member: Person;

  before(async () => {
    api = await startApi();
    member = await api.given.member();
  });

  const titles = async (
    library: GivenLibrary,
    query: Record<string, string | number | boolean> = {},
  ): Promise<string[]> => {
    const { status, body } = await api.as(member).listLibraryItems({ params: { id: library.id }, query });
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.items.map((item) => item.title);
  };

  describe('listLibraryItems', () => {
    it('sorts titles as people do, filters, pages and counts', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      for (const [title, year] of [
        ['Rocky 10', 2000],
        ['rocky 2', 1990],
        ['Éclair', 1980],
        ['Zorro', null],
        ['Egg', 1970],
      ] as const)
        await givenItem(db, library, { title, year });
      await givenItem(db, library, { title: 'Trashed', trashed_at: new Date() });
      const main = await givenItem(db, library, { title: 'Alpha', year: 1960 });
      await givenItem(db, library, { title: 'Trailer', extra_of: main, extra_kind: 'trailer' });

      expect(await titles(library)).to.deep.equal(['Alpha', 'Éclair', 'Egg', 'rocky 2', 'Rocky 10', 'Zorro']);
      expect(await titles(library, { sort: '-year' })).to.deep.equal([
        'Rocky 10',
        'rocky 2',
        'Éclair',
        'Egg',
        'Alpha',
        'Zorro',
      ]);
      expect(await titles(library, { filter: 'year:gte:1980;title:starts:rocky' })).to.deep.equal([
        'rocky 2',
        'Rocky 10',
      ]);
      expect(await titles(library, { filter: 'title:contains:eclair' })).to.deep.equal(['Éclair']);

      const first = await api.as(member).listLibraryItems({ params: { id: library.id }, query: { limit: 4 } });
      expect(first.body.page).to.deep.include({ hasMore: true, total: 6, previous: null });
      const rest = await titles(library, { limit: 4, cursor: first.body.page.cursor ?? '' });
      expect(rest).to.deep.equal(['Rocky 10', 'Zorro']);
      const other = await api.as(member).listLibraryItems({
        params: { id: library.id },
        query: { cursor: first.body.page.cursor ?? '', sort: 'year' },
      });
      expect(other.status).to.equal(400);
    });

    it('reads backwards and around an item, as cards too', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      const ids: string[] = [];
      for (const letter of ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
        ids.push(await givenItem(db, library, { title: letter, artwork: { poster: IMAGE } }));
      const request = { params: { id: library.id }, query: { around: ids[3] ?? '', limit: 3, fields: 'card' } };
      const middle = await api.as(member).listLibraryItems(request);
      expect(middle.body.items.map((item) => item.title)).to.deep.equal(['c', 'd', 'e']);
      expect(Object.keys(middle.body.items[0] ?? {}).sort()).to.deep.equal([
        'artwork',
        'id',
        'title',
        'type',
        'userState',
      ]);
      const before = await titles(library, { cursor: middle.body.page.previous ?? '', limit: 3 });
      expect(before).to.deep.equal(['a', 'b']);
      const absent = await api.as(member).listLibraryItems({ ...request, query: { around: newId() } });
      expect(absent.status).to.equal(404);
    });

    it('lists top types, every level with view=all, and merges types in one order', async () => {
      const { db } = api.deps;
      const shows = await givenLibrary(db, 'shows');
      await givenShow(db, shows, { seasons: 1, episodes: 1, title: 'B show' });
      expect(await titles(shows)).to.deep.equal(['B show']);
      expect(await titles(shows, { view: 'all' })).to.deep.equal(['B show', 'S1E1', 'Season 1']);

      const photos = await givenLibrary(db, 'photos');
      for (const day of [1, 2, 3, 4]) {
        const type = day % 2 ? 'photo' : 'video';
        await givenItem(db, photos, { type, title: `Day ${day}`, taken_at: new Date(Date.UTC(2026, 0, day)) });
      }
      expect(await titles(photos)).to.deep.equal(['Day 4', 'Day 3', 'Day 2', 'Day 1']);
      const page = await api.as(member).listLibraryItems({ params: { id: photos.id }, query: { limit: 3 } });
      expect(await titles(photos, { limit: 3, cursor: page.body.page.cursor ?? '' })).to.deep.equal(['Day 1']);
    });

    it("shows the caller's own state, and filters and sorts by it", async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      const [seen, begun] = [
        await givenItem(db, library, { title: 'Seen' }),
        await givenItem(db, library, { title: 'Begun' }),
      ];
      await givenItem(db, library, { title: 'New' });
      const state = (itemId: string, more: object): Promise<void> =>
        givenState(db, library, { profileId: member.profileId, itemId, ...more });
      await state(seen, { watched: true, play_count: 2, last_played_at: new Date('2026-01-01') });
      await state(begun, { position_ms: 1000, progress: 0.5, play_count: 1, last_played_at: new Date('2026-02-01') });
      const another = await api.given.member();
      await givenState(db, library, { profileId: another.profileId, itemId: begun, watched: true });

      expect(await titles(library, { filter: 'watched:eq:true' })).to.deep.equal(['Seen']);
      expect(await titles(library, { filter: 'in_progress:eq:true' })).to.deep.equal(['Begun']);
      await db('item_states').where({ item_id: seen, profile_id: member.profileId }).update({ position_ms: 90_000 });
      const again = await titles(library, { filter: 'in_progress:eq:true' });
      expect(again, 'a watched film that is watched again').to.have.members(['Begun', 'Seen']);
      await db('item_states').where({ item_id: seen, profile_id: member.profileId }).update({ position_ms: 0 });
      expect(await titles(library, { filter: 'progress:gte:0.5' })).to.deep.equal(['Begun']);
      expect(await titles(library, { sort: '-lastPlayedAt' })).to.deep.equal(['Begun', 'Seen', 'New']);
      expect(await titles(library, { sort: '-playCount' })).to.deep.equal(['Seen', 'Begun', 'New']);

      const shows = await givenLibrary(db, 'shows');
      const show = await givenShow(db, shows, { seasons: 1, episodes: 2 });
      const [one = '', two = ''] = show.episodes[0] ?? [];
      await givenState(db, shows, { profileId: member.profileId, itemId: one, watched: true });
      const summary = async () => (await api.as(member).listLibraryItems({ params: { id: shows.id } })).body.items[0];
      expect(await summary()).to.deep.include({ childCount: 1, unwatchedCount: 1 });
      expect((await summary())?.userState).to.deep.include({ watched: false, progress: 0.5 });
      expect(await titles(shows, { filter: 'unwatched:eq:true;in_progress:eq:true' })).to.deep.equal(['Show']);
      await givenState(db, shows, { profileId: member.profileId, itemId: two, watched: true });
      expect(await titles(shows, { filter: 'watched:eq:true' })).to.deep.equal(['Show']);
      expect(await titles(shows, { filter: 'unwatched:eq:true' })).to.deep.equal([]);
    });

    it('adds relations to a page, and refuses files on more than 100 items', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      const id = await givenItem(db, library, { external_ids: { imdb: 'tt1' } });
      await givenFile(db, library, id, { streams: [{}] });
      await givenTag(db, library, id, ['genre', 'Drama']);
      const query = { include: 'files,streams,genres,externalIds,people,studios,parents' };
      const { body } = await api.as(member).listLibraryItems({ params: { id: library.id }, query });
      expect(body.items[0]).to.deep.include({ genres: ['Drama'], externalIds: { imdb: 'tt1' }, parents: [] });
      expect((body.items[0] as { files: { streams: unknown[] }[] }).files[0]?.streams).to.have.length(1);
      const many = await api
        .as(member)
        .listLibraryItems({ params: { id: library.id }, query: { ...query, limit: 200 } });
      expect(many.status).to.equal(400);
    });

    it('is stable for a day when random, and reads every item once', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      for (let n = 0; n < 12; n++) await givenItem(db, library, { title: `t${n}` });
      const whole = await titles(library, { sort: 'random' });
      expect(await titles(library, { sort: 'random' })).to.deep.equal(whole);
      const paged: string[] = [];
      for (let cursor: string | null = ''; cursor !== null; ) {
        const query: Record<string, string | number> = { sort: 'random', limit: 5, ...(cursor ? { cursor } : {}) };
        const { body } = await api.as(member).listLibraryItems({ params: { id: library.id }, query });
        paged.push(...body.items.map((item) => item.title));
        ({ cursor } = body.page);
      }
      expect(paged).to.deep.equal(whole);
      expect([...whole].sort()).not.to.deep.equal(whole);
    });

    it('continues a random list of the day before, also over the days of 23 and 25 hours', () => {
      const profileId = newId();
      const listAt = (at: string, cursor?: string) =>
        sortOf(
          {
            ...{ db: api.deps.db, deps: api.deps, now: new Date(at) },
            who: { profileId, timeZone: 'Europe/Berlin' } as Principal,
          },
          { scope: 'list', sort: 'random', fallback: 'title', sorts: librarySorts, cursor },
        );
      for (const [before, after] of [
        ['2026-06-01T21:30Z', '2026-06-01T22:30Z'],
        ['2026-03-29T20:00Z', '2026-03-29T22:30Z'],
        ['2026-10-24T20:00Z', '2026-10-25T22:30Z'],
      ] as const) {
        const first = listAt(before);
        const cursor = writeCursor(api.deps.keys, scopeOf(first), { values: ['0.5'], id: newId() });
        expect(listAt(after).scope, after).not.to.equal(first.scope);
        expect(listAt(after, cursor).scope, after).to.equal(first.scope);
      }
    });

    it('hides by age and trash, and answers 304 to a caller that has it already', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      await givenItem(db, library, { title: 'Grown', age_years: 18 });
      await givenItem(db, library, { title: 'Small', age_years: 0 });
      const child = await api.given.child(12);
      const request = { params: { id: library.id } };
      const first = await api.as(child).listLibraryItems(request);
      expect(first.body.items.map((item) => item.title)).to.deep.equal(['Small']);
      expect(first.body.page.total).to.equal(1);
      const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
      expect((await api.as(child).listLibraryItems({ ...request, headers })).status).to.equal(304);
      await db('libraries').where({ id: library.id }).increment('change_seq', 1);
      expect((await api.as(child).listLibraryItems({ ...request, headers })).status).to.equal(200);
    });

    it('is another list while a storage is unavailable', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      await givenItem(db, library);
      const request = { params: { id: library.id } };
      const first = await api.as(member).listLibraryItems(request);
      const headers = { 'if-none-match': first.headers.get('etag') ?? '' };
      const storage = db('storages').where({ id: api.given.storageId });
      await storage.clone().update({ state: 'unavailable' });
      const meanwhile = await api.as(member).listLibraryItems({ ...request, headers });
      await storage.clone().update({ state: 'available' });
      const after = await api.as(member).listLibraryItems({ ...request, headers });
      expect([meanwhile.status, after.status]).to.deep.equal([200, 304]);
    });

    it('takes the value "false" as a name where the field holds names', async () => {
      const { db } = api.deps;
      const music = await givenLibrary(db, 'music');
      const artist = await givenItem(db, music, { type: 'artist', title: 'False' });
      await givenItem(db, music, { type: 'album', title: 'By item', parent_id: artist });
      await givenItem(db, music, { type: 'album', title: 'By name', details: { artists: [{ name: 'false' }] } });
      await givenItem(db, music, { type: 'album', title: 'Other' });
      expect(await titles(music, { filter: 'artist:eq:false' })).to.deep.equal(['By item', 'By name']);
      expect(await titles(music, { filter: 'artist:in:false,x' })).to.deep.equal(['By item', 'By name']);
      expect(await titles(music, { filter: 'artist:ne:false' })).to.deep.equal(['Other']);
      expect(await titles(music, { filter: 'artist:exists:false' })).to.deep.equal(['Other']);
      expect(await titles(music, { filter: 'in_watchlist:eq:false' })).to.have.length(3);
      expect(await titles(music, { filter: 'in_watchlist:ne:false' })).to.deep.equal([]);
      const photos = await givenLibrary(db, 'photos');
      await givenItem(db, photos, { type: 'photo', title: 'Photo' });
      expect(await titles(photos, { filter: 'face:eq:false' })).to.deep.equal([]);
      expect(await titles(photos, { filter: 'face:ne:false' })).to.deep.equal(['Photo']);
    });

    it('takes every filter field with every operator, and refuses those of other types or of editors', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      await givenItem(db, library);
      const admin = await api.given.admin();
      const values: Record<string, string> = {
        text: 'x',
        number: '1',
        date: 'now-30d',
        boolean: 'true',
        enum: 'x',
        person: 'x',
        tag: 'x',
        duration: '1',
        language: 'en',
        bytes: '1',
      };
      const special: Record<string, string> = { external_id: 'imdb\\:tt1', taken_day: '01-31', type: 'movie' };
      const types = 'movie,episode,track,photo,book,comic,game,show,channel,audiobook,course';
      for (const [name, field] of Object.entries(itemFields)) {
        const value = special[name] ?? field.values?.[0] ?? values[field.kind] ?? '';
        const filters = operatorsOf(field).map(
          (op) => `${name}:${op}:${op === 'exists' ? 'true' : op === 'between' ? `${value},${value}` : value}`,
        );
        for (const filter of filters) {
          const { status, body } = await api.as(admin).listItems({ query: { filter, type: types } });
          expect(status, `${filter} ${JSON.stringify(body)}`).to.equal(200);
        }
      }
      const refused = async (filter: string): Promise<number> =>
        (await api.as(member).listLibraryItems({ params: { id: library.id }, query: { filter } })).status;
      expect(await refused('camera:eq:x')).to.equal(400);
      expect(await refused('locked:eq:true')).to.equal(400);
      expect(await refused('custom.colour:eq:red')).to.equal(400);
    });
  });

  describe('listItems', () => {
    it('answers ids in the order given and leaves hidden ones out', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      const closed = await givenLibrary(db, 'movies', { everyone: false });
      const a = await givenItem(db, library, { title: 'A', external_ids: { imdb: 'tt77' } });
      const b = await givenItem(db, library, { title: 'B' });
      const hidden = await givenItem(db, closed, { external_ids: { imdb: 'tt77' } });
      const itemsFor = (query: Record<string, string>) => api.as(member).listItems({ query });
      const byId = await itemsFor({ ids: [b, newId(), hidden, a].join() });
      expect(byId.body.items.map((item) => item.id)).to.deep.equal([b, a]);
      expect(byId.body.page).to.deep.equal({ cursor: null, hasMore: false, total: 2 });
      const external = await itemsFor({ externalIds: 'imdb:tt77,tmdb:1' });
      expect(external.body.items.map((item) => item.id)).to.deep.equal([a]);
      expect((await itemsFor({ ids: a, externalIds: 'imdb:tt77' })).status).to.equal(400);
    });

    it('merges every library in one order', async () => {
      const own = await startApi();
      const person = await own.given.member();
      const { db } = own.deps;
      const films = await givenLibrary(db, 'movies');
      const shows = await givenLibrary(db, 'shows');
      for (const title of ['a', 'c', 'e']) await givenItem(db, films, { title });
      for (const title of ['b', 'd']) await givenItem(db, shows, { type: 'show', title });
      const first = await own.as(person).listItems({ query: { limit: 3 } });
      expect(first.body.items.map((item) => item.title)).to.deep.equal(['a', 'b', 'c']);
      expect(first.body.page.total).to.equal(5);
      const second = await own.as(person).listItems({ query: { limit: 3, cursor: first.body.page.cursor ?? '' } });
      expect(second.body.items.map((item) => item.title)).to.deep.equal(['d', 'e']);
    });
  });

  describe('with fifty thousand items', () => {
    let library: GivenLibrary;
    let other: GivenLibrary;
    before(async function () {
      this.timeout(600_000);
      const { db } = api.deps;
      library = await givenLibrary(db, 'movies');
      other = await givenLibrary(db, 'movies');
      await givenMany(db, library, 60_000);
      await givenItem(db, other);
      await db.raw(
        `insert into item_states (profile_id, item_id, library_id, play_count, last_played_at)
         select ?, id, library_id, index_number, added_at from items where library_id = ? and index_number < 200`,
        [member.profileId, library.id],
      );
      await db.raw('analyze item_states');
    });

    interface Plan {
      'Node Type': string;
      'Subplan Name'?: string;
      Plans?: Plan[];
    }
    const nodes = (plan: Plan): string[] => [plan['Node Type'], ...(plan.Plans ?? []).flatMap(nodes)];
    const below = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(below)];
    /** The walk, without values computed for its few rows. */
    const walkOf = (plan: Plan): Plan | undefined => below(plan).find((one) => one['Subplan Name'] === 'CTE walked');

    /** The nodes of the plans of every walk that a request made. */
    const plansOf = async (
      query: Record<string, string | number>,
    ): Promise<{ nodes: string[]; cursor: string | null }> => {
      const { db } = api.deps;
      const seen: { sql: string; bindings: unknown[] }[] = [];
      const listen = (one: { sql: string; bindings: unknown[] }): void =>
        void (one.sql.includes('as segment') && seen.push(one));
      db.on('query', listen);
      const { status, body } = await api.as(member).listLibraryItems({ params: { id: library.id }, query });
      db.off('query', listen);
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(seen).to.have.length.greaterThan(0);
      const all: string[] = [];
      for (const { sql, bindings } of seen) {
        const statement = { name: '', text: `explain (format json) ${sql}`, values: bindings };
        const [row] = await named<{ 'QUERY PLAN': { Plan: Plan }[] }>(db, statement);
        const walk = walkOf(row?.['QUERY PLAN'][0]?.Plan as Plan);
        expect(walk, 'the walk of the statement').to.not.equal(undefined);
        all.push(...nodes(walk as Plan));
      }
      return { nodes: all, cursor: body.page.cursor };
    };

    const sorts = ['title', 'addedAt', 'releasedOn', 'year', 'rating', 'runtimeMs', 'index', 'takenAt', 'sizeBytes'];
    for (const sort of [...sorts, ...sorts.map((name) => `-${name}`), 'random', '-lastPlayedAt', '-playCount']) {
      it(`walks an index for ${sort}, at the start and after a cursor`, async () => {
        const first = await plansOf({ sort });
        const next = await plansOf({ sort, cursor: first.cursor ?? '' });
        for (const plan of [...first.nodes, ...next.nodes])
          expect(plan).not.to.match(/^(Seq Scan|Sort|Incremental Sort)$/);
      });
    }

    it('counts facets on an even sample, and reports so', async () => {
      const query = { fields: 'year' };
      const { body } = await api.as(member).getLibraryFacets({ params: { id: library.id }, query });
      const [years] = body.facets;
      expect(years?.isEstimate).to.equal(true);
      const counted = (years?.values ?? []).reduce((sum, one) => sum + one.count, 0);
      expect(counted).to.be.within(30_000, 60_000); // fifty of the seventy-five years
      expect(years?.more).to.equal(true);
    });

    it('stops a list after five seconds with 400', async () => {
      const { db } = api.deps;
      const held = await db.transaction();
      await held.raw('lock table items in access exclusive mode'); // as slow as can be
      const { status, body } = await api.as(member).listLibraryItems({ params: { id: library.id } });
      await held.rollback();
      expect(status).to.equal(400);
      expect(JSON.stringify(body)).to.include('query_too_broad');
    });

    it('rejects a sort of more than 50,000 items by a column without an index', async () => {
      const refused = await api
        .as(member)
        .listLibraryItems({ params: { id: library.id }, query: { sort: '-bitrate' } });
      expect(refused.status).to.equal(400);
      expect(JSON.stringify(refused.body)).to.include('sort_needs_filter');
      const few = await api
        .as(member)
        .listLibraryItems({ params: { id: library.id }, query: { sort: '-bitrate', filter: 'year:eq:2000' } });
      expect(few.status).to.equal(200);
    });

    it('estimates the total beyond 10,000', async () => {
      const { body } = await api.as(member).listLibraryItems({ params: { id: library.id }, query: { limit: 1 } });
      expect(body.page.totalIsEstimate).to.equal(true);
      expect(body.page.total).to.be.within(50_000, 70_000);
    });
  });
});
