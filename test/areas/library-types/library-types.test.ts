import { expect } from 'chai';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { givenLibrary } from '#support/given-items.ts';
import { issuesOf, reasonOf } from '#support/themes.ts';

const UID = '01900000-0000-7000-8000-00000000beef';
const HERE = { namespace: 'media', kind: 'MediaServer' as const, name: 'home', uid: UID };

const CONCERT = {
  itemType: 'custom:concert',
  name: 'Concert',
  plural: 'Concerts',
  role: 'playable' as const,
  poster: 'landscape' as const,
  numbered: false,
  from: 'file' as const,
};
const RULE = { pattern: '{custom.artist}/{date} {title}', sample: 'Björk/1997-07-24 Roseland', on: 'path' as const };

describe('Library types', () => {
  let api: Api;
  let owner: Person;
  let admin: TestClient;
  let member: TestClient;
  let made = 0;
  const draft = (more: object = {}) => ({
    key: `custom:type-${++made}`,
    name: 'Concerts',
    base: 'movies' as const,
    ...more,
  });
  const create = async (more: object = {}) => {
    const answer = await admin.createLibraryType({ body: draft(more) });
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  };
  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
    admin = api.as(owner);
    member = api.as(await api.given.member());
  });

  it('lists ten built-in types first, each with the rules that a copy begins with', async () => {
    await create({ name: 'Aaa' });
    const { items } = (await admin.listLibraryTypes()).body;
    expect(items.slice(0, 10).map(({ key }) => key)).to.deep.equal(
      'movies shows videos music photos books comics games courses files'.split(' '),
    );
    for (const { key, base, source, levels, naming, libraryCount } of items.slice(0, 10)) {
      expect([source, base, libraryCount], key).to.deep.equal(['built-in', key, 0]);
      expect(levels.length, key).to.be.greaterThan(0);
      const copy = await admin.createLibraryType({ body: draft({ copyOf: key, base: undefined, validateOnly: true }) });
      expect(copy.status, JSON.stringify(copy.body)).to.equal(200);
      expect(copy.body.naming, key).to.deep.equal(naming);
    }
    const own = (await admin.listLibraryTypes({ query: { source: 'own' } })).body.items;
    expect(own.every(({ source }) => source === 'own')).to.equal(true);
  });

  it('shows others names, icon and views, and levels of types of libraries that they see', async () => {
    const { key } = await create({ levels: [CONCERT] });
    const hidden = (await member.getLibraryType({ params: { key } })).body;
    expect(hidden).to.have.keys('key source name plural base levels views revision createdAt updatedAt'.split(' '));
    expect(hidden.levels).to.deep.equal([]);
    await admin.createLibrary({ body: { name: `of ${key}`, type: key } });
    const seen = (await member.getLibraryType({ params: { key } })).body;
    expect(seen.levels).to.deep.equal([{ ...CONCERT, baseType: 'movie' }]);
    expect((await admin.getLibraryType({ params: { key } })).body).to.include({ libraryCount: 1, itemCount: 0 });
  });

  it('refuses with every fault at once', async () => {
    const body = draft({
      levels: [{ ...CONCERT, role: 'readable' }],
      files: { extensions: ['mkv', 'epub'], sidecars: [], ignore: [], versions: true, parts: true },
      naming: [
        { ...RULE, pattern: '{nothing}' },
        { ...RULE, sample: 'no date' },
      ],
    });
    expect(issuesOf(await admin.createLibraryType({ body }))).to.deep.equal([
      'body/levels/0 role_base',
      'body/files/extensions/1 unknown_extension',
      'body/naming/0/pattern unknown_placeholder',
      'body/naming/1/sample sample_mismatch',
    ]);
    const three = draft({ levels: [CONCERT, { ...CONCERT, itemType: 'custom:b' }] });
    expect(issuesOf(await admin.createLibraryType({ body: three }))).to.include('body/levels role_base');
    const { key } = await create();
    expect(reasonOf(await admin.createLibraryType({ body: draft({ key }) }))).to.equal('duplicate-key');
  });

  it('shows what names would become, and stores nothing', async () => {
    const body = draft({
      ...{ levels: [CONCERT], naming: [RULE], validateOnly: true },
      tryNames: ['Björk/1997-07-24 Roseland.mkv', 'other.mp4', 'notes.txt'],
    });
    const answer = await admin.createLibraryType({ body });
    expect(answer.status).to.equal(200);
    expect(answer.body.tried).to.deep.equal([
      {
        ...{ path: 'Björk/1997-07-24 Roseland.mkv', rule: 0, itemType: 'custom:concert' },
        fields: { 'custom.artist': 'Björk', date: '1997-07-24', title: 'Roseland' },
      },
      { path: 'other.mp4', itemType: 'custom:concert', fields: {} },
      { path: 'notes.txt', fields: {} },
    ]);
    expect((await admin.getLibraryType({ params: { key: body.key } })).status).to.equal(404);
  });

  it('changes all but key, base and the item types of a type in use', async () => {
    const { key, revision } = await create({ levels: [CONCERT] });
    const change = (body: object, more: object = {}) => admin.updateLibraryType({ params: { key }, body, ...more });
    expect((await change({ levels: [{ ...CONCERT, itemType: 'custom:gig' }] })).status).to.equal(200);
    await admin.createLibrary({ body: { name: `of ${key}`, type: key } });
    expect(reasonOf(await change({ levels: [CONCERT] }))).to.equal('type-in-use');
    const named = await change({ levels: [{ ...CONCERT, itemType: 'custom:gig', name: 'Gig' }], name: 'Gigs' });
    expect(named.body.affected).to.deep.equal({ libraries: 1, items: 0, rescan: false });
    const dry = await change({ naming: [RULE], validateOnly: true });
    expect(dry.body.affected).to.deep.equal({ libraries: 1, items: 0, rescan: true });
    expect((await change({ naming: [RULE] })).body).to.deep.include({ naming: [RULE], name: 'Gigs' });
    expect(reasonOf(await change({ name: 'x', revision }))).to.equal('revision');
    expect(reasonOf(await change({ name: 'x' }, { headers: { 'if-match': `"${revision}-x"` } }))).to.equal('revision');
  });

  it('leaves built-in and declared types alone', async () => {
    const params = { key: 'movies' };
    expect(reasonOf(await admin.updateLibraryType({ params, body: { name: 'x' } }))).to.equal('built-in');
    expect(reasonOf(await admin.deleteLibraryType({ params }))).to.equal('built-in');
    expect((await admin.createLibraryType({ body: draft({ managedBy: HERE }) })).status).to.equal(403);
    const operator = api.as({ ...owner, headers: { authorization: `Bearer ${api.operatorKey}` } });
    const { key } = (await operator.createLibraryType({ body: draft({ managedBy: HERE }) })).body;
    expect(reasonOf(await admin.updateLibraryType({ params: { key }, body: { name: 'x' } }))).to.equal(
      'managed-by-resource',
    );
    expect(reasonOf(await admin.deleteLibraryType({ params: { key } }))).to.equal('managed-by-resource');
    expect((await operator.deleteLibraryType({ params: { key } })).status).to.equal(204);
  });

  it('are deleted only without libraries', async () => {
    const { key } = await create();
    const { id } = (await admin.createLibrary({ body: { name: `of ${key}`, type: key } })).body;
    const refused = errorOf(await admin.deleteLibraryType({ params: { key } }));
    expect(refused.details).to.deep.include({ reason: 'type-in-use', libraries: [{ id, name: `of ${key}` }] });
    await api.deps.db('libraries').where({ id }).delete();
    expect((await admin.deleteLibraryType({ params: { key } })).status).to.equal(204);
    expect((await admin.getLibraryType({ params: { key } })).status).to.equal(404);
    const body = { name: `again ${key}`, type: key };
    expect(issuesOf(await admin.createLibrary({ body }))).to.deep.equal(['body/type unknown_type']);
  });

  it('give a new library their agents and analyses', async () => {
    const analyses = {
      previewThumbnails: false,
      introDetection: true,
      creditsDetection: false,
      voiceActivity: false,
      sonic: false,
    };
    const { key } = await create({ agents: ['tmdb', 'nfo'], analyses });
    const library = (
      await admin.createLibrary({ body: { name: `of ${key}`, type: key, settings: { agents: ['nfo'] } } })
    ).body;
    expect(library.settings).to.deep.include({ agents: ['nfo'], introDetection: true, previewThumbnails: false });
  });

  it('show items under the names of their levels, in lists, counts, filters and facets', async () => {
    const { db } = api.deps;
    const itemType = 'custom:gala';
    const { key } = await create({ levels: [{ ...CONCERT, itemType }] });
    const { id } = (await admin.createLibrary({ body: { name: `of ${key}`, type: key } })).body;
    const row = {
      library_id: id,
      type: 'movie',
      own_type: itemType,
      top: true,
      title: 'Roseland',
      sort_title: 'roseland',
    };
    await db('items').insert({ ...row, id: UID.replace('beef', 'c0de'), identity_key: 'roseland' });
    await db('libraries')
      .where({ id })
      .update({ item_counts: JSON.stringify({ movie: 1 }) });
    const films = await givenLibrary(db, 'movies');
    await db('items').insert({
      ...row,
      id: UID.replace('beef', 'f11e'),
      library_id: films.id,
      own_type: null,
      identity_key: 'r',
    });
    const titles = async (query: Record<string, string>) =>
      (await member.listItems({ query })).body.items.map(({ type }) => type);
    expect(await titles({ type: itemType })).to.deep.equal([itemType]);
    expect(await titles({ type: 'movie', libraryIds: `${id},${films.id}` })).to.deep.equal(['movie']);
    expect(await titles({ filter: `type:eq:${itemType.replace(':', '\\:')}` })).to.deep.equal([itemType]);
    const listed = (await member.listLibraryItems({ params: { id }, query: { type: itemType } })).body.items;
    expect(listed.map(({ title }) => title)).to.deep.equal(['Roseland']);
    const [facet] = (await member.getLibraryFacets({ params: { id }, query: { fields: 'type' } })).body.facets;
    expect(facet?.values).to.deep.equal([{ value: itemType, label: itemType, count: 1, selected: false }]);
    expect((await member.getLibrary({ params: { id } })).body.itemCounts).to.deep.equal({ [itemType]: 1 });
  });
});
