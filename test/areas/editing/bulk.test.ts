import { expect } from 'chai';
import { errorOf } from '#support/answers.ts';
import { type Api, startApi } from '#support/api.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenItem, givenLibrary, givenShow } from '#support/given-items.ts';
import { changeInBulk } from '#workers/editing/bulk.ts';
import type { Work } from '#workers/work.ts';

const ABSENT = '01900000-0000-7000-8000-00000000abcd';

describe('editing many items', function () {
  this.timeout(60_000);
  let api: Api;
  let owner: Person;
  let films: GivenLibrary;

  const bulk = (body: object) => api.as(owner).changeItemsInBulk({ body } as never);
  const many = (count: number, more: object = {}) =>
    Promise.all(
      Array.from({ length: count }, (_, n) =>
        givenItem(api.deps.db, films, { top: true, title: `Film ${n}`, ...more }),
      ),
    );
  const read = async (id: string) => (await api.as(owner).getItem({ params: { id } })).body;
  /** Runs a queued change as a worker does; it may be stopped after some batches. */
  const work = (more: Partial<Work> = {}) =>
    ({
      ...{ ...api.deps, signal: new AbortController().signal, checkpoint: null, keep: async () => undefined },
      ...more,
    }) as unknown as Work;

  before(async () => {
    api = await startApi();
    owner = await api.given.owner();
  });
  beforeEach(async () => {
    films = await givenLibrary(api.deps.db, 'movies', { everyone: true });
  });

  it('sets fields, adds and removes members of lists, and is undone by nulls', async () => {
    const ids = await many(3);
    await bulk({ action: 'edit', itemIds: ids, set: { genres: ['Horror', 'Silent'] } });
    const [first = ''] = ids;
    const edit = { action: 'edit', itemIds: [...ids, ABSENT], set: { year: 1922 } };
    const people = [{ name: 'Max Schreck', role: 'actor' }];
    const done = await bulk({ ...edit, add: { genres: ['Drama'], people }, remove: { genres: ['silent'] } });
    expect(done.body).to.deep.include({ matched: 4, changed: 3, unchanged: 0, dryRun: false });
    expect(done.body.refused).to.deep.equal([{ itemId: ABSENT, reason: 'not-found' }]);
    expect(Date.parse(done.body.undoUntil ?? '')).to.be.greaterThan(Date.now());
    const one = await read(first);
    expect(one).to.deep.include({ year: 1922, lockedFields: ['genres', 'people', 'year'] });
    expect(one.genres).to.have.members(['Horror', 'Drama']);
    const again = await bulk({ action: 'edit', itemIds: ids, add: { genres: ['drama'] } });
    expect(again.body).to.deep.include({ changed: 0, unchanged: 3 });
    await bulk({ action: 'edit', itemIds: ids, set: { year: null, genres: null } });
    expect(await read(first)).to.deep.include({ genres: [], lockedFields: ['people'] });
    expect(await read(first)).to.not.have.property('year');
  });

  it('counts only in a dry run, and refuses another number than expected', async () => {
    const ids = await many(5);
    const edit = { action: 'edit', itemIds: ids, set: { year: 1950 } };
    const counted = await bulk({ ...edit, dryRun: true });
    expect(counted.body).to.deep.include({ dryRun: true, matched: 5, changed: 5 });
    expect(await read(ids[0] ?? '')).to.not.have.property('year');
    const filter = { libraryId: films.id, filter: '' };
    const other = await bulk({ action: 'edit', filter, set: { year: 1950 }, expect: 3 });
    expect([other.status, errorOf(other).details]).to.deep.equal([
      409,
      { reason: 'count-differs', matched: 5, expected: 3 },
    ]);
    expect((await bulk({ action: 'edit', filter, set: { year: 1950 }, expect: 5 })).body.changed).to.equal(5);
  });

  it('refuses items of other types, and members that do not belong together', async () => {
    const ids = await many(1);
    const refused = await bulk({ action: 'edit', itemIds: ids, set: { isbn: '1' } });
    expect(refused.body.refused).to.deep.equal([{ itemId: ids[0], reason: 'type' }]);
    for (const body of [
      { action: 'edit', itemIds: ids },
      { action: 'edit', set: { year: 1 } },
      { action: 'unlock', itemIds: ids },
      { action: 'delete', itemIds: ids, set: { year: 1950 } },
      { action: 'edit', itemIds: ids, set: { tags: ['a'] }, add: { tags: ['b'] } },
      { action: 'edit', itemIds: ids, set: { year: 1950 }, delete: { files: 'trash' } },
      { action: 'delete', itemIds: ids, delete: { fileId: ABSENT } },
    ])
      expect((await bulk(body)).status, JSON.stringify(body)).to.equal(400);
  });

  it('changes more than 200 items by a job that goes on where it stopped', async () => {
    const ids = await many(1200);
    const { db } = api.deps;
    const queued = await bulk({ action: 'edit', filter: { libraryId: films.id, filter: '' }, set: { year: 1960 } });
    expect([queued.status, queued.body.matched, queued.body.changed]).to.deep.equal([202, 1200, 0]);
    const job = await db('jobs').where({ id: queued.body.jobId }).first('kind', 'payload');
    expect(job?.kind).to.equal('items.bulk');
    const payload = job?.payload as { changeId: string };
    await givenItem(db, films, { top: true, title: 'Came later' });
    const kept: unknown[] = [];
    const stopped = work({
      keep: async (_db, checkpoint) => {
        kept.push(checkpoint);
        if (kept.length === 2) throw new Error('the worker is lost');
      },
    });
    const failure = await changeInBulk(payload, stopped).catch((error: Error) => error.message);
    expect(failure).to.equal('the worker is lost');
    const yearIs1960 = async () => (await db('items').where({ library_id: films.id, year: 1960 }).pluck('id')).length;
    expect(await yearIs1960()).to.equal(500);
    expect(await changeInBulk(payload, work({ checkpoint: kept[0] }))).to.deep.equal({ changed: 1200, refused: 0 });
    expect(await yearIs1960()).to.equal(ids.length);
    const events = await db('outbox')
      .where({ event: 'item.updated' })
      .whereRaw(`payload ->> 'libraryId' = ?`, [films.id]);
    expect(events.length).to.be.at.most(200);
  });

  it('makes items due for a refresh with their children', async () => {
    const { db } = api.deps;
    const shows = await givenLibrary(db, 'shows', { everyone: true });
    const show = await givenShow(db, shows, { seasons: 1, episodes: 2 });
    const queued = await bulk({ action: 'refresh', itemIds: [show.id], refresh: { mode: 'replace' } });
    expect([queued.status, queued.body.matched]).to.deep.equal([202, 1]);
    const due = await db('item_matches').where({ library_id: shows.id }).whereNotNull('due_at').select('options');
    expect(due.length).to.equal(4);
    expect(due[0]?.options).to.deep.include({ mode: 'replace', by: 'person' });
    const job = await db('jobs').where({ id: queued.body.jobId }).first('kind', 'library_id');
    expect(job).to.deep.equal({ kind: 'metadata.refresh', library_id: shows.id });
  });

  it('locks fields without an edit, where an item that lacks one of them is refused', async () => {
    const [film = '', other = ''] = await many(2);
    const shows = await givenLibrary(api.deps.db, 'shows', { everyone: true });
    const show = (await givenShow(api.deps.db, shows, { seasons: 1, episodes: 1 })).id;
    await bulk({ action: 'lock', itemIds: [other], fields: ['tagline'] });
    const { revision } = (await api.deps.db('items').where({ id: film }).first('revision')) ?? { revision: 0 };
    const lock = { action: 'lock', itemIds: [film, other, show] };
    const none = await bulk({ ...lock, fields: ['tagline', 'isbn'] });
    expect([none.body.changed, none.body.refused.map(({ reason }) => reason)]).to.deep.equal([
      0,
      ['type', 'type', 'type'],
    ]);
    const fields = ['tagline'];
    const counted = await bulk({ ...lock, fields, dryRun: true });
    expect([counted.body.changed, (await read(film)).lockedFields ?? []]).to.deep.equal([2, []]);
    expect((await bulk({ ...lock, fields })).body).to.deep.include({ changed: 2, unchanged: 1, refused: [] });
    expect((await read(film)).lockedFields).to.deep.equal(['tagline']);
    expect((await api.deps.db('items').where({ id: film }).first('revision'))?.revision).to.equal(revision + 1);
    await bulk({ action: 'lock', itemIds: [film], fields: ['all'] });
    expect((await read(film)).lockedFields).to.include.members(['all', 'title', 'year', 'tagline']);
  });

  it('unlocks, and moves items with their children to the trash until they are restored', async () => {
    const [film = ''] = await many(1);
    await bulk({ action: 'edit', itemIds: [film], set: { year: 1950, tagline: 'x' } });
    await bulk({ action: 'unlock', itemIds: [film], fields: ['year'] });
    expect((await read(film)).lockedFields).to.deep.equal(['tagline']);
    const shows = await givenLibrary(api.deps.db, 'shows', { everyone: true });
    const show = await givenShow(api.deps.db, shows, { seasons: 1, episodes: 2 });
    const gone = await bulk({ action: 'delete', itemIds: [show.id] });
    expect(gone.body.changed).to.equal(1);
    const episode = show.episodes[0]?.[0] ?? '';
    expect((await api.as(owner).getItem({ params: { id: episode } })).status).to.equal(404);
    const params = { id: shows.id };
    const trash = await api.as(owner).listTrash({ params });
    expect(trash.body.items.map(({ reason, childCount }) => [reason, childCount])).to.deep.equal([['deleted', 3]]);
  });

  it('does not change items that are hidden from the caller', async () => {
    const editor = await api.given.admin();
    const ids = await many(2);
    const label = (await api.as(owner).createLabel({ body: { name: `Hidden ${films.id}` } })).body.id;
    await api.as(owner).setLabelItems({ params: { id: label }, body: { add: [ids[0] ?? ''] } });
    const deny = [{ userId: editor.accountId }];
    await api
      .as(owner)
      .setLabelAccess({ params: { id: label }, body: { restricted: false, allow: [], deny, only: [] } });
    const body = { action: 'edit', itemIds: ids, set: { year: 1970 } };
    const done = await api.as(editor).changeItemsInBulk({ body } as never);
    expect([done.body.changed, done.body.refused]).to.deep.equal([1, [{ itemId: ids[0], reason: 'not-found' }]]);
    expect(await read(ids[0] ?? '')).to.not.have.property('year');
  });
});
