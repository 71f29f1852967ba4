import { expect } from 'chai';
import { purgeEntries } from '#areas/libraries/trash/trash.store.ts';
import { sweepSessions } from '#areas/streaming/sessions/sessions.store.ts';
import type { Person } from '#support/given.ts';
import { type GivenLibrary, givenLibrary } from '#support/given-items.ts';
import { client, errorOf, GivenPlayback, HOUR } from '#support/given-playback.ts';
import { eventually } from '#support/stores.ts';
import { sweepOnce, sweepPlayback } from '#workers/playback-sweeper.ts';

describe('ends of playback without a request', function () {
  this.timeout(120_000);
  const given = new GivenPlayback();
  const { film, play, progress, events } = given;

  it('stops a session without reports and keeps its position', async () => {
    const id = await film();
    const { session } = (await play(id)).body;
    await given.me.reportPlayback({ params: { id: session.id }, body: { state: 'playing', positionMs: 500_000 } });
    expect(await sweepOnce(given.api.deps.db)).to.equal(0);
    await given.api.deps
      .db('playback_sessions')
      .where({ id: session.id })
      .update({ last_report_at: new Date(Date.now() - 61_000), last_bytes_at: new Date(Date.now() - 61_000) });
    expect(await sweepOnce(given.api.deps.db)).to.equal(1);
    expect((await given.me.getPlaybackSession({ params: { id: session.id } })).body).to.include({
      state: 'stopped',
      stopReason: 'timeout',
    });
    expect((await progress(id)).positionMs).to.equal(500_000);
  });

  it('counts no silence from before the database took reports again', async () => {
    const { db } = given.api.deps;
    const { session } = (await play(await film())).body;
    const silentFor = async (ms: number): Promise<unknown> =>
      db('playback_sessions')
        .where({ id: session.id })
        .update({ last_report_at: new Date(Date.now() - ms), last_bytes_at: new Date(Date.now() - ms) });
    await silentFor(300_000);
    expect(await sweepOnce(db, 'UTC', { heardSince: new Date(Date.now() - 30_000) })).to.equal(0);
    expect(await sweepOnce(db, 'UTC', { heardSince: new Date(Date.now() - 61_000) })).to.equal(1);
  });

  it('warns once, in the minute before the viewing hours end, in the answer to a report', async () => {
    const { db } = given.api.deps;
    const viewer = await given.api.given.member();
    const params = {
      id: (await given.api.as(viewer).startPlayback({ params: { id: await film() }, body: { client } })).body.session
        .id,
    };
    const hours = [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '08:00', to: '20:00' }];
    const timed = async (viewingHours: object) =>
      db('accounts')
        .where({ id: viewer.accountId })
        .update({ viewing_hours: JSON.stringify(viewingHours), hours_zone: 'UTC' });
    await timed(hours);
    for (const time of ['19:58:50', '19:59:10', '19:59:25'])
      await sweepOnce(db, 'UTC', { now: new Date(`2026-11-20T${time}Z`) });
    await timed([]);
    const report = async () =>
      (await given.api.as(viewer).reportPlayback({ params, body: { state: 'playing', positionMs: 1 } })).body.commands;
    expect(await report()).to.deep.equal([{ command: 'message', args: { reason: 'viewing-hours', withinMs: 60_000 } }]);
    expect(await report()).to.deep.equal([]);
  });

  it('stops playback a minute after the viewing hours, and names them as the reason', async () => {
    const { db } = given.api.deps;
    const begun = async (): Promise<string> => (await play(await film())).body.session.id;
    const sessions = [await begun(), await begun()];
    const quiet = new Date(Date.now() - 61_000);
    await db('playback_sessions').where({ id: sessions[1] }).update({ last_report_at: quiet, last_bytes_at: quiet });
    const hours = [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '08:00', to: '20:00' }];
    await db('accounts')
      .where({ id: given.person.accountId })
      .update({ viewing_hours: JSON.stringify(hours), hours_zone: 'UTC' });
    const reasons = (): Promise<unknown> =>
      Promise.all(sessions.map((id) => db('playback_sessions').where({ id }).pluck('stop_reason'))).then((all) =>
        all.flat(),
      );

    expect(await sweepOnce(db, 'UTC', { now: new Date('2026-11-20T20:00:30Z') })).to.equal(1);
    expect(await reasons()).to.deep.equal([null, 'viewing-hours']);
    expect(await sweepOnce(db, 'UTC', { now: new Date('2026-11-20T19:59:30Z') })).to.equal(0);
    expect(await sweepOnce(db, 'UTC', { now: new Date('2026-11-20T20:01:30Z') })).to.equal(1);
    expect(await reasons()).to.deep.equal(['viewing-hours', 'viewing-hours']);
  });

  it('stops playback of an account that is disabled or has expired', async () => {
    const { db } = given.api.deps;
    const stopped = async (change: object) => {
      const viewer = await given.api.given.member();
      const started = await given.api.as(viewer).startPlayback({ params: { id: await film() }, body: { client } });
      await db('accounts').where({ id: viewer.accountId }).update(change);
      await sweepOnce(db);
      return db('playback_sessions').where({ id: started.body.session.id }).pluck('stop_reason');
    };
    expect(await stopped({ disabled: true })).to.deep.equal(['limit']);
    expect(await stopped({ expires_at: new Date(Date.now() - 1000) })).to.deep.equal(['limit']);
    expect(await stopped({ expires_at: new Date(Date.now() + 3_600_000) })).to.deep.equal([null]);
  });

  it('ends playback at once when the item becomes hidden from the viewer, reports why, and sends no more of it', async () => {
    const { db } = given.api.deps;
    const ended = async (change: (at: { viewer: Person; id: string; closed: GivenLibrary }) => Promise<unknown>) => {
      const viewer = await given.api.given.member();
      const closed = await givenLibrary(db, 'movies', { everyone: false });
      await db('library_access').insert({ library_id: closed.id, account_id: viewer.accountId });
      const id = await film({}, { age_years: 12 }, closed);
      const { session } = (await given.api.as(viewer).startPlayback({ params: { id }, body: { client } })).body;
      expect(await sweepOnce(db)).to.equal(0);
      await change({ viewer, id, closed });
      expect(await sweepOnce(db)).to.equal(1);
      const params = { id: session.id };
      const reported = await given.api
        .as(viewer)
        .reportPlayback({ params, body: { state: 'playing', positionMs: 70_000 } });
      expect(errorOf(reported).details).to.include({ reason: 'session-stopped' });
      const sent = await given.api.fetch(session.url, { headers: viewer.headers });
      expect(sent.status).to.equal(404);
      const again = await given.api.as(viewer).streamFile({ params: { fileId: session.mediaFileId } });
      expect(again.status).to.equal(404);
      expect(await events(session.id)).to.deep.equal(['playback.started', 'playback.stopped']);
      return errorOf(reported).details['stopReason'];
    };
    const account = (change: object) => (at: { viewer: Person }) =>
      db('accounts').where({ id: at.viewer.accountId }).update(change);
    expect(await ended(({ viewer }) => db('library_access').where({ account_id: viewer.accountId }).delete())).to.equal(
      'limit',
    );
    expect(await ended(account({ age_limit: 6 }))).to.equal('age-limit');
    expect(
      await ended(({ viewer }) =>
        db('profiles')
          .where({ id: viewer.profileId })
          .update({ limits: JSON.stringify({ libraryIds: [] }) }),
      ),
    ).to.equal('limit');
    expect(await ended(({ id }) => db('items').where({ id }).update({ trashed_at: new Date() }))).to.equal('ended');
    expect(
      await ended(({ closed }) => db('libraries').where({ id: closed.id }).update({ deleted_at: new Date() })),
    ).to.equal('ended');
  });

  it('ends the playback of an item whose row is gone with its event, and keeps the position for its return', async () => {
    const { db } = given.api.deps;
    const { id: libraryId } = given.library;
    const id = await film();
    const { session } = (await play(id)).body;
    const params = { id: session.id };
    await given.me.reportPlayback({ params, body: { state: 'playing', positionMs: 500_000 } });
    await db('items').where({ id }).update({ trashed_at: new Date() });
    await db.transaction((transaction) => purgeEntries(transaction, libraryId, [id]));
    await sweepOnce(db);
    const stopped = { state: 'stopped', stopReason: 'ended', positionMs: 500_000, itemId: id };
    expect((await given.me.getPlaybackSession({ params, query: { include: 'item' } })).body).to.include(stopped);
    expect(await events(session.id)).to.deep.equal(['playback.started', 'playback.progress', 'playback.stopped']);
    const reported = await given.me.reportPlayback({ params, body: { state: 'playing', positionMs: 510_000 } });
    expect(errorOf(reported).details).to.include({ reason: 'session-stopped', stopReason: 'ended' });
    const [tombstone] = await db('item_tombstones').where({ item_id: id }).pluck('states');
    expect(tombstone[0]).to.include({ position_ms: 500_000 });
  });

  it('receives changed permissions, and lets a viewer without access still end the session', async () => {
    const { db } = given.api.deps;
    const begun = async () => {
      const viewer = await given.api.given.member();
      const id = await film({}, { age_years: 12 });
      const { session } = (await given.api.as(viewer).startPlayback({ params: { id }, body: { client } })).body;
      await db('accounts').where({ id: viewer.accountId }).update({ age_limit: 6 });
      return { viewer, params: { id: session.id } };
    };
    const own = await begun();
    const requested = { params: own.params, query: { positionMs: 600_000 } };
    expect((await given.api.as(own.viewer).endPlaybackSession(requested)).status).to.equal(204);
    const leaving = new AbortController();
    const sweeping = sweepPlayback(given.api.deps, leaving.signal, HOUR);
    for (const _ of ['when it begins to listen', 'when it hears']) {
      const { viewer, params } = await begun();
      const stopReason = async () => (await given.api.as(viewer).getPlaybackSession({ params })).body.stopReason;
      await eventually(async () => (await stopReason()) === 'age-limit', 60_000);
    }
    leaving.abort();
    await sweeping;
  });

  it('gives the worker of a paused session to others, keeps the session half an hour, and frees it with the session', async () => {
    const { db, redis } = given.api.deps;
    const id = await film({ container: 'avi' });
    const { session } = (await play(id)).body;
    const stream = session.transcodeSessionId ?? '';
    const params = { id: session.id };
    const fetchedAgo = async (seconds: number) =>
      db('transcode_sessions')
        .where({ id: stream })
        .update({ last_access_at: new Date(Date.now() - seconds * 1000) });
    const row = async () => db('transcode_sessions').where({ id: stream }).first();
    await fetchedAgo(100);
    await given.me.reportPlayback({ params, body: { state: 'playing', positionMs: 1000 } });
    await sweepSessions(db);
    expect((await row()).state).to.not.equal('stopped');
    await given.me.reportPlayback({ params, body: { state: 'paused', positionMs: 1000 } });
    expect((await row()).last_access_at.getTime()).to.be.lessThan(Date.now() - 60_000);
    await fetchedAgo(29 * 60);
    await sweepSessions(db);
    expect((await row()).state).to.not.equal('stopped');
    const reported: string[] = [];
    const listener = redis.duplicate();
    await listener.subscribe(`foyer:transcode:want:${stream}`);
    listener.on('message', (_channel, text) => reported.push(text));
    await given.me.endPlaybackSession({ params });
    await eventually(() => reported.includes('stop'));
    listener.disconnect();
    expect((await row()).state).to.equal('stopped');
  });
});
