import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { ABSENT, errorOf } from '#support/answers.ts';
import { type Api, clientFor, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenItem, givenLibrary, givenShow, givenState, givenTag } from '#support/given-items.ts';

const HOUR = 3_600_000;
const ago = (hours: number): Date => new Date(Date.now() - hours * HOUR);

describe('the home screen', () => {
  let api: Api;
  let person: Person;
  let me: TestClient;
  let admin: TestClient;
  let films: GivenLibrary;
  let shows: GivenLibrary;
  let books: GivenLibrary;

  beforeEach(async () => {
    await api.deps.db.raw('truncate libraries, home_layouts cascade');
    await api.deps.redis.flushdb();
    films = await givenLibrary(api.deps.db, 'movies', { name: 'Films', position: 1 });
    shows = await givenLibrary(api.deps.db, 'shows', { name: 'Series', position: 2 });
    books = await givenLibrary(api.deps.db, 'books', { name: 'Books', position: 3 });
    person = await api.given.member();
    me = api.as(person);
  });
  before(async () => {
    api = await startApi();
    admin = api.as(await api.given.person('admin'));
  });

  const played = async (itemId: string, library: GivenLibrary, state: Record<string, unknown>): Promise<void> =>
    givenState(api.deps.db, library, { profileId: person.profileId, itemId, ...state });

  /** Titles of every row, those of deferred ones too. */
  async function rows(by = me, query: Record<string, string | number> = {}): Promise<Record<string, string[]>> {
    const { body } = await by.getHome({ query });
    const found: Record<string, string[]> = {};
    for (const row of body.rows) {
      const items = row.deferred ? (await by.getHomeRow({ params: { rowId: row.rowId } })).body.items : row.items;
      if (items.length > 0) found[row.title] = items.map(({ item, label }) => item?.title ?? label ?? '');
    }
    return found;
  }

  it('of a server without libraries says so, by what the caller may do', async () => {
    await api.deps.db.raw('truncate libraries cascade');
    expect((await me.getHome()).body).to.deep.include({ rows: [] });
    expect((await me.getHome()).body.notices.map(({ code }) => code)).to.deep.equal(['nothing-shared']);
    expect((await admin.getHome()).body.notices.map(({ code }) => code)).to.deep.equal(['no-libraries']);
  });

  it('continues with started items and next episodes, in one order', async () => {
    const { db } = api.deps;
    const film = await givenItem(db, films, { title: 'Begun' });
    const seen = await givenItem(db, films, { title: 'Seen' });
    const old = await givenItem(db, films, { title: 'Forgotten' });
    const show = await givenShow(db, shows, { title: 'Show', seasons: 2, episodes: 3 });
    const other = await givenShow(db, shows, { title: 'Other', seasons: 1, episodes: 2 });
    const done = await givenShow(db, shows, { title: 'Done', seasons: 1, episodes: 1 });
    await played(film, films, { position_ms: 60_000, progress: 0.2, last_played_at: ago(3) });
    await played(seen, films, { watched: true, last_played_at: ago(1) });
    await played(old, films, { position_ms: 60_000, last_played_at: ago(24 * 181) });
    // the third of the first season was the last: the first of the second season is next
    await played(show.episodes[0]?.[2] ?? '', shows, { watched: true, last_played_at: ago(2) });
    await played(other.episodes[0]?.[0] ?? '', shows, { watched: true, last_played_at: ago(10) });
    await played(other.episodes[0]?.[1] ?? '', shows, { position_ms: 1000, progress: 0.1, last_played_at: ago(4) });
    await played(done.episodes[0]?.[0] ?? '', shows, { watched: true, last_played_at: ago(1) });
    const { body } = await me.getHomeRow({ params: { rowId: 'continue' } });
    const cards = body.items.map(({ item, label, url, target }) => [
      item?.grandparentTitle ?? item?.title,
      label,
      target,
      url,
    ]);
    expect(cards).to.deep.equal([
      ['Show', 'S2 E1', 'play', `/play/${show.episodes[1]?.[0]}`],
      ['Begun', undefined, 'play', `/play/${film}`],
      ['Other', 'S1 E2', 'play', `/play/${other.episodes[0]?.[1]}`],
    ]);
    expect(body.items[1]?.progress).to.equal(0.2);
  });

  it('shows what a library got by the newest item, with the episodes of a show on one card', async () => {
    const { db } = api.deps;
    const show = await givenShow(db, shows, { title: 'Show', seasons: 1, episodes: 30 });
    const other = await givenShow(db, shows, { title: 'Other', seasons: 1, episodes: 1 });
    await db('items')
      .whereIn('id', show.episodes.flat())
      .update({ added_at: ago(2) });
    await db('items')
      .whereIn('id', other.episodes.flat())
      .update({ added_at: ago(5) });
    for (const [title, hours] of [
      ['Old', 900],
      ['New', 1],
    ] as const)
      await givenItem(db, films, { title, added_at: ago(hours) });
    const found = await rows();
    expect(found['Recently added in Series']).to.deep.equal(['Show', 'Other']);
    expect(found['Recently added in Films']).to.deep.equal(['New', 'Old']);
    const { body } = await me.getHomeRow({ params: { rowId: `recently-added.${films.id}` } });
    expect(body.items.map(({ badge }) => badge)).to.deep.equal(['new', undefined]);
    expect(body.row.seeAll).to.equal(`/library/${films.id}?sort=-addedAt`);
  });

  it('has rows of collections and saved filters, which go or say why when these are gone', async () => {
    const { db } = api.deps;
    for (const [at, title] of ['One', 'Two', 'Three'].entries())
      await givenItem(db, films, { title, top: true, year: 2000 + at });
    const ids = new Map(
      (await db('items').where({ library_id: films.id }).select<{ id: string; title: string }[]>('id', 'title')).map(
        (row) => [row.title, row.id],
      ),
    );
    const itemIds = ['Two', 'One'].map((title) => ids.get(title) ?? '');
    const { id: collectionId } = (await me.createCollection({ body: { name: 'Mine', itemIds } })).body;
    const filterId = newId();
    const saved = { name: 'Later', filter: 'year:gte:2001', sort: '-year' };
    await me.saveFilter({ params: { id: films.id, filterId }, body: saved });
    const kept = [
      { rowId: 'c', kind: 'collection' as const, source: { collectionId } },
      { rowId: 'f', kind: 'saved-filter' as const, source: { filterId } },
    ];
    expect((await me.setHomeLayout({ body: { rows: kept } })).status).to.equal(200);
    expect(await rows()).to.deep.equal({ Mine: ['Two', 'One'], Later: ['Three', 'Two'] });
    const { row } = (await me.getHomeRow({ params: { rowId: 'f' } })).body;
    expect(row.seeAll).to.equal(`/library/${films.id}?filter=year%3Agte%3A2001&sort=-year`);
    const foreign = api.as(await api.given.member());
    expect((await foreign.setHomeLayout({ body: { rows: kept } })).status).to.equal(404);
    await me.deleteSavedFilter({ params: { id: films.id, filterId } });
    await me.deleteCollection({ params: { id: collectionId } });
    const { body } = await me.getHome({ query: {} });
    expect(body.rows.map(({ rowId, subtitle, items }) => [rowId, subtitle, items.length])).to.deep.equal([
      ['f', 'The saved filter is gone', 0],
    ]);
  });

  it('shows collections that are pinned to it to everyone who sees them', async () => {
    const { db } = api.deps;
    const film = await givenItem(db, films, { title: 'Film', top: true });
    const body = {
      name: 'Halloween',
      itemIds: [film],
      sharing: 'everyone' as const,
      pinned: ['home' as const],
      ofServer: true,
    };
    const { id } = (await admin.createCollection({ body })).body;
    expect((await rows())['Halloween']).to.deep.equal(['Film']);
    await admin.deleteCollection({ params: { id } });
  });

  it('has a write of the caller in the very next answer, with and without Redis', async () => {
    const film = await givenItem(api.deps.db, films, { title: 'Film', runtime_ms: HOUR });
    const titles = async (): Promise<(string | undefined)[]> =>
      (await me.getHomeRow({ params: { rowId: 'continue' } })).body.items.map(({ item }) => item?.title);
    expect(await titles()).to.deep.equal([]);
    const params = { id: film };
    await me.setItemProgress({ params, body: { positionMs: HOUR / 2 } });
    expect(await titles()).to.deep.equal(['Film']);
    await me.clearItemProgress({ params });
    expect(await titles()).to.deep.equal([]);
  });

  it('answers 304 for an unchanged screen', async () => {
    await givenItem(api.deps.db, books, { type: 'book', title: 'Book' });
    let etag = '';
    for (let tries = 0; tries < 20 && !etag; tries += 1) {
      const first = await me.getHome();
      if (!first.body.rows.some(({ deferred }) => deferred)) etag = String(first.headers.get('etag'));
    }
    const again = await me.getHome({ headers: { 'if-none-match': etag } } as never);
    expect(again.status).to.equal(304);
  });

  it('shows no item that the caller may not see', async () => {
    const { db } = api.deps;
    const hidden = await givenLibrary(db, 'movies', { name: 'Others', everyone: false });
    const off = await givenLibrary(db, 'movies', { name: 'Off', settings: JSON.stringify({ onHome: false }) });
    await givenItem(db, hidden, { title: 'Secret' });
    await givenItem(db, off, { title: 'Not on Home' });
    await givenItem(db, films, { title: 'Adult', age_years: 18 });
    await givenItem(db, films, { title: 'Family', age_years: 6 });
    const child = api.as(await api.given.child());
    expect(Object.values(await rows(child)).flat()).to.deep.equal(['Family', 'Family']);
    expect(Object.values(await rows()).flat()).to.have.members(['Adult', 'Family', 'Adult', 'Family']);
    expect((await child.getHomeRow({ params: { rowId: `recently-added.${hidden.id}` } })).status).to.equal(404);
  });

  it('hides a card until it is played again, for the rows that continue together', async () => {
    const { db } = api.deps;
    const show = await givenShow(db, shows, { title: 'Show', seasons: 1, episodes: 3 });
    const [first = '', second = ''] = show.episodes.flat();
    await played(first, shows, { watched: true, last_played_at: ago(2) });
    const rowsNow = async (): Promise<number> =>
      (await me.getHomeRow({ params: { rowId: 'continue' } })).body.items.length;
    expect(await rowsNow()).to.equal(1);
    const hide = await me.hideFromHome({ body: { itemId: second, hidden: true, rowId: 'continue' } });
    expect(hide.body).to.include({ hideKey: show.id, hidden: true, until: 'played-again' });
    expect(hide.body.rows).to.include('continue');
    expect(await rowsNow()).to.equal(0);
    expect((await rows())['Recently added in Series']).to.deep.equal(['Show']);
    const { body } = await me.getHomeLayout({ query: {} });
    expect(body.hidden?.map(({ item, rowId }) => [item.title, rowId])).to.deep.equal([['Show', 'continue']]);
    await db('item_states').where({ item_id: first }).update({ last_played_at: new Date() });
    expect(await rowsNow()).to.equal(1);
    await me.hideFromHome({ body: { hideKey: show.id, hidden: true, until: 'forever' } });
    expect(Object.values(await rows()).flat()).to.not.include('Show');
    await me.hideFromHome({ body: { hideKey: show.id, hidden: false } });
    expect(await rowsNow()).to.equal(1);
    expect((await me.hideFromHome({ body: { itemId: ABSENT, hidden: true } })).status).to.equal(404);
    expect((await me.hideFromHome({ body: { itemId: second, hidden: true, rowId: 'none' } })).status).to.equal(404);
    expect((await me.hideFromHome({ body: { hidden: true } })).status).to.equal(400);
  });

  it('reads a long row page by page in the order with which it began', async () => {
    const { db } = api.deps;
    for (let n = 0; n < 12; n += 1) await givenItem(db, films, { title: `F${n}`, added_at: ago(n) });
    const params = { rowId: `recently-added.${films.id}` };
    const titles: (string | undefined)[] = [];
    let cursor: string | null | undefined;
    do {
      const { body } = await me.getHomeRow({ params, query: { limit: 5, ...(cursor && { cursor }) } });
      titles.push(...body.items.map(({ item }) => item?.title));
      cursor = body.page.cursor;
      if (titles.length === 5) await givenItem(db, films, { title: 'Newer' });
      if (titles.length === 10) await api.deps.redis.flushdb();
    } while (cursor);
    expect(titles).to.deep.equal(Array.from({ length: 12 }, (_, n) => `F${n}`));
  });

  it('fills rows by filter, chance, favourites, and what others play', async () => {
    const { db } = api.deps;
    const scary = await givenItem(db, films, { title: 'Scary' });
    const funny = await givenItem(db, films, { title: 'Funny' });
    await givenTag(db, films, scary, ['genre', 'Horror']);
    await played(funny, films, { favorite: true, watched: true, last_played_at: ago(1) });
    const other = await api.given.member();
    await givenState(db, films, { profileId: other.profileId, itemId: funny, last_played_at: ago(1) });
    const filter = { rowId: 'horror', kind: 'filter', title: 'Horror', source: { filter: 'genre:eq:Horror' } };
    const kinds = ['unwatched-random', 'favorites', 'top-here', 'libraries'].map((kind) => ({ rowId: kind, kind }));
    await me.setHomeLayout({ body: { rows: [filter, ...kinds] } as never });
    expect(await rows()).to.deep.equal({
      Horror: ['Scary'],
      'Not yet watched': ['Scary'],
      Favorites: ['Funny'],
      'Most played here': ['Funny'],
      Libraries: ['Films', 'Series', 'Books'],
    });
  });

  describe('its layout', () => {
    it('of a profile comes before that of the server and the built-in one', async () => {
      const built = (await me.getHomeLayout({ query: {} })).body;
      expect([built.source, built.revision]).to.deep.equal(['built-in', 0]);
      expect(built.rows.map(({ rowId }) => rowId)).to.include.members(['continue', `recently-added.${films.id}`]);
      const server = await admin.setHomeLayout({ body: { scope: 'server', rows: [{ kind: 'favorites' }] } as never });
      expect([server.status, server.body.source, server.body.revision]).to.deep.equal([200, 'own', 1]);
      expect((await me.getHomeLayout({ query: {} })).body).to.deep.include({ source: 'server', revision: 0 });
      const own = await me.setHomeLayout({
        body: { rows: [{ kind: 'libraries' }], revision: 0, hero: 'newest' } as never,
      });
      expect(own.body).to.deep.include({ source: 'own', revision: 1, hero: 'newest' });
      const stale = await me.setHomeLayout({ body: { rows: [], revision: 0 } });
      expect([stale.status, errorOf(stale).details]).to.deep.equal([409, { reason: 'revision', revision: 1 }]);
      expect((await me.setHomeLayout({ body: { rows: null } })).body.source).to.equal('server');
      const emitted = await api.deps.db('outbox').where({ event: 'settings.changed' }).pluck('payload');
      expect(emitted.at(-1)).to.deep.include({ keys: ['home.layout'] });
    });

    it('refuses what no row can show, and who may not', async () => {
      const set = async (body: object, by = me): Promise<[number, unknown]> => {
        const answer = await by.setHomeLayout({ body } as never);
        return [answer.status, answer.status === 200 ? undefined : errorOf(answer).details];
      };
      const status = async (body: object, by = me): Promise<number> => (await set(body, by))[0];
      expect(await status({ rows: [{ kind: 'nonsense' }] })).to.equal(400);
      expect(await status({ rows: [{ kind: 'filter' }] })).to.equal(400);
      expect(await status({ rows: [{ kind: 'filter', source: { filter: 'nothing:eq:1' } }] })).to.equal(400);
      expect(await status({ rows: [{ kind: 'libraries', style: 'photos' }] })).to.equal(400);
      const twice = { rowId: 'same', kind: 'favorites' };
      expect(await status({ rows: [twice, twice] })).to.equal(400);
      expect(await status({ rows: [], hiddenLibraryIds: [ABSENT] })).to.equal(404);
      expect(await set({ scope: 'server', rows: [] })).to.deep.equal([403, { permission: 'settings:manage' }]);
      const guest = api.as(await api.given.person('guest'));
      await api.deps
        .db('accounts')
        .where({ role: 'guest' })
        .update({ restrictions: JSON.stringify({ homeLayout: 'deny' }) });
      expect(await set({ rows: [] }, guest)).to.deep.equal([403, { restriction: 'homeLayout' }]);
      expect(await status({ rows: [{ kind: 'favorites' }], validateOnly: true })).to.equal(200);
      expect((await me.getHomeLayout({ query: {} })).body.source).to.equal('built-in');
    });

    it('keeps rows whose library or filter is gone, and shows no library that a profile does not see', async () => {
      const { db } = api.deps;
      const secret = await givenLibrary(db, 'movies', { name: 'Secret', everyone: false });
      const old = await givenLibrary(db, 'movies', { name: 'Old' });
      const own = (rowId: string, library: GivenLibrary) =>
        ({ rowId, kind: 'recently-added', title: rowId, source: { libraryIds: [library.id] } }) as const;
      const shared = [own('secret', secret), own('films', films)];
      await admin.setHomeLayout({
        body: { scope: 'server', rows: shared, hiddenLibraryIds: [secret.id, books.id], hero: 'newest' },
      });
      const seen = (await me.getHomeLayout({ query: {} })).body;
      expect(seen.rows.map(({ rowId }) => rowId)).to.deep.equal(['films']);
      expect(seen.hiddenLibraryIds).to.deep.equal([books.id]);
      const mine = await me.setHomeLayout({ body: { rows: [...seen.rows, own('old', old)] } });
      expect(mine.body).to.deep.include({ hero: 'newest', hiddenLibraryIds: [books.id] });
      await db('libraries').where({ id: old.id }).update({ deleted_at: new Date() });
      expect((await me.setHomeLayout({ body: { rows: mine.body.rows.toReversed() } })).status).to.equal(200);
      const stored = {
        rowId: 'gone',
        kind: 'filter',
        size: 20,
        hideWatched: false,
        source: { filter: 'custom.gone:eq:x' },
      };
      const later = { rowId: 'later', kind: 'hologram', size: 20, hideWatched: false };
      const document = { rows: [stored, later], hiddenLibraryIds: [], hero: 'off' };
      await db('home_layouts')
        .where({ profile_id: person.profileId })
        .update({ document: JSON.stringify(document) });
      await givenItem(db, films, { title: 'Film' });
      expect(await rows()).to.deep.equal({});
      const { body } = await me.getHomeLayout({ query: {} });
      expect(body.rows.map(({ rowId }) => rowId)).to.deep.equal(['gone']);
      expect((await me.setHomeLayout({ body: { rows: body.rows } })).status).to.equal(200);
      const sorted = { kind: 'filter', source: { filter: 'year:eq:1999', sort: 'nothing' } } as const;
      expect((await me.setHomeLayout({ body: { rows: [sorted] } })).status).to.equal(400);
    });

    it('of the server, declared by a resource, is changed by the operator alone', async () => {
      const operator = clientFor(api.url, { authorization: `Bearer ${api.operatorKey}` });
      const managedBy = { kind: 'MediaServer', namespace: 'media', name: 'home', uid: 'u-1' } as const;
      const rows = [{ kind: 'favorites' as const }];
      const body = { scope: 'server' as const, rows, managedBy };
      expect((await operator.setHomeLayout({ body })).body.managedBy).to.include(managedBy);
      const refused = await admin.setHomeLayout({ body: { scope: 'server', rows: [] } });
      expect(errorOf(refused).details).to.include({ reason: 'managed-by-resource' });
      expect((await admin.setHomeLayout({ body })).status).to.equal(403);
    });

    it('lists the kinds that can be added, and the reasons of the others', async () => {
      const { kinds } = (await me.getHomeLayout({ query: {} })).body;
      const of = (kind: string) => kinds.find((one) => one.kind === kind);
      expect(of('next-up')).to.deep.include({ available: true });
      expect(of('games')).to.deep.include({ available: false, reason: 'no-library' });
      expect(of('watchlist')).to.deep.include({ available: false, reason: 'not-served' });
      expect(of('filter')?.needs).to.deep.equal(['filter']);
    });
  });
});
