// Tuners on machines whose clocks are wrong: recordings begin and end by the time of the database.
import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { newId } from '#platform/ids.ts';
import { listParts } from '#platform/live/parts.ts';
import { segmentEnd } from '#platform/live/segments.ts';
import { runningTuners } from '#platform/live/tuners.ts';
import { requirePrograms } from '#support/debian.ts';
import { LiveStage } from '#support/live-stage.ts';
import { eventually } from '#support/stores.ts';
import { tunerBox } from '#support/tuner-box.ts';
import { gapsMs } from '#workers/live/recorder/coverage.ts';
import { Recorder } from '#workers/live/recorder/keeper.ts';
import { newPlace, type Place } from '../scan/support.ts';

const LIMITS = { leastMs: 3000, settleMs: 12_000, retryMs: 1000 };
const PRELOADED = '/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1';
const SECONDS = 16;

describe('a tuner whose clock is wrong', function () {
  this.timeout(180_000);
  let place: Place;
  let stage: LiveStage;
  before(async () => {
    requirePrograms({ faketime: 'faketime' });
    expect(existsSync(PRELOADED)).to.equal(true);
    place = await newPlace('livetv');
    stage = new LiveStage(place.api);
    await stage.prepare();
  });

  for (const off of ['-1h', '+1h'])
    it(`records by the time of the database: ${off}`, async () => {
      const { db, redis } = place.api.deps;
      const box = await tunerBox('h264', 1);
      const roof = await stage.tuner(1);
      const channel = await stage.channel(`Channel ${off}`, [{ tunerId: roof, url: box.channel('1') }]);
      const fake = { LD_PRELOAD: PRELOADED, FAKETIME: off, FAKETIME_DONT_FAKE_MONOTONIC: '1' };
      await stage.process(roof, fake);
      await eventually(async () => (await runningTuners(redis, [roof]))?.has(roof), 30_000);
      const id = newId();
      const from = new Date(Date.now() + 4000);
      const to = new Date(from.getTime() + SECONDS * 1000);
      await db('recordings').insert({
        ...{ id, channel_id: channel, channel_name: 'One', title: 'Evening', start_at: from, end_at: to },
        ...{ start_pad_ms: 0, end_pad_ms: 0, library_id: place.libraryId, planned_from: from, planned_to: to },
      });
      const recorder = new Recorder(place.work(), LIMITS);
      const row = () => db('recordings').where({ id }).first();
      await eventually(async () => {
        await recorder.look();
        await sleep(300);
        return (await row())?.ended_at;
      }, 90_000);
      const done = await row();
      expect(done).to.include({ state: 'completed', state_reason: null });
      expect((done?.started_at?.getTime() ?? 0) - from.getTime(), 'begins').to.be.within(0, 2000);
      expect(gapsMs(done.gaps)).to.be.below(6000);
      const parts = await listParts(place.api.deps, id);
      expect(parts[0]?.startMs).to.be.within(from.getTime() - 5000, to.getTime());
      const last = parts.at(-1);
      expect(last && segmentEnd(last)).to.be.within(to.getTime() - 2000, to.getTime() + 6000);
    });
});
