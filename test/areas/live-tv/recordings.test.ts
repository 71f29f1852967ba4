import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import type { TestClient } from '#support/api.ts';
import { givenItem } from '#support/given-items.ts';
import { minute } from '../../workers/live/support.ts';
import { capacity, GIB, RecordingPlace, refusal } from './recording-place.ts';

describe('recordings', function () {
  this.timeout(60_000);
  let place: RecordingPlace;
  before(async () => {
    place = await RecordingPlace.open();
  });
  afterEach(() => place.clear());

  const setting = (values: object) => place.guide.admin.updateSettings({ body: { values } } as never);

  it('plans a programme with the defaults of the server, once, and shows it in the guide', async () => {
    await place
      .db('live_tuners')
      .where({ id: place.tuner })
      .update({ recordings_folder_id: place.guide.library.folderId });
    const body = await place.made('Series');
    expect(body).to.deep.include({
      ...{
        channelId: place.channels.One,
        channelName: 'One',
        title: 'Series',
        episodeTitle: 'Pilot',
        seasonNumber: 1,
      },
      ...{
        startAt: minute(120).toISOString(),
        endAt: minute(180).toISOString(),
        startPadMs: 60_000,
        endPadMs: 180_000,
      },
      ...{ state: 'scheduled', priority: 50, mine: true, ownerUserId: place.person.accountId, tunerId: place.tuner },
      ...{ libraryId: place.guide.library.id, folderId: place.guide.library.folderId, recordedMs: 0, gaps: [] },
    });
    expect(body).to.not.have.any.keys('sizeBytes', 'conflict', 'itemId', 'ruleId', 'keepDays');
    const row = await place.db('recordings').where({ id: body.id }).first();
    expect([row.planned_from, row.planned_to]).to.deep.equal([minute(119), minute(183)]);
    expect(row).to.include({ episode_key: 'title:series/1.1', series_key: 'title:series' });
    const again = await place.record({ programId: await place.program('Series') }, place.guide.admin);
    expect([again.status, again.body.id, again.body.mine]).to.deep.equal([200, body.id, false]);
    const shown = await place.member.getLiveProgram({ params: { id: await place.program('Series') } });
    expect(shown.body.program.recording).to.deep.equal({ id: body.id, state: 'scheduled' });
    expect(shown.body.otherAirings[0]).to.not.have.property('recording');
    const found = await place.member.listLivePrograms({ query: { filter: 'recorded:eq:true' } } as never);
    expect(found.body.items.map(({ title }) => title)).to.deep.equal(['Series']);
    await place.drop(body.id);
    expect((await place.made('Series')).id).to.not.equal(body.id);
  });

  it('starts a programme on air at once, and records a time of a channel under the title of the programme on air', async () => {
    const now = await place.made('On air', { startPadMs: 0, fromBuffer: false, keepDays: 7 });
    expect(now).to.include({ state: 'scheduled', keepDays: 7, startPadMs: 0 });
    const row = await place.db('recordings').where({ id: now.id }).first();
    expect(row.planned_from.getTime()).to.be.below(Date.now());
    const times = {
      channelId: place.channels.One,
      startAt: minute(130).toISOString(),
      endAt: minute(200).toISOString(),
    };
    const timed = await place.record(times);
    expect(timed.body).to.include({ title: 'Series', channelName: 'One' }).and.not.have.property('programId');
    expect((await place.record(times)).body.id).to.equal(timed.body.id);
    const late = { ...times, startAt: minute(2000).toISOString(), endAt: minute(2060).toISOString() };
    expect((await place.record(late)).body.title).to.equal('One');
    expect((await place.record({ ...late, endAt: minute(2090).toISOString(), title: 'Mine' })).body.title).to.equal(
      'Mine',
    );
  });

  it('answers a conflict with its alternatives, notifies the owner, and gives the slot by priority', async () => {
    await place.made('Football');
    const lost = await place.made('Series');
    expect(lost).to.include({ state: 'conflict', stateReason: 'tuners-busy' });
    expect(lost.conflict).to.deep.include({
      slotsNeeded: 2,
      slotsFree: 1,
      with: [(await place.member.listRecordings({ query: { q: 'foot' } })).body.items[0]?.id],
    });
    expect(lost.conflict?.alternatives.map(({ id }) => id)).to.deep.equal([await place.program('Series', 1)]);
    const notices = (): Promise<{ data: { name: string } }[]> =>
      place
        .db('notifications')
        .where({ kind: 'recording-conflict', profile_id: place.person.profileId })
        .orderBy('created_at');
    expect((await notices()).map(({ data }) => data.name)).to.deep.equal(['Series']);
    await place.made('Later');
    expect((await place.read(lost.id)).updatedAt, 'the same conflict is not written again').to.equal(lost.updatedAt);
    expect((await place.change(lost.id, { priority: 80 })).body).to.include({ state: 'scheduled', priority: 80 });
    expect((await place.read(lost.id)).conflict).to.equal(undefined);
    const { body: list } = await place.member.listRecordings({ query: { filter: 'state:eq:conflict' } } as never);
    expect(list.items.map(({ title }) => title)).to.deep.equal(['Football']);
    const { body: status } = await place.member.getLiveStatus({});
    expect(status.dvr).to.deep.include({
      recordingNow: 0,
      scheduled: 2,
      conflicts: 1,
      usedBytes: 0,
      freeBytes: 100 * GIB,
    });
    const moved = await place.change(list.items[0]?.id ?? '', { programId: await place.program('Series', 1) });
    expect(moved.body).to.include({ title: 'Series', state: 'scheduled', channelName: 'Two' });
    expect(refusal(await place.change(moved.body.id, { programId: await place.program('Series') }))).to.deep.equal([
      409,
      'already-planned',
    ]);
  });

  it('refuses what cannot be recorded', async () => {
    const wrong = [
      [{ programId: await place.program('Over') }, 400, 'ended'],
      [{ programId: newId() }, 404, undefined],
      [{ programId: await place.program('Series'), channelId: place.channels.One }, 400, 'one_of'],
      [{ channelId: place.channels.One, startAt: minute(0).toISOString() }, 400, 'one_of'],
      [
        { channelId: place.channels.One, startAt: minute(200).toISOString(), endAt: minute(100).toISOString() },
        400,
        'out_of_range',
      ],
      [
        { channelId: place.channels.One, startAt: minute(0).toISOString(), endAt: minute(1500).toISOString() },
        400,
        'out_of_range',
      ],
      [
        { channelId: place.channels.One, startAt: minute(-90).toISOString(), endAt: minute(-30).toISOString() },
        400,
        'ended',
      ],
      [
        { channelId: place.channels.Coded, startAt: minute(0).toISOString(), endAt: minute(90).toISOString() },
        415,
        'drm',
      ],
      [{ programId: await place.program('Series'), libraryId: place.music.id }, 400, 'unknown_library'],
      [{ programId: await place.program('Series'), folderId: place.music.folderId }, 400, 'unknown_folder'],
      [
        { programId: await place.program('Series'), libraryId: place.films.id, folderId: place.guide.library.folderId },
        400,
        'unknown_folder',
      ],
    ] as const;
    for (const [body, ...expected] of wrong)
      expect(refusal(await place.record(body)), JSON.stringify(body)).to.deep.equal(expected);
    expect(refusal(await place.record({ programId: await place.program('Secret') }, place.guide.admin))).to.deep.equal([
      415,
      'drm',
    ]);
    const series = { programId: await place.program('Series') };
    await place.db('libraries').where({ id: place.films.id }).update({ everyone: false });
    expect(refusal(await place.record({ ...series, libraryId: place.films.id }))).to.deep.equal([
      400,
      'unknown_library',
    ]);
    await place.db('libraries').where({ id: place.films.id }).update({ everyone: true });
    await place.storage(capacity(GIB));
    expect(refusal(await place.record(series))).to.deep.equal([409, 'disk-full']);
    await place.storage({ ...capacity(100 * GIB), read_only: true });
    expect(refusal(await place.record(series))).to.deep.equal([409, 'no-folder']);
    await place.storage({ read_only: false });
    const kept = await place.made('Series', { libraryId: place.films.id });
    expect(kept).to.include({ libraryId: place.films.id, folderId: place.films.folderId });
    await place.set(kept.id, { state: 'completed', size_bytes: GIB });
    await setting({ 'dvr.quotaBytes': GIB });
    expect(refusal(await place.record(series))).to.deep.equal([409, 'disk-full']);
    await setting({ 'dvr.quotaBytes': null, 'dvr.libraryId': place.films.id });
    expect((await place.made('Later')).folderId).to.equal(place.films.folderId);
    await setting({ 'dvr.libraryId': null });
    const { id: _id, ...copy } = await place.db('recordings').where({ id: kept.id }).first();
    const rows = Array.from({ length: 500 }, () => ({
      ...copy,
      id: newId(),
      program_id: null,
      state: 'conflict',
      gaps: '[]',
    }));
    await place.db('recordings').insert(rows);
    expect(refusal(await place.record(series))).to.deep.equal([409, 'recording-limit']);
  });

  it('is for those who may record, and shows recordings to those who see the channel and are old enough', async () => {
    const { api } = place.guide;
    const { given } = api;
    const id = (await place.made('Series')).id;
    const strong = await place.made('Strong');
    const denied = api.as(await given.person('member', { restrictions: JSON.stringify({ record: 'deny' }) }));
    const closed = api.as(await given.person('member', { restrictions: JSON.stringify({ liveTv: 'deny' }) }));
    const series = { programId: await place.program('Series') };
    const restrictionOf = (answer: { body: unknown }) =>
      (answer.body as { error: { details: { restriction?: string } } }).error.details.restriction;
    expect(restrictionOf(await place.record(series, denied))).to.equal('record');
    expect((await denied.getRecording({ params: { id } })).status).to.equal(200);
    for (const answer of [
      await place.record(series, closed),
      await closed.listRecordings({ query: {} }),
      await closed.getRecording({ params: { id } }),
      await place.change(id, {}, closed),
      await place.drop(id, {}, closed),
    ])
      expect([answer.status, restrictionOf(answer as never)]).to.deep.equal([403, 'liveTv']);
    const child = api.as(await given.child(12));
    expect((await place.record(series, child)).status).to.equal(403);
    expect((await place.record(series, api.as(await given.guest()))).status).to.equal(403);
    const titles = (client: TestClient, query: object = {}) => place.titles(query, client);
    expect(await titles(child)).to.deep.equal(['Series']);
    expect((await child.getRecording({ params: { id: strong.id } })).status).to.equal(404);
    const young = api.as(await given.person('member', { age_limit: 12 }));
    const night = {
      channelId: place.channels.One,
      startAt: minute(230).toISOString(),
      endAt: minute(250).toISOString(),
    };
    expect([(await place.record(night, young)).status, (await place.drop(strong.id, {}, young)).status]).to.deep.equal([
      403, 404,
    ]);
    const other = api.as(await given.member());
    expect(await titles(other, { sort: 'title' })).to.deep.equal(['Series', 'Strong']);
    expect(await titles(other, { mine: true })).to.deep.equal([]);
    expect(
      await titles(other, {
        filter: `owner:eq:${place.person.accountId};channel:eq:${place.channels.One};title:contains:ser`,
      }),
    ).to.deep.equal(['Series']);
    expect([
      (await place.change(id, { priority: 1 }, other)).status,
      (await place.drop(id, {}, other)).status,
    ]).to.deep.equal([403, 403]);
    expect((await place.change(id, { priority: 1 }, place.guide.admin)).status).to.equal(200);
    await place.db('libraries').where({ id: place.guide.library.id }).update({ everyone: false });
    expect([await titles(other), await titles(place.guide.admin)]).to.deep.equal([[], ['Strong', 'Series']]);
    expect((await other.getRecording({ params: { id } })).status).to.equal(404);
    await place.db('libraries').where({ id: place.guide.library.id }).update({ everyone: true });
    await place.set(id, { channel_id: null });
    expect([await titles(other), (await titles(place.member)).length]).to.deep.equal([['Strong'], 2]);
    await place.set(id, { item_id: await givenItem(place.db, place.films, { type: 'recording' }) });
    expect((await other.getRecording({ params: { id } })).body).to.include({ id, channelName: 'One' });
  });
});
