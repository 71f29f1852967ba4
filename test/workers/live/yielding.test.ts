// Streams that give their slots to recordings, on tuners without a process.
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { tune } from '#platform/live/streams.store.ts';
import { LiveStage } from '#support/live-stage.ts';
import { eventually } from '#support/stores.ts';
import { Recorder } from '#workers/live/recorder/keeper.ts';
import { holdSlot } from '#workers/live/recorder/slot.ts';
import { newPlace, type Place } from '../scan/support.ts';

describe('a stream that yields', () => {
  let place: Place;
  let stage: LiveStage;
  before(async () => {
    place = await newPlace('livetv');
    stage = new LiveStage(place.api);
    await stage.prepare();
  });

  const db = () => place.api.deps.db;
  const streamOf = (channel: string) => db()('live_streams').where({ channel_id: channel }).first();
  const yieldAt = (channel: string, ms: number) =>
    db()('live_streams')
      .where({ channel_id: channel })
      .update({ yields_at: new Date(Date.now() + ms) });
  /** Channels of a tuner of two slots; the first one is waited for. */
  const channels = async (): Promise<[string, string, string]> => {
    const tunerId = await stage.tuner(2);
    const make = () => stage.channel(newId(), [{ tunerId, url: 'http://127.0.0.1:9/' }]);
    const made: [string, string, string] = [await make(), await make(), await make()];
    await db().transaction((tx) => tune(tx, made[0], undefined));
    return made;
  };

  it('keeps its slot while another is free, and gives it once none is', async () => {
    const [watched, first, second] = await channels();
    await yieldAt(watched, -1000);
    expect(await holdSlot(place.work(), first)).to.equal(undefined);
    expect(await streamOf(watched)).to.include({ ended_at: null });
    expect(await holdSlot(place.work(), second)).to.equal(undefined);
    expect(await streamOf(watched)).to.include({ state_reason: 'yielded' });
  });

  it('is the only one that ends where one slot is enough', async () => {
    const [watched, other, recorded] = await channels();
    await db().transaction((tx) => tune(tx, other, undefined));
    await yieldAt(watched, -1000);
    await yieldAt(other, -2000);
    expect(await holdSlot(place.work(), recorded)).to.equal(undefined);
    expect(await streamOf(other)).to.include({ state_reason: 'yielded' });
    expect(await streamOf(watched)).to.include({ ended_at: null });
  });

  it('is notified again for a later recording, once its time has passed', async () => {
    const [watched, first, second] = await channels();
    const times = { start_at: new Date(Date.now() - 1000), end_at: new Date(Date.now() + 600_000) };
    const { accountId } = await place.api.given.member();
    const id = newId();
    await db()('recordings').insert({
      ...{ id, channel_id: first, channel_name: 'One', title: 'News', account_id: accountId, ...times },
      ...{ start_pad_ms: 0, end_pad_ms: 0, library_id: place.libraryId },
      ...{ planned_from: times.start_at, planned_to: times.end_at },
    });
    await yieldAt(watched, -60_000);
    const work = place.work();
    const recorder = new Recorder({ ...work, config: { ...work.config, pod: 'one' } });
    await recorder.look();
    await eventually(() => streamOf(first));
    expect(await streamOf(watched)).to.include({ ended_at: null, yields_at: null });
    expect(await holdSlot(work, second)).to.equal('tuners-busy');
    const at = (await streamOf(watched))?.yields_at?.getTime() ?? 0;
    expect(at - Date.now()).to.be.within(50_000, 61_000);
    await db()('recordings').where({ id }).update({ state: 'cancelled', stop_at: new Date() });
    await eventually(async () => {
      await recorder.look();
      return (await db()('recordings').where({ id }).first('cleared_at'))?.cleared_at;
    });
  });
});
