// A tuner that must leave while it records: another one that has the channel goes on.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { listParts } from '#platform/live/parts.ts';
import { segmentEnd } from '#platform/live/segments.ts';
import { tune } from '#platform/live/streams.store.ts';
import { presentTuners, runningTuners } from '#platform/live/tuners.ts';
import { LiveStage } from '#support/live-stage.ts';
import { eventually, temporaryFolder } from '#support/stores.ts';
import { tunerBox } from '#support/tuner-box.ts';
import { gapsMs } from '#workers/live/recorder/coverage.ts';
import { Recorder } from '#workers/live/recorder/keeper.ts';
import { newPlace, type Place } from '../scan/support.ts';

const LIMITS = { leastMs: 3000, settleMs: 12_000, retryMs: 1000 };

describe('a tuner that leaves', function () {
  this.timeout(120_000);
  let place: Place;
  let stage: LiveStage;
  before(async () => {
    place = await newPlace('livetv');
    stage = new LiveStage(place.api);
    await stage.prepare();
  });
  const db = () => place.api.deps.db;
  const record = async (channel: string, seconds: number): Promise<string> => {
    const [id, from] = [newId(), new Date()];
    const to = new Date(from.getTime() + seconds * 1000);
    await db()('recordings').insert({
      ...{ id, channel_id: channel, channel_name: 'One', title: 'Evening', start_at: from, end_at: to },
      ...{ start_pad_ms: 0, end_pad_ms: 0, library_id: place.libraryId, planned_from: from, planned_to: to },
    });
    return id;
  };
  const rounds = async (recorder: Recorder, until: () => Promise<unknown>): Promise<void> => {
    await eventually(async () => {
      await recorder.look();
      await sleep(300);
      return (await until()) ? true : undefined;
    }, 60_000);
  };
  const parts = (id: string) => listParts(place.api.deps, id);

  it('hands its recordings over to a free one that has the channel: few seconds are missing, and they are named', async () => {
    const [first, second] = [await tunerBox('h264', 2), await tunerBox('h264', 1)];
    const [roof, cellar] = [await stage.tuner(2), await stage.tuner(1)];
    const one = await stage.channel('One', [
      { tunerId: roof, url: first.channel('1') },
      { tunerId: cellar, url: second.channel('1') },
    ]);
    const alone = await stage.channel('Alone', [{ tunerId: roof, url: first.channel('2') }]);
    const [leaving] = await Promise.all([stage.process(roof), stage.process(cellar)]);
    const up = async () => (await runningTuners(place.api.deps.redis, [roof, cellar]))?.size === 2;
    await eventually(up, 30_000);
    const recorder = new Recorder(place.work(), LIMITS);
    const [id, other] = [await record(one, 26), await record(alone, 600)];
    await rounds(recorder, async () => (await parts(id)).length > 2 && (await parts(other)).length > 0);
    expect(second.open.size).to.equal(0);
    second.silent.add('1'); // it tunes slowly
    const exit = once(leaving, 'exit');
    leaving.kill('SIGTERM');
    await exit;
    await eventually(() => second.open.has('1'), 3000);
    await sleep(2500);
    second.silent.delete('1');
    expect(first.open.size).to.equal(0);
    const open = await db()('live_streams').where({ ended_at: null }).select('channel_id', 'tuner_id');
    expect(open).to.have.deep.members([
      { channel_id: one, tuner_id: cellar },
      { channel_id: alone, tuner_id: roof }, // for the next process
    ]);
    await rounds(recorder, async () => (await db()('recordings').where({ id }).first())?.ended_at);
    const row = await db()('recordings').where({ id }).first();
    expect(row).to.include({ state: 'completed' });
    const caught = await parts(id);
    const steps = caught.slice(1).map((part, at) => part.startMs - segmentEnd(caught[at] ?? part));
    expect(Math.max(...steps)).to.be.within(2000, 5000);
    expect(gapsMs(row.gaps)).to.be.within(2000, 5000);
    const outages = await db()('live_outages').where({ channel_id: one }).whereNotNull('to_at').select('from_at');
    expect(outages).to.have.lengthOf(1);
    const streams = new Set(caught.map(({ epoch }) => epoch));
    expect(streams.size, 'of both tuners').to.equal(2);
  });

  it('goes on alone until its next process is there', async () => {
    const box = await tunerBox('h264', 1);
    const attic = await stage.tuner(1);
    const two = await stage.channel('Two', [{ tunerId: attic, url: box.channel('1') }]);
    const leaving = await stage.process(attic, { FOYER_TUNER_LEAVE_SECONDS: '20' });
    const recorder = new Recorder(place.work(), LIMITS);
    const id = await record(two, 30);
    await rounds(recorder, async () => (await parts(id)).length > 2);
    const exit = once(leaving, 'exit');
    leaving.kill('SIGTERM');
    await sleep(1000);
    leaving.kill('SIGTERM'); // of its supervisor, after the one of the group
    await eventually(async () => (await runningTuners(place.api.deps.redis, [attic]))?.size === 0, 10_000);
    const present = await presentTuners(place.api.deps.redis, [attic]);
    const viewer = await db().transaction((transaction) => tune(transaction, two, present));
    expect(viewer).to.nested.include({ kind: 'open', 'stream.tuner_id': attic });
    await sleep(1000);
    expect([leaving.exitCode, box.open.size]).to.deep.equal([null, 1]);
    const pod = { FOYER_POD: 'tuner-next', FOYER_TUNER_SPACE: temporaryFolder('next-space') };
    await Promise.all([exit, stage.process(attic, pod)]);
    await rounds(recorder, async () => (await db()('recordings').where({ id }).first())?.ended_at);
    const row = await db()('recordings').where({ id }).first();
    expect(row).to.include({ state: 'completed' });
    expect(gapsMs(row.gaps)).to.be.below(6000);
    expect(box.most, 'never two of one tuner').to.equal(1);
  });
});
