import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { type GivenLibrary, givenFile, givenItem } from '#support/given-items.ts';
import { purgeUser } from '#workers/user-purge.ts';
import { minute } from '../../workers/live/support.ts';
import { RecordingPlace, refusal } from './recording-place.ts';

describe('changes of recordings', function () {
  this.timeout(60_000);
  let place: RecordingPlace;
  before(async () => {
    place = await RecordingPlace.open();
  });
  afterEach(() => place.clear());

  /** A recording on air, as the recorder leaves it. */
  const running = async (): Promise<string> => {
    const { id } = await place.made('On air');
    await place.set(id, { state: 'recording', started_at: minute(0), recorded_ms: 90_000, size_bytes: 5_000_000 });
    return id;
  };
  const finished = async (library: GivenLibrary): Promise<{ id: string; itemId: string }> => {
    const id = await running();
    const itemId = await givenItem(place.db, library, { type: 'recording', title: 'On air' });
    await givenFile(place.db, library, itemId, { path: `${id}.mkv` });
    const [{ path }] = await place.db('media_files').where({ item_id: itemId }).select('path');
    const ended = { state: 'partial', state_reason: 'gaps', ended_at: new Date(), finished_at: new Date() };
    const gaps = JSON.stringify([{ from: minute(1).toISOString(), to: minute(2).toISOString(), reason: 'no-signal' }]);
    const file = { file_path: path, file_folder_id: library.folderId };
    await place.set(id, { ...ended, ...file, gaps, item_id: itemId, library_id: library.id });
    return { id, itemId };
  };

  it('moves, pads and keeps a planned one by hand', async () => {
    const { id } = await place.made('Series', { keepDays: 3 });
    const body = { startPadMs: 0, endPadMs: 0, endAt: minute(200).toISOString(), keepDays: null };
    const changed = await place.change(id, { ...body, libraryId: place.films.id });
    expect(changed.body).to.deep.include({
      ...{ startPadMs: 0, endPadMs: 0, endAt: minute(200).toISOString(), libraryId: place.films.id },
      folderId: place.films.folderId,
    });
    expect(changed.body).to.not.have.property('keepDays');
    const row = await place.row(id);
    expect([row.by_hand, row.planned_from, row.planned_to]).to.deep.equal([true, minute(120), minute(200)]);
    expect(refusal(await place.change(id, { endAt: minute(120).toISOString() }))).to.deep.equal([400, 'out_of_range']);
    expect(refusal(await place.change(id, { folderId: place.music.folderId }))).to.deep.equal([400, 'unknown_folder']);
    expect(refusal(await place.change(id, { colour: 1 }))[0]).to.equal(400);
    const moved = await place.change(id, { programId: await place.program('Later') });
    expect(moved.body).to.include({ title: 'Later', endAt: minute(240).toISOString() });
    expect(moved.body).to.not.have.any.keys('episodeTitle', 'seasonNumber');
  });

  it('changes the end, priority and days of a running one, and stops it', async () => {
    const id = await running();
    expect(await place.read(id)).to.include({ state: 'recording', recordedMs: 90_000, sizeBytes: 5_000_000 });
    expect(refusal(await place.change(id, { startPadMs: 0, priority: 1 }))).to.deep.equal([409, 'recording-running']);
    const longer = await place.change(id, { endAt: minute(150).toISOString(), endPadMs: 0, priority: 9, keepDays: 2 });
    expect(longer.body).to.include({ endAt: minute(150).toISOString(), endPadMs: 0, priority: 9, keepDays: 2 });
    expect((await place.row(id)).planned_to).to.deep.equal(minute(150));
    const stopped = await place.change(id, { endAt: new Date(Date.now() - 1000).toISOString() });
    expect(stopped.body).to.include({ state: 'recording', endAt: minute(150).toISOString() });
    expect((await place.row(id)).stop_at).to.be.instanceOf(Date);
  });

  it('shows a running one with the tuner, the status and the sessions, and holds the tuner', async () => {
    const { admin } = place.guide;
    const id = await running();
    const channelId = place.channels.One;
    const stream = { id: newId(), channel_id: channelId, tuner_id: place.tuner, slot: 0, epoch: 0, state: 'live' };
    await place.db('live_streams').insert({ ...stream, recorded_until: minute(120), yields_at: minute(30) });
    const { body: tuner } = await admin.getTuner({ params: { id: place.tuner } });
    expect(tuner.slots[0]).to.include({ channelId, recordings: 1, viewers: 0 });
    const { body: status } = await place.member.getLiveStatus({});
    expect(status.dvr).to.include({ recordingNow: 1, usedBytes: 5_000_000 });
    const session = { id: newId(), item_id: channelId, file_id: newId(), library_id: place.guide.library.id, url: '' };
    await place.db('playback_sessions').insert({
      ...{ ...session, account_id: place.person.accountId, profile_id: place.person.profileId },
      ...{ method: 'direct_stream', decision: '{}', live: JSON.stringify({ channelId, rendition: 'source' }) },
    });
    const { body: watched } = await place.member.getLiveSession({ params: { id: session.id } });
    expect(watched)
      .to.include({ recordingId: id, yieldsAt: minute(30).toISOString() })
      .and.not.have.property('tuner');
    await place.db('playback_sessions').delete();
    const off = await admin.updateTuner({ params: { id: place.tuner }, body: { enabled: false } } as never);
    const gone = await admin.deleteTuner({ params: { id: place.tuner }, query: {} });
    for (const answer of [off, gone]) {
      expect(refusal(answer)).to.deep.equal([409, 'tuner-in-use']);
      const { details } = (answer.body as unknown as { error: { details: object } }).error;
      expect(details).to.include({ viewers: 0, recordings: 1 });
    }
    const busy = await place.member.watchLiveChannel({
      params: { id: place.channels.Two ?? '' },
      body: { client: { builtIn: 'chromium' } },
    });
    const { details } = (busy.body as unknown as { error: { details: { inUse: object[] } } }).error;
    const { planned_to: end } = await place.row(id);
    expect([busy.status, details.inUse]).to.deep.equal([
      409,
      [{ channelName: 'One', viewers: 0, recording: true, freeAt: end.toISOString() }],
    ]);
    await place.db('live_streams').delete();
  });

  it('cancels a planned one, and discards a running one', async () => {
    const { id } = await place.made('Series');
    expect((await place.drop(id)).status).to.equal(204);
    expect(await place.read(id))
      .to.include({ state: 'cancelled' })
      .and.not.have.property('stateReason');
    expect(refusal(await place.change(id, { priority: 1 }))).to.deep.equal([409, 'recording-finished']);
    const guide = await place.member.getLiveProgram({ params: { id: await place.program('Series') } });
    expect(guide.body.program).to.not.have.property('recording');
    expect(await place.titles({ filter: 'state:eq:cancelled' })).to.deep.equal(['Series']);
    expect([(await place.drop(id)).status, (await place.drop(id)).status]).to.deep.equal([204, 404]);
    const air = await running();
    await place.drop(air);
    const row = await place.row(air);
    expect([row.state, row.stop_at instanceof Date]).to.deep.equal(['cancelled', true]);
    expect((await place.drop(newId())).status).to.equal(404);
  });

  it('changes only the days of a finished one, and takes it from the list with or without its file', async () => {
    const { id, itemId } = await finished(place.films);
    const shown = await place.read(id);
    expect(shown).to.deep.include({
      ...{ state: 'partial', stateReason: 'gaps', itemId },
      gaps: [{ from: minute(1).toISOString(), to: minute(2).toISOString() }],
    });
    expect(refusal(await place.change(id, { priority: 1 }))).to.deep.equal([409, 'recording-finished']);
    expect((await place.change(id, { keepDays: 9 })).body).to.include({ keepDays: 9 });
    expect(refusal(await place.drop(id, { deleteFile: true }))).to.deep.equal([409, 'file-deletion-off']);
    expect((await place.drop(id)).status).to.equal(204);
    expect([(await place.member.getRecording({ params: { id } })).status, await place.titles()]).to.deep.equal([
      404,
      [],
    ]);
    expect(await place.row(id)).to.include({ keep_days: null, state: 'partial' });
    const item = (one: string) => place.db('items').where({ id: one }).first();
    expect((await item(itemId)).trashed_at).to.equal(null);
    const settings = JSON.stringify({ fileDeletion: true });
    await place.db('libraries').where({ id: place.films.id }).update({ settings });
    const second = await finished(place.films);
    expect((await place.drop(second.id, { deleteFile: true })).status).to.equal(204);
    expect((await item(second.itemId)).trashed_at).to.be.instanceOf(Date);
    expect(await place.db('trashed_files').whereLike('path', `%${second.id}.mkv`)).to.have.lengthOf(1);
    const events = await place.db('outbox').where({ event: 'item.deleted' });
    expect(events.map(({ payload }) => payload.itemId)).to.deep.equal([second.itemId]);
    const joining = await finished(place.films);
    await place.set(joining.id, { finished_at: null });
    await place.drop(joining.id, { deleteFile: true });
    expect(await place.row(joining.id)).to.include({ state: 'cancelled' });
  });

  it('switches the rules of a deleted account off, and cancels what it planned', async () => {
    const { given } = place.guide.api;
    const leaver = await given.member();
    const client = place.guide.api.as(leaver);
    const { id } = await place.made('Series', {}, client);
    const rule = newId();
    await place.db('recording_rules').insert({
      ...{ id: rule, account_id: leaver.accountId, name: 'Series', match: 'title:eq:series', start_pad_ms: 0 },
      ...{ end_pad_ms: 0, library_id: place.films.id },
    });
    await place.db('accounts').where({ id: leaver.accountId }).update({ deleted_at: new Date() });
    await purgeUser({ accountId: leaver.accountId }, place.guide.work());
    expect(await place.db('recording_rules').where({ id: rule }).first()).to.include({
      enabled: false,
      account_id: null,
    });
    expect(await place.row(id)).to.include({ state: 'cancelled', account_id: null });
    expect(await place.read(id))
      .to.include({ mine: false })
      .and.not.have.property('ownerUserId');
  });
});
