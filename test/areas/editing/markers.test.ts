import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { ABSENT } from '#support/answers.ts';
import { type Api, startApi, type TestClient } from '#support/api.ts';
import { type GivenLibrary, givenFile, givenItem, givenLibrary } from '#support/given-items.ts';
import { issueOf } from '#support/signing-in.ts';

describe('Editing: markers', () => {
  let api: Api;
  let admin: TestClient;
  let library: GivenLibrary;
  let itemId: string;
  let fileId: string;
  before(async () => {
    api = await startApi();
    admin = api.as(await api.given.owner());
    library = await givenLibrary(api.deps.db, 'movies');
  });
  beforeEach(async () => {
    itemId = await givenItem(api.deps.db, library);
    fileId = await givenFile(api.deps.db, library, itemId);
  });
  const list = async (query = {}) => (await admin.listItemMarkers({ params: { id: itemId }, query })).body;
  const set = (markers: object[], more = {}) =>
    admin.setItemMarkers({ params: { id: itemId }, body: { fileId, markers, ...more } });
  const add = (more: object) =>
    api.deps.db('markers').insert({ id: newId(), item_id: itemId, file_id: fileId, source: 'analysis', ...more });
  const INTRO = { kind: 'intro', startMs: 1000, endMs: 61_000 };
  const CREDITS = { kind: 'credits', startMs: 3_400_000, endMs: 3_600_000 };

  it('says why a film has none', async () => {
    const states = async () => (await list()).analyses.map(({ kind, state }) => `${kind} ${state}`);
    expect(await states()).to.deep.equal(['credits none']);
    const row = { file_id: fileId, name: 'creditsDetection', size_bytes: 1, modified_ms: 1 };
    await api.deps.db('analyses').insert(row);
    expect(await states()).to.deep.equal(['credits queued']);
    await api.deps.db('analyses').where({ file_id: fileId }).update({ state: 'not-found' });
    expect(await states()).to.deep.equal(['credits not-found']);
    await set([]);
    expect(await states(), 'locked').to.deep.equal(['credits off']);
    const off = JSON.stringify({ creditsDetection: false });
    await api.deps.db('libraries').where({ id: library.id }).update({ settings: off });
    await set([], { lock: false });
    expect(await states()).to.deep.equal(['credits off']);
    await api.deps.db('libraries').where({ id: library.id }).update({ settings: '{}' });
    expect(await states(), 'unlocked and empty: it may run again').to.deep.equal(['credits none']);
  });

  it('replaces the markers of a file; unchanged ones keep their source', async () => {
    await add({ kind: 'intro', start_ms: 1000, end_ms: 61_000, confidence: 0.75 });
    await add({ kind: 'recap', start_ms: 0, end_ms: 900 });
    const { body } = await set([INTRO, CREDITS]);
    expect(body.items.map(({ id: _id, fileId: _file, ...rest }) => rest)).to.deep.equal([
      { ...INTRO, source: 'analysis', confidence: 0.75, locked: true },
      { ...CREDITS, source: 'person', locked: true },
    ]);
    expect((await list({ fileId })).items).to.deep.equal(body.items);
    const [event] = await api.deps
      .db('outbox')
      .where({ event: 'item.updated' })
      .whereRaw(`payload ->> 'itemId' = ?`, [itemId]);
    expect(event.payload).to.deep.include({ changed: ['markers'] });
    const row = await api.deps.db('items').where({ id: itemId }).first('revision', 'change_seq');
    expect(row.revision).to.equal(2);
    expect(row.change_seq).to.be.greaterThan(0);
    const again = await api.deps.db('outbox').count<{ count: string }[]>('* as count');
    await set([INTRO, CREDITS]);
    expect(await api.deps.db('outbox').count<{ count: string }[]>('* as count'), 'no change').to.deep.equal(again);
  });

  const refusals: [string, object[], string][] = [
    ['that ends before it starts', [{ ...INTRO, endMs: 500 }], 'marker_ends_early'],
    ['outside the duration', [{ ...CREDITS, endMs: 3_600_001 }], 'marker_outside'],
    ['twice of a kind', [INTRO, { ...INTRO, startMs: 90_000, endMs: 99_000 }], 'marker_repeated'],
    [
      'that overlaps one of its kind',
      [
        { ...INTRO, kind: 'commercial' },
        { kind: 'commercial', startMs: 60_000, endMs: 70_000 },
      ],
      'marker_overlaps',
    ],
  ];
  for (const [name, markers, code] of refusals)
    it(`refuses a marker ${name}`, async () => {
      const answer = await set(markers);
      expect(answer.status).to.equal(400);
      expect(issueOf(answer)).to.equal(code);
      expect((await list()).items).to.deep.equal([]);
    });

  it('refuses files of other items, and takes commercials that repeat', async () => {
    const other = await givenFile(api.deps.db, library, await givenItem(api.deps.db, library));
    const params = { id: itemId };
    const answer = await admin.setItemMarkers({ params, body: { fileId: other, markers: [] } });
    expect(issueOf(answer)).to.equal('unknown_file');
    expect((await admin.listItemMarkers({ params, query: { fileId: ABSENT } })).status).to.equal(404);
    const two = [1, 2].map((n) => ({ kind: 'commercial', startMs: n * 100_000, endMs: n * 100_000 + 9000 }));
    expect((await set(two)).status).to.equal(200);
  });

  it('answers counts by episode for a show and a season', async () => {
    const { db } = api.deps;
    const shows = await givenLibrary(db, 'shows');
    const show = await givenItem(db, shows, { type: 'show' });
    const season = await givenItem(db, shows, { type: 'season', parent_id: show });
    const episode = { type: 'episode', parent_id: season, grandparent_id: show };
    const [first, second] = [
      await givenItem(db, shows, { ...episode, index_number: 1 }),
      await givenItem(db, shows, { ...episode, index_number: 2 }),
    ];
    for (const id of [first, second]) await givenFile(db, shows, id);
    await db('markers').insert({
      id: newId(),
      item_id: second,
      kind: 'intro',
      start_ms: 1,
      end_ms: 2,
      source: 'agent',
    });
    for (const id of [show, season]) {
      const { body } = await admin.listItemMarkers({ params: { id } });
      expect(body).to.deep.equal({ items: [], analyses: [], episodes: [{ itemId: second, markers: 1 }] });
    }
    const other = await api.given.admin();
    const label = (await admin.createLabel({ body: { name: 'Hidden' } })).body.id;
    await admin.setLabelItems({ params: { id: label }, body: { add: [second] } });
    const body = { restricted: false, allow: [], deny: [{ userId: other.accountId }], only: [] };
    await admin.setLabelAccess({ params: { id: label }, body });
    const seen = await api.as(other).listItemMarkers({ params: { id: show } });
    expect([seen.status, seen.body.episodes]).to.deep.equal([200, []]);
  });
});
