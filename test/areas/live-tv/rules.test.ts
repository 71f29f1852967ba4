import { expect } from 'chai';
import { scheduleRecordings } from '#workers/live/schedule/schedule.ts';
import type { Work } from '#workers/work.ts';
import { RecordingPlace, refusal } from './recording-place.ts';

describe('recording rules', function () {
  this.timeout(60_000);
  let place: RecordingPlace;
  before(async () => {
    place = await RecordingPlace.open();
  });

  const create = (body: object, client = place.member) => client.createRecordingRule({ body } as never);
  const made = async (body: object) => {
    const answer = await create(body);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(201);
    return answer.body;
  };
  const drop = (id: string, client = place.member) => client.deleteRecordingRule({ params: { id } });
  const change = (id: string, body: object, client = place.member) =>
    client.updateRecordingRule({ params: { id }, body } as never);
  const planned = async (): Promise<string[]> =>
    place.titles({ filter: 'state:in:scheduled,conflict', sort: 'startAt' });

  it('take an episode once, and save nothing in a dry run', async () => {
    const programId = await place.program('Series');
    const later = await place.program('Series', 1);
    const dry = await create({ programId, dryRun: true });
    expect(dry.status).to.equal(200);
    expect(dry.body.upcoming.map(({ title }) => title)).to.deep.equal(['Series']);
    expect(dry.body.skipped).to.deep.equal([{ programId: later, reason: 'duplicate' }]);
    expect(await planned()).to.deep.equal([]);
    expect((await place.member.listRecordingRules()).body.items).to.deep.equal([]);
    const { rule, upcoming } = await made({ programId, priority: 70, startPadMs: 0 });
    expect(rule).to.deep.include({ name: 'Series', enabled: true, mine: true, upcoming: 1, newOnly: true });
    expect(upcoming[0]).to.deep.include({
      ruleId: rule.id,
      priority: 70,
      startPadMs: 0,
      state: 'scheduled',
      mine: true,
    });
    expect(await planned()).to.deep.equal(['Series']);
    await drop(rule.id);
    expect(await planned()).to.deep.equal([]);
  });

  it('leave out an airing that a person cancelled, and what a library has', async () => {
    const { rule, upcoming } = await made({ match: 'title:eq:Series' });
    const [first] = upcoming;
    await place.drop(first?.id ?? '');
    await change(rule.id, { priority: 60 });
    const detail = (await place.member.getRecordingRule({ params: { id: rule.id } })).body;
    expect(detail.upcoming.map(({ programId }) => programId)).to.deep.equal([await place.program('Series', 1)]);
    await place.db('recordings').where({ rule_id: rule.id, state: 'scheduled' }).update({ state: 'completed' });
    const again = await change(rule.id, { priority: 61 });
    expect(again.body.upcoming).to.deep.equal([]);
    expect(again.body.rule.recorded).to.equal(1);
    await drop(rule.id);
    await place.db('recordings').delete();
  });

  it('record by channel, day and hour, and keep to their limits', async () => {
    const { One, Two } = place.channels;
    const all = await made({ match: 'title:contains:a', channelIds: [One], maxUpcoming: 1 });
    expect(all.rule.upcoming).to.equal(1);
    expect(all.skipped.map(({ reason }) => reason)).to.include('limit');
    const { body } = await change(all.rule.id, { channelIds: [Two], maxUpcoming: 50 });
    expect(body.upcoming.map(({ title }) => title)).to.deep.equal(['Football']);
    const start = new Date(body.upcoming[0]?.startAt ?? '');
    const zone = place.guide.api.deps.settings.get('server.timeZone');
    const clock = (ms: number): string =>
      new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: '2-digit', minute: '2-digit' }).format(
        new Date(start.getTime() + ms),
      );
    // A window over midnight belongs to the day on which it begins.
    const day = new Intl.DateTimeFormat('en-GB', { timeZone: zone, weekday: 'short' })
      .format(start.getTime() - 60_000)
      .toLowerCase();
    const within = await change(all.rule.id, { days: [day], from: clock(-60_000), to: clock(60_000) });
    expect(within.body.upcoming).to.have.lengthOf(1);
    const outside = await change(all.rule.id, { from: clock(3_600_000), to: clock(7_200_000) });
    expect(outside.body.upcoming).to.deep.equal([]);
    expect((await change(all.rule.id, { from: null, to: null, enabled: false })).body.upcoming).to.deep.equal([]);
    await drop(all.rule.id);
  });

  it('belong to their account, and refuse a rule that is not valid', async () => {
    const { api } = place.guide;
    const other = api.as(await api.given.member());
    const guest = api.as(await api.given.guest());
    const { rule } = await made({ match: 'category:eq:News' });
    expect((await other.getRecordingRule({ params: { id: rule.id } })).status).to.equal(200);
    expect((await change(rule.id, { priority: 1 }, other)).status).to.equal(403);
    expect((await drop(rule.id, other)).status).to.equal(403);
    expect((await create({ match: 'title:eq:Series' }, guest)).status).to.equal(403);
    expect(refusal(await create({ match: 'kind:eq:movie' }))).to.deep.equal([400, 'too_wide']);
    expect(refusal(await create({ match: 'nothing' }))[0]).to.equal(400);
    expect(refusal(await create({}))).to.deep.equal([400, 'one_of']);
    expect((await change(rule.id, { ownerUserId: rule.ownerUserId })).status).to.equal(403);
    await drop(rule.id);
  });

  it('follow the guide by live.schedule: a moved programme takes its recording along, a vanished one keeps its time', async () => {
    const { deps } = place.guide.api;
    const { rule, upcoming } = await made({ match: 'title:eq:Football' });
    const [football] = upcoming;
    const kept = await place.made('Later');
    const moved = new Date(Date.parse(football?.startAt ?? '') + 1_800_000);
    await place
      .db('guide_programs')
      .where({ id: football?.programId ?? '' })
      .update({
        ...{ start_at: moved, end_at: new Date(moved.getTime() + 1_800_000) },
      });
    await place
      .db('guide_programs')
      .where({ id: kept.programId ?? '' })
      .delete();
    const work = { ...deps, signal: AbortSignal.timeout(20_000) } as unknown as Work;
    await scheduleRecordings({}, work);
    expect((await place.read(football?.id ?? '')).startAt).to.equal(moved.toISOString());
    expect(await place.read(kept.id)).to.include({ startAt: kept.startAt, stateReason: 'programme-gone' });
    const { body } = await place.member.getRecordingSchedule({ query: {} });
    expect(body.items.map(({ recording }) => recording.title)).to.have.members(['Football', 'Later']);
    expect(body.slots).to.deep.equal([{ tunerId: place.tuner, slotCount: 1 }]);
    const child = place.guide.api.as(await place.guide.api.given.child(12));
    expect((await child.getRecordingSchedule({ query: {} })).body.items).to.have.lengthOf(2);
    await drop(rule.id);
  });
});
