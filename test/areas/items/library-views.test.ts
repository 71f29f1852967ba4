import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { saveSettings } from '#platform/settings.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import {
  type GivenLibrary,
  givenCredit,
  givenFile,
  givenItem,
  givenLibrary,
  givenState,
  givenTag,
} from '#support/given-items.ts';

const image = (kind: string) => ({ id: newId(), kind, width: 300, height: 200, blurhash: 'LKO2', version: '1' });

describe('views of a library', () => {
  let api: Api;
  let member: Person;

  before(async () => {
    api = await startApi();
    member = await api.given.member();
  });

  const titlesFrom = async (library: GivenLibrary, query: Record<string, string | number>): Promise<string[]> => {
    const { body } = await api.as(member).listLibraryItems({ params: { id: library.id }, query });
    return body.items.map((item) => item.title);
  };

  describe('listLibraryFields', () => {
    it('offers fields of the library by type, those of editors to editors', async () => {
      const library = await givenLibrary(api.deps.db, 'movies');
      const names = async (person: Person): Promise<string[]> =>
        (await api.as(person).listLibraryFields({ params: { id: library.id } })).body.items.map((field) => field.name);
      expect(await names(member))
        .to.include.members(['title', 'genre', 'hdr', 'watched'])
        .and.not.include.members(['camera', 'locked']);
      expect(await names(await api.given.admin())).to.include('locked');
      const { body } = await api.as(member).listLibraryFields({ params: { id: library.id } });
      expect(body.sorts.find((sort) => sort.default)?.name).to.equal('title');
      expect(body.sorts.map((sort) => sort.name)).not.to.include('tempoBpm');
    });
  });

  describe('getLibraryFacets', () => {
    it('counts each facet with all conditions but its own', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      for (const [genre, year] of [
        ['Drama', 2001],
        ['Drama', 2002],
        ['Comédie', 2002],
      ] as const) {
        const id = await givenItem(db, library, { year });
        await givenTag(db, library, id, ['genre', genre]);
        await givenCredit(db, id, { name: `Actor of ${genre}` });
      }
      await givenTag(db, library, await givenItem(db, library, { trashed_at: new Date() }), ['genre', 'Drama']);
      const query = { fields: 'genre,year,person', filter: 'genre:eq:drama' };
      const { status, body } = await api.as(member).getLibraryFacets({ params: { id: library.id }, query });
      expect(status, JSON.stringify(body)).to.equal(200);
      const [genres, years, people] = body.facets;
      expect(body.total).to.equal(2);
      expect(genres?.values).to.deep.equal([
        { value: 'drama', label: 'Drama', count: 2, selected: true },
        { value: 'comedie', label: 'Comédie', count: 1, selected: false },
      ]);
      expect(years?.values.map((one) => [one.value, one.count])).to.deep.equal([
        ['2002', 1],
        ['2001', 1],
      ]);
      expect([years?.min, years?.max]).to.deep.equal([2001, 2002]);
      expect(people?.values.map((one) => [one.label, one.count])).to.have.length(2);
      const named = await api
        .as(member)
        .getLibraryFacets({ params: { id: library.id }, query: { fields: 'genre', q: 'COME', top: 1 } });
      expect(named.body.facets[0]?.values.map((one) => one.label)).to.deep.equal(['Comédie']);
      const wrong = await api
        .as(member)
        .getLibraryFacets({ params: { id: library.id }, query: { fields: 'title,camera' } });
      expect(wrong.status).to.equal(400);
    });
  });

  describe('getLibraryIndex', () => {
    it('jumps to letters and years by cursors of the list', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      for (const title of ['12 Monkeys', 'Alien', 'Amélie', 'Éclair', 'Zorro', 'あき', 'かに', 'カメラ']) {
        await givenItem(db, library, { title, year: title === 'Zorro' ? null : 1990 + title.length });
      }
      const { body } = await api.as(member).getLibraryIndex({ params: { id: library.id }, query: { marks: 4 } });
      expect(body.buckets.map((bucket) => [bucket.label, bucket.count, bucket.offset])).to.deep.equal([
        ['0-9', 1, 0],
        ['A', 2, 1],
        ['E', 1, 3],
        ['Z', 1, 4],
        ['あ', 1, 5],
        ['か', 2, 6],
      ]);
      const whole = await titlesFrom(library, {});
      for (const bucket of body.buckets) {
        expect((await titlesFrom(library, { cursor: bucket.cursor ?? '', limit: 1 }))[0]).to.equal(
          whole[bucket.offset],
        );
      }
      expect(body.every).to.equal(2);
      for (const [i, cursor] of (body.marks ?? []).entries()) {
        expect((await titlesFrom(library, { cursor, limit: 1 }))[0], String(i)).to.equal(whole[i * 2]);
      }

      const years = await api
        .as(member)
        .getLibraryIndex({ params: { id: library.id }, query: { sort: '-year', filter: 'title:exists:true' } });
      expect(years.body.direction).to.equal('desc');
      expect(years.body.buckets.at(-1)).to.deep.include({ key: 'none', count: 1, offset: 7 });
      const last = { sort: '-year', filter: 'title:exists:true', cursor: years.body.buckets.at(-1)?.cursor ?? '' };
      expect(await titlesFrom(library, last)).to.deep.equal(['Zorro']);
    });

    it('follows each change of the library, but in a large one that is being scanned', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'movies');
      const total = async (): Promise<number> =>
        (await api.as(member).getLibraryIndex({ params: { id: library.id } })).body.total;
      const add = async (): Promise<void> => {
        await givenItem(db, library);
        await db('libraries').where({ id: library.id }).increment('change_seq', 1);
      };
      await add();
      expect(await total()).to.equal(1);
      await add();
      expect(await total()).to.equal(2);
      await db('libraries')
        .where({ id: library.id })
        .update({ item_counts: JSON.stringify({ movie: 60_000 }) });
      const scan = { id: newId(), library_id: library.id, state: 'running', mode: 'quick', trigger: 'manual' };
      await db('scans').insert(scan);
      await total();
      await add();
      expect(await total(), 'while a scan runs').to.equal(2);
      await db('scans').where({ id: scan.id }).update({ state: 'completed' });
      expect(await total(), 'after it').to.equal(3);
    });
  });

  describe('getLibraryTimeline', () => {
    it("gives buckets newest first in the photo's own time, and one bucket as columns", async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'photos');
      const photo = (taken_at: string | null, more: object = {}): Promise<string> =>
        givenItem(db, library, { type: 'photo', taken_at, ...more });
      const thumb = image('thumb');
      await photo('2026-01-10T10:00:00Z');
      const late = await photo('2026-01-31T23:30:00Z', { details: { takenOffsetMinutes: 60 }, artwork: { thumb } }); // 1 February there
      const clip = await givenItem(db, library, { type: 'video', taken_at: '2026-02-03T00:00:00Z', runtime_ms: 5000 });
      const still = await photo('2026-02-02T00:00:00Z', { details: { aspect: 1.5, live: true } });
      await photo(null);
      await givenState(db, library, { profileId: member.profileId, itemId: still, favorite: true });

      const { status, body } = await api.as(member).getLibraryTimeline({ params: { id: library.id } });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body.buckets?.map((bucket) => [bucket.key, bucket.count])).to.deep.equal([
        ['2026-02', 3],
        ['2026-01', 1],
        ['undated', 1],
      ]);
      const first = body.buckets?.[1]?.cursor ?? '';
      const listed = await api
        .as(member)
        .listLibraryItems({ params: { id: library.id }, query: { sort: '-takenAt', cursor: first, limit: 1 } });
      expect(
        listed.body.items.map((item) => new Date((item as { takenAt: string }).takenAt).getUTCDate()),
      ).to.deep.equal([10]);

      const month = await api
        .as(member)
        .getLibraryTimeline({ params: { id: library.id }, query: { bucket: '2026-02' } });
      expect(month.body.columns).to.deep.include({
        ids: [clip, still, late],
        kinds: ['video', 'live', 'photo'],
        aspects: [null, 1.5, 1.5],
        durationsMs: [5000, null, null],
        favorites: [false, true, false],
        imageIds: [null, null, thumb.id],
      });
      const dayOf = async (filter: string) =>
        (await api.as(member).listLibraryItems({ params: { id: library.id }, query: { filter } })).body.items.map(
          ({ id }) => id,
        );
      expect(await dayOf('taken_day:eq:02-01'), 'the day of the photo').to.deep.equal([late]);
      expect(await dayOf('taken_day:eq:01-31')).to.deep.equal([]);
      await saveSettings(db, { 'server.timeZone': 'Pacific/Auckland' }, null);
      await api.deps.settings.reload();
      const there = await photo('2026-03-04T20:00:00Z'); // the fifth there
      const says = await photo('2026-03-04T20:00:00Z', { details: { takenOffsetMinutes: -60 } });
      expect(await dayOf('taken_day:in:03-05,12-31'), "the server's zone").to.deep.equal([there]);
      expect(await dayOf('taken_day:eq:03-04')).to.deep.equal([says]);
      const others = await dayOf('taken_day:nin:02-01,02-02,02-03,01-10,01-11,03-04');
      expect(others).to.include(there);
      expect(others).to.not.include(says);
      await saveSettings(db, { 'server.timeZone': 'UTC' }, null);
      await api.deps.settings.reload();
      const undated = await api
        .as(member)
        .getLibraryTimeline({ params: { id: library.id }, query: { bucket: 'undated', unit: 'day' } });
      expect(undated.body.columns?.takenAt).to.deep.equal([null]);
    });
  });

  it('continues a bucket of more than 10,000 items at its cursor', async () => {
    const { db } = api.deps;
    const library = await givenLibrary(db, 'photos');
    const first = await givenItem(db, library, { type: 'photo', taken_at: '2026-05-01T00:00:00Z' });
    await db.raw(
      `insert into items (id, library_id, type, top, title, sort_title, identity_key, taken_at)
       select gen_random_uuid(), library_id, type, top, title, sort_title, identity_key || n, taken_at + (n % 5000) * interval '1 microsecond'
       from items, generate_series(1, 10500) n where id = ?`,
      [first],
    );
    const page = async (cursor?: string) => {
      const query = { bucket: '2026-05', ...(cursor && { cursor }) };
      return (await api.as(member).getLibraryTimeline({ params: { id: library.id }, query })).body.columns;
    };
    const one = await page();
    const two = await page(one?.next);
    expect([one?.ids.length, two?.ids.length, two?.next]).to.deep.equal([10_000, 501, undefined]);
    expect(new Set([...(one?.ids ?? []), ...(two?.ids ?? [])]).size).to.equal(10_501);
    const foreign = { bucket: '2026-04', cursor: one?.next ?? '' };
    const refused = await api.as(member).getLibraryTimeline({ params: { id: library.id }, query: foreign });
    expect(refused.status).to.equal(400);
  });

  describe('getLibraryMap', () => {
    it('clusters by zoom, crosses the date line, and is empty where places are kept', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'photos');
      const at = (latitude: number, longitude: number): Promise<string> =>
        givenItem(db, library, { type: 'photo', details: { place: { latitude, longitude } } });
      await at(48.85, 2.35);
      await at(48.86, 2.36);
      await at(-17.7, 179.9);
      await at(-17.7, -179.9);
      const map = async (bbox: string, zoom: number) =>
        (await api.as(member).getLibraryMap({ params: { id: library.id }, query: { bbox, zoom } })).body;
      expect((await map('-180,-90,180,90', 1)).clusters.map((one) => one.count)).to.deep.equal([2, 1, 1]);
      expect((await map('2,48,3,49', 18)).clusters).to.have.length(2);
      const fiji = await map('179,-20,-179,-10', 5);
      expect(fiji.total).to.equal(2);
      const bad = await api.as(member).getLibraryMap({ params: { id: library.id }, query: { bbox: '1,2,3', zoom: 1 } });
      expect(bad.status).to.equal(400);

      await db('libraries')
        .where({ id: library.id })
        .update({ settings: { shareLocation: false } });
      expect((await map('-180,-90,180,90', 1)).total).to.equal(0);
      expect(await titlesFrom(library, { filter: 'has_location:eq:true' })).to.deep.equal([]);
      const admin = await api.given.admin();
      const seen = await api
        .as(admin)
        .getLibraryMap({ params: { id: library.id }, query: { bbox: '-180,-90,180,90', zoom: 1 } });
      expect(seen.body.total).to.equal(4);
    });
  });

  describe('browseLibraryFolders', () => {
    it('shows folders with visible items, and lists their contents', async () => {
      const { db } = api.deps;
      const library = await givenLibrary(db, 'videos');
      await db('library_folders')
        .where({ id: library.folderId })
        .update({ path: `media/${library.id}` });
      const item = async (title: string, path: string, more: object = {}): Promise<void> =>
        void (await givenFile(db, library, await givenItem(db, library, { type: 'video', title, ...more }), { path }));
      await item('Top', 'top.mkv');
      await item('Beach', '2024/Italy/beach.mkv');
      await item('Town', '2024/Italy/Rome/town.mkv');
      await item('Hidden', 'secret/x.mkv', { trashed_at: new Date() });
      const browse = (query: Record<string, string> = {}) =>
        api.as(member).browseLibraryFolders({ params: { id: library.id }, query });

      const top = await browse();
      expect(top.status, JSON.stringify(top.body)).to.equal(200);
      expect(top.body.items.map((node) => [node.name, node.itemCount, node.childFolders])).to.deep.equal([
        [library.id, 3, 1],
      ]);
      const root = await browse({ folder: top.body.items[0]?.id ?? '' });
      expect(root.body.items.map((node) => [node.name, node.itemCount, node.childFolders])).to.deep.equal([
        ['2024', 2, 1],
      ]);
      const year = await browse({ folder: root.body.items[0]?.id ?? '' });
      const italy = year.body.items[0];
      expect([italy?.name, italy?.childFolders, year.body.parents.map((one) => one.name)]).to.deep.equal([
        'Italy',
        1,
        [library.id, '2024'],
      ]);

      const folder = italy?.id ?? '';
      expect(await titlesFrom(library, { folder })).to.deep.equal(['Beach']);
      expect(await titlesFrom(library, { folder, deep: 'true' })).to.deep.equal(['Beach', 'Town']);
      expect((await browse({ folder: 'AAAA' })).status).to.equal(404);

      const films = await givenLibrary(db, 'movies');
      const refused = await api.as(member).browseLibraryFolders({ params: { id: films.id } });
      expect(refused.status).to.equal(403);
      expect(JSON.stringify(refused.body)).to.include('folderView');
    });
  });
});
