import { expect } from 'chai';
import { putLayers, raiseChangesOfItems, settleItems } from '#areas/libraries/public.ts';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary, givenShow } from '#support/given-items.ts';

const PLACE = { language: 'en', country: null };

describe('editing an item', function () {
  this.timeout(60_000);
  let api: Api;
  let owner: Person;
  let films: GivenLibrary;
  let film: string;

  const update = (body: object, more: { query?: object; headers?: Record<string, string> } = {}) =>
    api.as(owner).updateItem({ params: { id: film }, body, ...more } as never);
  const fields = async () => (await api.as(owner).getItemFields({ params: { id: film } })).body;
  const originOf = async (name: string) => (await fields()).items.find(({ field }) => field === name);
  /** What a scan or an agent does. */
  const layer = async (
    source: 'nfo' | 'file-name' | { agent: string },
    values: object,
    mode?: 'update' | 'replace' | 'missing',
  ) =>
    api.deps.db.transaction(async (db) => {
      await raiseChangesOfItems(db, [film]);
      await putLayers(db, [{ itemId: film, layers: [{ source, values }] }]);
      await settleItems(db, [film], { place: PLACE, ...(mode && { mode }) });
    });

  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    films = await givenLibrary(api.deps.db, 'movies');
  });
  beforeEach(async () => {
    film = await givenItem(api.deps.db, films, { top: true, title: 'Nosferatu' });
  });

  it('locks what a person sets, and gives it back with null', async () => {
    await layer('nfo', { overview: 'of the NFO', genres: ['Horror'] });
    const edited = await update({ title: 'The Vampyre', overview: 'mine', genres: ['Silent', 'Drama'], year: 1922 });
    expect(edited.status).to.equal(200);
    expect(edited.body).to.deep.include({ title: 'The Vampyre', sortTitle: 'vampyre', overview: 'mine', year: 1922 });
    expect(edited.body.genres).to.have.members(['Silent', 'Drama']);
    expect(edited.body.lockedFields).to.have.members(['title', 'overview', 'genres', 'year']);
    await layer('nfo', { title: 'Of the NFO', overview: 'newer', genres: ['Horror'] }, 'update');
    expect(await originOf('overview')).to.deep.include({
      value: 'mine',
      source: 'person',
      locked: true,
      agentValue: 'newer',
    });
    expect(await originOf('title')).to.deep.include({ value: 'The Vampyre', agentValue: 'Of the NFO' });
    const back = await update({ title: null, overview: null, genres: null, year: null });
    expect(back.body).to.deep.include({ title: 'Of the NFO', overview: 'newer', genres: ['Horror'], lockedFields: [] });
    expect(back.body).to.not.have.property('year');
    expect(await originOf('overview')).to.deep.include({ source: 'nfo', locked: false });
  });

  it('keeps an unlocked value until a refresh brings one', async () => {
    await update({ overview: 'mine', tagline: 'mine' }, { query: { lock: 'false' } });
    await layer('nfo', { title: 'Nosferatu' });
    expect(await originOf('overview')).to.deep.include({ value: 'mine', locked: false, source: 'person' });
    await layer({ agent: 'tmdb' }, { overview: 'of TMDB' }, 'update');
    expect(await originOf('overview')).to.deep.include({ value: 'of TMDB', source: 'agent', agent: 'tmdb' });
    expect(await originOf('tagline')).to.deep.include({ value: 'mine', source: 'person' });
    await layer({ agent: 'tmdb' }, { overview: 'of TMDB' }, 'replace');
    expect(await originOf('tagline')).to.deep.include({ value: null, source: 'default' });
  });

  it('prefers local data to agents, and agents to names', async () => {
    await layer(
      { agent: 'tmdb' },
      { title: 'Nosferatu, of TMDB', overview: 'of TMDB', externalIds: { tmdb: '653' } },
      'update',
    );
    await layer('nfo', { overview: 'of the NFO', externalIds: { imdb: 'tt0013442' } });
    const { body } = await api.as(owner).getItem({ params: { id: film } });
    expect(body).to.deep.include({ title: 'Nosferatu, of TMDB', overview: 'of the NFO' });
    expect(body.externalIds).to.deep.equal({ tmdb: '653', imdb: 'tt0013442' });
  });

  it('refuses another revision with the fields that differ, and another title', async () => {
    const { headers } = await api.as(owner).getItem({ params: { id: film } });
    const tag = headers.get('etag') ?? '';
    expect((await update({ overview: 'first' }, { headers: { 'if-match': tag } })).status).to.equal(200);
    const late = await update({ overview: 'second', tagline: 'x' }, { headers: { 'if-match': tag } });
    expect([late.status, errorOf(late).details]).to.deep.equal([
      409,
      { reason: 'revision', revision: 2, fields: ['overview', 'tagline'] },
    ]);
    await layer('nfo', { externalIds: { imdb: 'tt0013442' } });
    const other = await update({ externalIds: { imdb: 'tt0000001' } });
    expect([other.status, errorOf(other).details['reason']]).to.deep.equal([409, 'use-match']);
    const more = await update({ externalIds: { imdb: 'tt0013442', tmdb: '653' } });
    expect(more.body.externalIds).to.deep.equal({ imdb: 'tt0013442', tmdb: '653' });
  });

  it('refuses fields that the type lacks, and unknown labels, files and people', async () => {
    const unknown = '01900000-0000-7000-8000-00000000abcd';
    const codes = async (body: object) => {
      const answer = await update(body);
      return [answer.status, (errorOf(answer).details['issues'] as { code: string }[]).map(({ code }) => code)];
    };
    expect(await codes({ artists: ['x'], isbn: '1' })).to.deep.equal([400, ['wrong_type', 'wrong_type']]);
    expect(await codes({ labels: [unknown] })).to.deep.equal([400, ['unknown_label']]);
    expect(await codes({ edition: { [unknown]: 'x' } })).to.deep.equal([400, ['unknown_file']]);
    expect(await codes({ people: [{ personId: unknown, role: 'actor' }] })).to.deep.equal([400, ['unknown_person']]);
    expect(await codes({ overview: 'not written', isbn: '1' })).to.deep.equal([400, ['wrong_type']]);
    expect((await originOf('overview'))?.value).to.equal(null);
  });

  it('writes people, labels, editions and chapters', async () => {
    const file = await givenFile(api.deps.db, films, film, { duration_ms: 60_000 });
    const label = (await api.as(owner).createLabel({ body: { name: 'Evening' } })).body.id;
    const people = [
      { name: 'Max Schreck', role: 'actor', character: 'Orlok' },
      { name: 'F. W. Murnau', role: 'director' },
    ];
    const chapters = {
      [file]: [
        { title: 'One', startMs: 0 },
        { title: 'Two', startMs: 30_000 },
      ],
    };
    const { status } = await update({ people, labels: [label], edition: { [file]: 'Restored' }, chapters });
    expect(status).to.equal(200);
    const include = 'people,labels,chapters' as never;
    const { body } = await api.as(owner).getItem({ params: { id: film }, query: { include } });
    expect(body.people?.items.map(({ name, role }) => [name, role])).to.deep.equal([
      ['Max Schreck', 'actor'],
      ['F. W. Murnau', 'director'],
    ]);
    expect(body.labels).to.deep.equal(['Evening']);
    expect(body.files[0]).to.deep.include({ edition: 'Restored' });
    expect(body.chapters?.items.map(({ title, endMs }) => [title, endMs])).to.deep.equal([
      ['One', 30_000],
      ['Two', 60_000],
    ]);
    expect((await update({ labels: [] })).body.labels).to.deep.equal([]);
  });

  it('requires a confirmation before a label hides the item from the caller', async () => {
    const editor = await api.given.admin();
    const label = (await api.as(owner).createLabel({ body: { name: 'Work' } })).body.id;
    await update({ labels: [label] });
    const only = [{ userId: editor.accountId }];
    const access = { restricted: false, allow: [], deny: [], only };
    expect((await api.as(owner).setLabelAccess({ params: { id: label }, body: access })).status).to.equal(200);
    const clear = (query: object) =>
      api.as(editor).updateItem({ params: { id: film }, body: { labels: [] }, query } as never);
    const refused = await clear({});
    expect([refused.status, errorOf(refused).details['reason']]).to.deep.equal([409, 'hides-from-you']);
    expect((await api.as(editor).getItem({ params: { id: film } })).status).to.equal(200);
    expect((await clear({ confirm: 'true' })).status).to.equal(404);
    expect((await api.as(owner).getItem({ params: { id: film } })).body.labels).to.deep.equal([]);
  });

  it('moves an episode to the season of its number', async () => {
    const shows = await givenLibrary(api.deps.db, 'shows');
    const show = await givenShow(api.deps.db, shows, { seasons: 1, episodes: 2, title: 'Show' });
    const episodes = await api.deps
      .db('items')
      .where({ grandparent_id: show.id, type: 'episode' })
      .orderBy('index_number');
    const [first, second] = episodes.map(({ id }) => id) as [string, string];
    const edit = (id: string, body: object) => api.as(owner).updateItem({ params: { id }, body });
    const taken = await edit(first, { index: 2 });
    expect([taken.status, errorOf(taken).details['itemId']]).to.deep.equal([409, second]);
    const moved = await edit(first, { parentIndex: 2, index: 7 });
    expect(moved.body).to.deep.include({ parentIndex: 2, index: 7, parentTitle: 'Season 2' });
    const again = await edit(second, { parentIndex: 2 });
    expect(again.body.parentId).to.equal(moved.body.parentId);
    await api.as(owner).deleteItem({ params: { id: show.seasons[0] ?? '' } });
    const back = await edit(first, { parentIndex: 1 });
    expect(back.body).to.include({ parentId: show.seasons[0], parentTitle: 'Season 1' });
    expect((await api.as(owner).getItem({ params: { id: show.seasons[0] ?? '' } })).status).to.equal(200);
  });

  it('follows people whom an edit named when they are merged or deleted later', async () => {
    const people = ['Max Schreck', 'M. Schreck', 'Greta Schröder'];
    const [max, twin, greta] = (await Promise.all(
      people.map(async (name) => (await api.as(owner).createPerson({ body: { name } })).body.id),
    )) as [string, string, string];
    const named = [twin, greta].map((personId) => ({ personId, role: 'actor' }));
    expect((await update({ people: named } as never)).status).to.equal(200);
    await api.as(owner).mergePeople({ params: { id: max }, body: { personIds: [twin] } });
    await api.as(owner).deletePerson({ params: { id: greta } } as never);
    await api.as(owner).setItemLocks({ params: { id: film }, body: { fields: [] } } as never);
    const { db } = api.deps;
    await db('credits').where({ item_id: film }).delete();
    await db.transaction((tx) => settleItems(tx, [film], { place: { language: 'en', country: null } }));
    const shown = await db('credits').where({ item_id: film }).orderBy('position').pluck('person_id');
    expect(shown).to.deep.equal([max]);
  });

  it('emits one event and records old and new values', async () => {
    const { db } = api.deps;
    const since = new Date();
    await update({ overview: 'told', tagline: 'told' });
    const events = await db('outbox').where('event', 'item.updated').andWhere('at', '>=', since);
    expect(events.length).to.equal(1);
    const [entry] = await db('audit_log').where('action', 'item.edited').orderBy('at', 'desc').limit(1);
    expect(entry?.details).to.deep.include({ itemId: film });
    expect((entry?.details as { changes: object[] } | undefined)?.changes).to.deep.include({
      field: 'overview',
      old: null,
      new: 'told',
    });
  });

  it('deletes one edition, then the item, which no scan and no list shows again', async () => {
    const { db } = api.deps;
    const files = [
      await givenFile(db, films, film, { edition: 'Restored', edition_rank: 1, size_bytes: 100 }),
      await givenFile(db, films, film, { edition: 'Original', edition_rank: 0, size_bytes: 50 }),
    ] as const;
    const drop = (query: object) => api.as(owner).deleteItem({ params: { id: film }, query } as never);
    expect((await drop({ fileId: film })).status).to.equal(404);
    expect((await drop({ fileId: files[0] })).status).to.equal(204);
    const { body } = await api.as(owner).getItem({ params: { id: film } });
    expect([body.sizeBytes, body.files.map(({ id }) => id)]).to.deep.equal([50, [files[1]]]);
    expect((await drop({ fileId: files[1] })).status).to.equal(204);
    expect((await api.as(owner).getItem({ params: { id: film } })).status).to.equal(404);
    const trash = await api.as(owner).listTrash({ params: { id: films.id } });
    expect(trash.body.items.map(({ item, reason }) => [item.id, reason])).to.deep.equal([[film, 'deleted']]);
    await api.as(owner).restoreTrash({ params: { id: films.id }, body: { itemIds: [film] } });
    expect((await api.as(owner).getItem({ params: { id: film } })).status).to.equal(200);
  });

  it('replaces locks, and keeps the value that was locked', async () => {
    await layer('nfo', { overview: 'first' });
    const put = (list: string[]) => api.as(owner).setItemLocks({ params: { id: film }, body: { fields: list } });
    expect((await put(['overview'])).body).to.deep.equal({ lockedFields: ['overview'] });
    await layer('nfo', { overview: 'second' }, 'update');
    expect(await originOf('overview')).to.deep.include({ value: 'first', source: 'nfo', agentValue: 'second' });
    expect((await put(['nothing'])).status).to.equal(400);
    expect((await put(['all'])).body.lockedFields).to.include.members(['all', 'title', 'genres']);
    await put([]);
    expect((await originOf('overview'))?.value).to.equal('first');
    await layer('nfo', { overview: 'second' }, 'update');
    expect((await originOf('overview'))?.value).to.equal('second');
  });
});
