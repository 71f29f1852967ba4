import { expect } from 'chai';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import {
  type GivenLibrary,
  givenCredit,
  givenFile,
  givenItem,
  givenLibrary,
  givenShow,
  givenState,
  givenTag,
} from '#support/given-items.ts';

describe('relations of an item', () => {
  let api: Api;
  let member: Person;
  let films: GivenLibrary;
  let shows: GivenLibrary;

  before(async () => {
    api = await startApi();
    member = await api.given.member();
    films = await givenLibrary(api.deps.db, 'movies');
    shows = await givenLibrary(api.deps.db, 'shows');
  });

  it("getItemTree gives a show to its depth, with the caller's state", async () => {
    const { db } = api.deps;
    const show = await givenShow(db, shows, { seasons: 2, episodes: 2 });
    await givenState(db, shows, { profileId: member.profileId, itemId: show.episodes[0]?.[0] ?? '', watched: true });
    const { status, body, headers } = await api.as(member).getItemTree({ params: { id: show.id } });
    expect(status, JSON.stringify(body)).to.equal(200);
    const seasons = (body.children ?? []).map((season) => [
      season.title,
      season.children?.map((one) => [one.title, one.userState.watched]),
    ]);
    expect(seasons).to.deep.equal([
      [
        'Season 1',
        [
          ['S1E1', true],
          ['S1E2', false],
        ],
      ],
      [
        'Season 2',
        [
          ['S2E1', false],
          ['S2E2', false],
        ],
      ],
    ]);
    const flat = await api.as(member).getItemTree({ params: { id: show.id }, query: { depth: 1 } });
    expect(flat.body.children?.map((season) => [season.title, season.childCount, season.children])).to.deep.equal([
      ['Season 1', 2, undefined],
      ['Season 2', 2, undefined],
    ]);
    const same = await api
      .as(member)
      .getItemTree({ params: { id: show.id }, headers: { 'if-none-match': headers.get('etag') ?? '' } });
    expect(same.status).to.equal(304);
  });

  it('listItemAncestors goes from the outermost in', async () => {
    const show = await givenShow(api.deps.db, shows, { seasons: 1, episodes: 1 });
    const { body } = await api.as(member).listItemAncestors({ params: { id: show.episodes[0]?.[0] ?? '' } });
    expect(body.items.map((item) => item.id)).to.deep.equal([show.id, show.seasons[0]]);
    expect(body.library).to.deep.include({ id: shows.id, type: 'shows' });
  });

  it('getItemNeighbours continues into the next season, and follows sort and filter of the library', async () => {
    const { db } = api.deps;
    const show = await givenShow(db, shows, { seasons: 2, episodes: 2 });
    const around = async (id: string, query: Record<string, string | number> = {}) => {
      const { status, body } = await api.as(member).getItemNeighbours({ params: { id }, query });
      expect(status, JSON.stringify(body)).to.equal(200);
      return [body.before.map((item) => item.title), body.after.map((item) => item.title), body.position, body.total];
    };
    expect(await around(show.episodes[0]?.[1] ?? '')).to.deep.equal([['S1E1'], ['S2E1'], 2, 4]);
    expect(await around(show.episodes[0]?.[0] ?? '', { radius: 25 })).to.deep.equal([
      [],
      ['S1E2', 'S2E1', 'S2E2'],
      1,
      4,
    ]);

    const library = await givenLibrary(db, 'movies');
    const ids: string[] = [];
    for (const [title, year] of [
      ['A', 2003],
      ['B', 2001],
      ['C', 2002],
      ['D', 2000],
    ] as const)
      ids.push(await givenItem(db, library, { title, year }));
    const [a = '', , c = ''] = ids;
    expect(await around(c, { within: 'library' })).to.deep.equal([['B'], ['D'], 3, 4]);
    expect(await around(c, { within: 'library', sort: '-rating' })).to.have.length(4);
    expect(await around(a, { within: 'library', filter: 'year:lt:2002' })).to.deep.equal([[], ['B'], 1, 2]); // it passes not itself
  });

  it("listItemExtras orders by kind and title, a season's before its show's", async () => {
    const { db } = api.deps;
    const show = await givenShow(db, shows, { seasons: 1, episodes: 1 });
    const extra = (title: string, extra_of: string, extra_kind: string): Promise<string> =>
      givenItem(db, shows, { type: 'video', title, extra_of, extra_kind });
    await extra('Trailer B', show.id, 'trailer');
    await extra('Clip', show.id, 'clip');
    await extra('Season trailer', show.seasons[0] ?? '', 'trailer');
    const kinds = async (id: string, query: Record<string, string> = {}): Promise<string[]> =>
      (await api.as(member).listItemExtras({ params: { id }, query })).body.items.map(
        (item) => `${item.extraKind} ${item.title}`,
      );
    expect(await kinds(show.id)).to.deep.equal(['clip Clip', 'trailer Trailer B']);
    expect(await kinds(show.seasons[0] ?? '', { kind: 'trailer' })).to.deep.equal([
      'trailer Season trailer',
      'trailer Trailer B',
    ]);
  });

  it('listSimilarItems finds items with the same genres and people, stored or live, and only visible ones', async () => {
    const { db } = api.deps;
    const of = async (title: string, genres: string[], more: object = {}): Promise<string> => {
      const id = await givenItem(db, films, { title, year: 2000, ...more });
      for (const genre of genres) await givenTag(db, films, id, ['genre', genre]);
      return id;
    };
    const me = await of('Me', ['Western', 'Comedy']);
    const near = await of('Near', ['Western', 'Comedy']);
    await of('Grown', ['Western', 'Comedy'], { age_years: 18 });
    const far = await of('Far', ['Comedy']);
    await of('Other', ['Horror']);
    const actor = await givenCredit(db, me, { name: 'John' });
    await givenCredit(db, far, { name: 'John', personId: actor, position: 9 });
    const child = await api.given.child(12);
    const live = await api.as(child).listSimilarItems({ params: { id: me } });
    expect(live.status, JSON.stringify(live.body)).to.equal(200);
    expect(live.body.items.map((item) => item.title).sort()).to.deep.equal(['Far', 'Near']);
    expect(live.body.items.find((item) => item.title === 'Far')?.because).to.deep.equal(['genre', 'person']);
    await api.as(member).markWatched({ params: { id: far } });
    const left = await api.as(member).listSimilarItems({ params: { id: me }, query: { unwatched: true } });
    expect(left.body.items.map((item) => item.title).sort()).to.deep.equal(['Grown', 'Near']);

    await db('item_neighbours').insert({ item_id: me, neighbour_id: near, score: 0.9, because: ['tag'] });
    const stored = await api.as(member).listSimilarItems({ params: { id: me } });
    expect(stored.body.items.map((item) => [item.title, item.score, item.because])).to.deep.equal([
      ['Near', 0.9, ['tag']],
    ]);
  });

  it('listItemPeople puts guests before the cast of the show, counts episodes and pages', async () => {
    const { db } = api.deps;
    const show = await givenShow(db, shows, { seasons: 1, episodes: 2 });
    const [first = '', second = ''] = show.episodes[0] ?? [];
    const star = await givenCredit(db, show.id, { name: 'Star', position: 0 });
    await givenCredit(db, show.id, { name: 'Writer', role: 'writer', position: 1 });
    await givenCredit(db, first, { name: 'Guest', guest: true, position: 7 });
    await givenCredit(db, first, { name: 'Star', personId: star, position: 0 });
    await givenCredit(db, second, { name: 'Star', personId: star, position: 0 });
    const names = async (id: string, query: Record<string, string | number> = {}): Promise<string[]> =>
      (await api.as(member).listItemPeople({ params: { id }, query })).body.items.map((one) => one.name);
    expect(await names(first)).to.deep.equal(['Guest', 'Star', 'Star', 'Writer']);
    expect(await names(show.id, { sort: '-name' })).to.deep.equal(['Writer', 'Star']);
    expect(await names(show.id, { role: 'writer,director' })).to.deep.equal(['Writer']);
    const page = await api.as(member).listItemPeople({ params: { id: show.id }, query: { limit: 1 } });
    expect(page.body.items[0]).to.deep.include({ name: 'Star', episodes: 2 });
    expect(await names(show.id, { cursor: page.body.page.cursor ?? '' })).to.deep.equal(['Writer']);
  });

  it('getItemFile returns every field of one file, and keeps path and probe to managers', async () => {
    const { db } = api.deps;
    const id = await givenItem(db, films);
    const probe = {
      tags: { title: 'x', 'location-eng': '+48+002/' },
      streams: [{ kind: 'attachment', fileName: 'a.ttf', mime: 'font/ttf' }],
    };
    const fileId = await givenFile(db, films, id, { path: 'x.mkv', probe, streams: [{}] });
    const request = { params: { id, fileId }, query: { include: 'streams' } };
    const { body } = await api.as(member).getItemFile(request);
    expect(body.attachments).to.deep.equal([{ name: 'a.ttf', mime: 'font/ttf', sizeBytes: 0 }]);
    expect(body.streams).to.have.length(1);
    expect(body).not.to.have.any.keys('path', 'storageId', 'rawProbe');
    expect(Object.keys(body.embedded)).to.deep.equal(['title', 'location-eng']);
    await db('libraries')
      .where({ id: films.id })
      .update({ settings: { shareLocation: false } });
    expect(Object.keys((await api.as(member).getItemFile(request)).body.embedded)).to.deep.equal(['title']);
    expect((await api.as(member).getItemFile({ ...request, query: { include: 'probe' } })).status).to.equal(403);
    const whole = await api.as(await api.given.admin()).getItemFile({ ...request, query: { include: 'probe' } });
    expect(whole.body.path).to.equal(`media/${films.id}/x.mkv`);
    expect(whole.body.rawProbe).to.have.property('tags');
    const other = await givenItem(db, films);
    expect((await api.as(member).getItemFile({ params: { id: other, fileId } })).status).to.equal(404);
  });

  it('listItemChapters runs the parts of a film on one clock', async () => {
    const { db } = api.deps;
    const id = await givenItem(db, films);
    for (const part of [2, 1]) {
      const fileId = await givenFile(db, films, id, { part, parts: 2, duration_ms: 1000 * part });
      await db('chapters').insert({ file_id: fileId, number: 0, title: `Part ${part}`, start_ms: 10, end_ms: 20 });
    }
    const { body } = await api.as(member).listItemChapters({ params: { id } });
    expect(body.items.map((one) => [one.index, one.title, one.startMs])).to.deep.equal([
      [0, 'Part 1', 10],
      [1, 'Part 2', 1010],
    ]);
    const edited = await givenItem(db, films);
    const fileId = await givenFile(db, films, edited, {});
    for (const [number, source] of ['agent', 'file', 'person', 'file'].entries())
      await db('chapters').insert({ file_id: fileId, number, title: source, start_ms: number, end_ms: 9, source });
    const chapters = async () =>
      (await api.as(member).listItemChapters({ params: { id: edited } })).body.items.map((one) => one.title);
    expect(await chapters()).to.deep.equal(['person']);
    await db('chapters').where({ file_id: fileId, source: 'person' }).delete();
    expect(await chapters()).to.deep.equal(['file', 'file']);
    const none = await api.as(member).listItemChapters({ params: { id: await givenItem(db, films) } });
    expect(none.body).to.deep.equal({ fileId: null, items: [] });
  });

  it('listMissingChildren lists the children that the agent knows and the library lacks', async () => {
    const { db } = api.deps;
    const show = await givenShow(db, shows, { seasons: 1, episodes: 2 });
    const missing = (query: Record<string, string | number> = {}) =>
      api.as(member).listMissingChildren({ params: { id: show.id }, query });
    expect((await missing()).status).to.equal(409);
    const known = (parentIndex: number, index: number, releasedOn: string) => ({
      type: 'episode',
      title: `K${parentIndex}.${index}`,
      parentIndex,
      index,
      releasedOn,
      externalIds: {},
      agent: 'tmdb',
    });
    const knownChildren = [
      known(1, 1, '2020-01-01'),
      known(1, 3, '2020-01-03'),
      known(1, 4, '2099-01-01'),
      known(0, 1, '2020-02-01'),
    ];
    await db('items').where({ id: show.id }).update({ matched: true, details: { knownChildren } });
    const titles = async (query: Record<string, string | number> = {}): Promise<string[]> =>
      (await missing(query)).body.items.map((one) => one.title);
    expect(await titles()).to.deep.equal(['K1.3', 'K1.4']);
    expect(await titles({ aired: 'true', specials: 'true' })).to.deep.equal(['K1.3', 'K0.1']);
    expect(await titles({ sort: '-index' })).to.deep.equal(['K1.4', 'K1.3']);
    const first = await missing({ limit: 1 });
    expect(await titles({ limit: 1, cursor: first.body.page.cursor ?? '' })).to.deep.equal(['K1.4']);
    const whole = { sort: 'index', specials: 'true' };
    const two = await missing({ ...whole, limit: 2 });
    expect(two.body.items.map((one) => one.title)).to.deep.equal(['K0.1', 'K1.3']);
    const came = { type: 'episode', grandparent_id: show.id, parent_id: show.seasons[0], age_years: 18 };
    await givenItem(db, shows, { ...came, parent_index: 1, index_number: 3 });
    expect(await titles({ ...whole, limit: 2, cursor: two.body.page.cursor ?? '' })).to.deep.equal(['K1.4']);
    const child = api.as(await api.given.person('child', { age_limit: 12 }));
    const chapters = await child.listMissingChildren({ params: { id: show.id } });
    expect(chapters.body.items.map(({ title }) => title)).to.deep.equal(['K1.4']);
    await db('items').where({ grandparent_id: show.id, index_number: 3 }).delete();
    const children = await api
      .as(member)
      .listItemChildren({ params: { id: show.id }, query: { season: 1, missing: 'true' } });
    expect(children.body.items.map((item) => item.title)).to.deep.equal(['S1E1', 'S1E2', 'K1.3', 'K1.4']);
    const film = await givenItem(db, films);
    expect((await api.as(member).listMissingChildren({ params: { id: film } })).body.items).to.deep.equal([]);
  });
});
