import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { emit } from '#platform/outbox.ts';
import { startRelay } from '#platform/relay.ts';
import { EventReader } from '#support/event-reader.ts';
import { givenItem, givenLibrary } from '#support/given-items.ts';
import { errorOf, GivenPlayback } from '#support/given-playback.ts';
import { eventually } from '#support/stores.ts';
import { markMany } from '#workers/own-state.ts';
import type { Work } from '#workers/work.ts';

interface Changed {
  profileId: string;
  what: string[];
  itemIds: string[];
  truncated: boolean;
}

describe('own state', () => {
  const given = new GivenPlayback();
  const { film, play } = given;
  const database = () => given.api.deps.db;

  const changes = async (): Promise<Changed[]> =>
    (
      await database()('outbox')
        .where({ event: 'state.changed' })
        .whereRaw(`payload ->> 'profileId' = ?`, [given.person.profileId])
        .orderBy('seq')
        .pluck('payload')
    ).map((payload) => payload as unknown as Changed);

  it('emits one event for each change, with the items and what changed', async () => {
    const id = await film();
    const params = { id };
    await given.me.setItemProgress({ params, body: { positionMs: 900_000 } });
    await given.me.markWatched({ params });
    await given.me.unmarkWatched({ params });
    await given.me.setItemRating({ params, body: { favorite: true, value: 8 } });
    await given.me.clearItemRating({ params });
    await given.me.clearItemProgress({ params });
    await given.me.updatePlaybackPreferences({ body: { autoplayNext: false } });
    const { session } = (await play(id)).body;
    await given.me.reportPlayback({ params: { id: session.id }, body: { state: 'playing', positionMs: 700_000 } });
    const found = await changes();
    expect(found.map(({ what }) => what.join())).to.deep.equal([
      'progress',
      'watched,progress',
      'watched,progress',
      'rating,favorite',
      'rating',
      'progress',
      'preferences',
      'progress',
    ]);
    expect(found.filter(({ what }) => what[0] !== 'preferences').every(({ itemIds }) => itemIds.includes(id))).to.equal(
      true,
    );
  });

  it('reaches the streams of its profile alone', async () => {
    const { config, redis, log } = given.api.deps;
    const relay = startRelay(config.databaseUrl, redis, log);
    const address = `${given.api.url}/api/v1/events`;
    const own = await EventReader.open(address, given.person.headers);
    const other = await EventReader.open(address, (await given.api.given.member()).headers);
    const id = await film();
    await given.me.markWatched({ params: { id } });
    await eventually(() => own.events.some(({ event }) => event === 'state.changed'));
    const { data } = own.events.find(({ event }) => event === 'state.changed') ?? { data: undefined };
    expect(data?.payload).to.deep.include({ itemIds: [id], truncated: false });
    expect(other.events.filter(({ event }) => event === 'state.changed')).to.deep.equal([]);
    await relay.stop(); // it takes the events out of the outbox
  });

  it('takes ratings and favourites of offline reports', async () => {
    const id = await film();
    const report = { clientEventId: newId(), itemId: id, at: new Date().toISOString(), favorite: true, rating: 7 };
    const { body } = await given.me.syncPlayback({ body: { reports: [report] } });
    expect(body.results[0]?.outcome).to.equal('applied');
    const row = await database()('item_states').where({ item_id: id }).first('rating', 'favorite');
    expect(row).to.deep.equal({ rating: 7, favorite: true });
  });

  describe('of a selection', () => {
    const selected = async (libraryId: string, select: object, set: object) =>
      given.me.syncPlayback({ body: { select: { libraryId, expect: 0, ...select }, set } });

    const runJob = async (): Promise<void> => {
      const { db, settings } = given.api.deps;
      const { payload } = await db('jobs').where({ kind: 'playback.mark' }).orderBy('created_at', 'desc').first();
      const work = {
        db,
        settings,
        emit,
        checkpoint: null,
        keep: async () => undefined,
        signal: new AbortController().signal,
      };
      await markMany(payload, work as unknown as Work);
    };

    const watched = async (libraryId: string): Promise<string[]> =>
      database()('item_states')
        .where({ library_id: libraryId, profile_id: given.person.profileId, watched: true })
        .pluck('item_id');

    it('sets what plays in the listed items, but not in the excepted ones', async () => {
      const library = await givenLibrary(database(), 'shows');
      const [one, two] = await Promise.all(
        ['One', 'Two'].map(async (title) => givenItem(database(), library, { type: 'show', top: true, title })),
      );
      const episode = { type: 'episode', parent_index: 1, index_number: 1 };
      const first = await givenItem(database(), library, { ...episode, parent_id: one });
      await givenItem(database(), library, { ...episode, parent_id: two });
      const { status, body } = await selected(
        library.id,
        { except: [two], expect: 1 },
        { watched: true, favorite: true },
      );
      expect([status, body.matched]).to.deep.equal([200, 1]);
      expect(await watched(library.id)).to.deep.equal([first]);
      const favorites = database()('item_states').where({ library_id: library.id, favorite: true });
      expect(await favorites.pluck('item_id')).to.deep.equal([one]);
      expect((await changes()).at(-1)?.itemIds).to.have.members([one, first]);
    });

    it('refuses a selection that is no longer the one that the caller saw', async () => {
      const library = await givenLibrary(database(), 'movies');
      await film({}, {}, library);
      const refused = await selected(library.id, { expect: 3 }, { watched: true });
      expect([refused.status, errorOf(refused).details.reason]).to.deep.equal([409, 'count-changed']);
      expect(await watched(library.id)).to.deep.equal([]);
    });

    it('runs more than 500 items as a job', async () => {
      const library = await givenLibrary(database(), 'movies');
      for (let i = 0; i < 501; i++) await givenItem(database(), library, { title: `Film ${i}` });
      const { status, body } = await selected(
        library.id,
        { expect: 501, filter: 'watched:eq:false' },
        { watched: true },
      );
      expect([status, body.matched]).to.deep.equal([202, 501]);
      expect(await watched(library.id)).to.deep.equal([]);
      await runJob();
      expect(await watched(library.id)).to.have.length(501);
      expect((await changes()).at(-1)).to.deep.include({ what: ['watched', 'progress'], truncated: true });
    });

    it('rejects reports together with a selection, and a selection without a state', async () => {
      const select = { libraryId: given.library.id, expect: 0 };
      for (const body of [{}, { select }, { select, set: {} }, { set: { watched: true } }]) {
        const refused = await given.me.syncPlayback({ body });
        expect(refused.status, JSON.stringify(body)).to.equal(400);
      }
    });
  });

  it('keeps choices of the web app with the preferences, up to 8 KiB', async () => {
    const { body } = await given.me.updatePlaybackPreferences({
      body: { app: { density: 'compact' }, skipBackMs: 5000 },
    });
    expect(body).to.deep.include({ app: { density: 'compact' }, skipBackMs: 5000, skipForwardMs: 10_000 });
    const refused = await given.me.updatePlaybackPreferences({ body: { app: { text: 'x'.repeat(9000) } } });
    expect(refused.status).to.equal(400);
  });
});
