import { type ChildProcess, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import type { RecordingRow } from '#areas/live-tv/public.ts';
import { newId } from '#platform/ids.ts';
import { listParts, partKey } from '#platform/live/parts.ts';
import { keepStreamWanted, tune } from '#platform/live/streams.store.ts';
import { runningTuners } from '#platform/live/tuners.ts';
import { saveSettings } from '#platform/settings.ts';
import { parseCues } from '#platform/subtitles/cues.ts';
import { CaptionScript, line21, withCaptions } from '#support/captions.ts';
import { LiveStage } from '#support/live-stage.ts';
import { eventually } from '#support/stores.ts';
import { broadcast, type TunerBox, tunerBox } from '#support/tuner-box.ts';
import { CaptionReader } from '#workers/captions/reader.ts';
import { finishLiveRecording } from '#workers/live/finish/finish.ts';
import { gapsMs } from '#workers/live/recorder/coverage.ts';
import { Recorder } from '#workers/live/recorder/keeper.ts';
import { scanLibrary } from '#workers/scan/engine/scan-library.ts';
import { Postponed } from '#workers/work.ts';
import { newPlace, type Place } from '../scan/support.ts';
import { attemptsOf } from './support.ts';

const LIMITS = { leastMs: 3000, settleMs: 12_000, retryMs: 1000 };

/** The track of a recording has the captions of its pictures, at their times. */
function expectCaptions(path: string): void {
  const ffmpeg = (...args: string[]): Buffer =>
    execFileSync('ffmpeg', ['-v', 'error', '-copyts', '-i', path, ...args, '-']);
  const pictures = ffmpeg('-map', '0:v', '-c', 'copy', '-muxdelay', '0', '-muxpreload', '0', '-f', 'mpegts');
  const reader = new CaptionReader();
  reader.push(pictures);
  reader.end();
  const shown = reader.take('cc1', 60_000);
  const kept = parseCues(ffmpeg('-map', '0:s:0', '-f', 'srt').toString(), 'srt');
  expect(kept.length).to.be.above(0);
  for (const { text, startMs } of kept.slice(1)) {
    const nearest = shown
      .filter((one) => one.text.replace('<', '‹').replace('>', '›') === text)
      .map((one) => Math.abs(one.startMs - startMs));
    expect(Math.min(...nearest), text).to.be.below(300);
  }
  expect(kept.some(({ text }) => text === 'NEWS ‹AT› NINE')).to.equal(true);
  expect(kept.find(({ text }) => text === 'WEATHER')).to.include({ settings: 'line:0' });
}

describe('the recorder', function () {
  this.timeout(120_000);
  let place: Place;
  let stage: LiveStage;
  let box: TunerBox;
  let roof: string;
  let one: string;
  let two: string;
  let tuner: ChildProcess;
  let account: string;

  const recorderOf = (pod: string): Recorder => {
    const work = place.work();
    return new Recorder({ ...work, config: { ...work.config, pod } }, LIMITS);
  };
  /** From so many seconds ago, or ahead, for so many. */
  const plan = async (
    channel: string,
    [from, seconds]: [from: number, seconds: number],
    more: object = {},
  ): Promise<string> => {
    const id = newId();
    const start = Date.now() + from * 1000;
    const times = { start_at: new Date(start), end_at: new Date(start + seconds * 1000) };
    await place.api.deps.db('recordings').insert({
      ...{ id, channel_id: channel, channel_name: 'One', title: 'Evening: News', account_id: account },
      ...{ ...times, start_pad_ms: 0, end_pad_ms: 0, library_id: place.libraryId },
      ...{ planned_from: times.start_at, planned_to: times.end_at, created_at: new Date(start - 1000) },
      ...more,
    });
    return id;
  };
  const row = async (id: string): Promise<RecordingRow> => {
    const found = await place.api.deps.db('recordings').where({ id }).first();
    if (!found) throw new Error('no row');
    return found;
  };
  const rounds = async (recorder: Recorder, until: () => Promise<unknown>): Promise<void> => {
    await eventually(async () => {
      await recorder.look();
      await sleep(400);
      return (await until()) ? true : undefined;
    }, 60_000);
  };
  const ended = async (id: string): Promise<boolean> => (await row(id)).ended_at !== null;
  const seconds = ({ recorded_ms: ms }: RecordingRow): number => Number(ms) / 1000;
  const parts = (id: string) => listParts(place.api.deps, id);
  const files = (): string[] =>
    readdirSync(place.path, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.mkv'));
  const finish = async (id: string, attempt = attemptsOf(() => place.work())): Promise<void> => {
    const { db } = place.api.deps;
    for (let round = 0; round < 6; round += 1) {
      try {
        await finishLiveRecording({ recordingId: id }, attempt());
        return;
      } catch (error) {
        if (!(error instanceof Postponed)) throw error;
        const queued = await db('scans').where({ library_id: place.libraryId, state: 'queued' }).first('id');
        if (!queued) throw error;
        await scanLibrary({ libraryId: place.libraryId, scanId: queued.id }, place.work(), { settleMs: 0 });
      }
    }
  };

  before(async () => {
    place = await newPlace('livetv');
    const { api } = place;
    account = (await api.given.member()).accountId;
    stage = new LiveStage(api);
    await stage.prepare();
    const script = new CaptionScript()
      .field(500, line21.popOn('NEWS <AT> NINE'))
      .field(5000, line21.popOn('WEATHER', 1));
    box = await tunerBox(
      withCaptions(broadcast('h264'), (atMs) => script.at(atMs)),
      1,
    );
    roof = await stage.tuner(1);
    one = await stage.channel('One', [{ tunerId: roof, url: box.channel('1') }]);
    two = await stage.channel('Two', [{ tunerId: roof, url: box.channel('2') }]);
    tuner = await stage.process(roof);
    await eventually(async () => (await runningTuners(api.deps.redis, [roof]))?.size === 1, 30_000);
  });

  it('takes the shared stream, and its file becomes an item of the library', async () => {
    const id = await plan(one, [0, 10]);
    await rounds(recorderOf('a'), () => ended(id));
    const caught = await row(id);
    expect(caught).to.include({ state: 'completed', state_reason: null });
    expect(gapsMs(caught.gaps)).to.be.lessThan(10_000);
    expect(seconds(caught)).to.be.within(6, 18);
    expect(box.most).to.equal(1);
    const { db, settings } = place.api.deps;
    await saveSettings(db, { 'dvr.detectCommercials': true }, null);
    await settings.reload();
    await finish(id);
    const done = await row(id);
    const file = await db('media_files')
      .where({ item_id: done.item_id ?? '' })
      .first('id');
    const looking = await db('jobs').where({ kind: 'live.commercials' }).select('payload');
    expect(looking).to.deep.equal([{ payload: { fileId: file?.id } }]);
    await saveSettings(db, { 'dvr.detectCommercials': false }, null);
    await settings.reload();
    expect(done.cleared_at).to.not.equal(null);
    expect(await parts(id)).to.deep.equal([]);
    const [name = '', ...others] = files();
    expect(others).to.deep.equal([]);
    expect(name).to.match(/^Evening_ News - \d{4}-\d\d-\d\d \d\d\.\d\d\.mkv$/);
    const shown = execFileSync('ffprobe', [
      '-v',
      'error',
      '-show_entries',
      'format=duration',
      '-of',
      'csv=p=0',
      join(place.path, name),
    ]);
    expect(Number(shown)).to.be.within(seconds(caught) - 1, seconds(caught) + 1);
    expectCaptions(join(place.path, name));
    const texts = await place.api.deps
      .db('media_streams')
      .whereIn('file_id', place.api.deps.db('media_files').where({ item_id: done.item_id }).select('id'))
      .where({ kind: 'subtitle' });
    expect(texts.map(({ codec, hearing_impaired: impaired }) => [codec, impaired])).to.deep.equal([['subrip', true]]);
    const item = await place.api.deps
      .db('items')
      .where({ id: done.item_id ?? '' })
      .first();
    expect(item).to.include({ type: 'recording', library_id: place.libraryId });
    const channel = await place.api.deps.db('items').where({ id: one }).first();
    expect(channel?.trashed_at).to.equal(null);
  });

  it('has the first picture of its programme: the channel is tuned a few seconds before', async () => {
    const { db } = place.api.deps;
    await db('live_streams').where({ ended_at: null }).update({ ended_at: new Date(), state: 'ended' });
    const id = await plan(one, [9, 6]);
    await rounds(recorderOf('ahead'), () => ended(id));
    const caught = await row(id);
    expect(caught).to.include({ state: 'completed', state_reason: null });
    expect(caught.gaps).to.deep.equal([]);
    const [first] = await parts(id);
    expect(first?.startMs).to.be.at.most(caught.start_at.getTime() + 200);
    expect(caught.started_at?.getTime()).to.be.at.least(caught.start_at.getTime());
  });

  it('loses nothing when its worker is killed, and records neighbours on one channel in one slot', async () => {
    const [id, next] = [await plan(one, [0, 24]), await plan(one, [23, 8])];
    const first = recorderOf('b');
    await rounds(first, async () => (await parts(id)).length > 1);
    // It is killed here: another worker finds its lease run out, and what it needs in the stores.
    await rounds(recorderOf('c'), async () => (await ended(id)) && (await ended(next)));
    const caught = await row(id);
    expect(caught.state).to.equal('completed');
    expect(caught.gaps).to.deep.equal([]);
    expect(seconds(caught)).to.be.greaterThan(23);
    expect((await row(next)).state).to.equal('completed');
    expect(box.most).to.equal(1);
  });

  it('goes on after its tuner was killed, and names its gaps', async () => {
    const id = await plan(one, [0, 24]);
    const recorder = recorderOf('d');
    await rounds(recorder, async () => (await parts(id)).length > 2);
    const children = readFileSync(`/proc/${tuner.pid}/task/${tuner.pid}/children`, 'utf8').trim().split(' ');
    for (const child of children) process.kill(Number(child), 'SIGKILL');
    await rounds(recorder, () => ended(id));
    const caught = await row(id);
    expect(caught.state).to.be.oneOf(['completed', 'partial']);
    expect(gapsMs(caught.gaps)).to.be.within(200, 12_000);
    expect(seconds(caught) + gapsMs(caught.gaps) / 1000).to.be.within(22, 32);
    await finish(id);
    expect((await row(id)).cleared_at).to.not.equal(null);
  });

  it('stops at once, discards a cancelled recording, and makes one file however often live.finish is killed', async () => {
    const { db } = place.api.deps;
    const [id, dropped] = [await plan(one, [0, 600]), await plan(one, [0, 600], { title: 'Dropped' })];
    const recorder = recorderOf('e');
    await rounds(recorder, async () => (await parts(id)).length > 3 && (await parts(dropped)).length > 1);
    await db('recordings').where({ id }).update({ stop_at: new Date() });
    await db('recordings').where({ id: dropped }).update({ state: 'cancelled', stop_at: new Date() });
    await rounds(recorder, async () => (await ended(id)) && (await row(dropped)).cleared_at !== null);
    expect(await row(id)).to.include({ state: 'partial', state_reason: 'stopped' });
    expect(await parts(dropped)).to.deep.equal([]);
    const before = files();
    // Killed after the row was written and before the file appeared; the name is taken since.
    await db('recordings').where({ id }).update({ file_path: 'never.mkv' });
    const attempt = attemptsOf(() => place.work());
    const killed = finishLiveRecording({ recordingId: id }, attempt());
    expect(await killed.catch((error: unknown) => error instanceof Postponed)).to.equal(true);
    const placed = files().filter((name) => !before.includes(name));
    expect(placed).to.have.lengthOf(1);
    await finish(id, attempt);
    expect(files().filter((name) => !before.includes(name))).to.deep.equal(placed);
    expect(readdirSync(place.path)).to.not.include('.foyer-recordings');
  });

  it('keeps parts that cannot be joined until their recording is deleted, with or without its file', async () => {
    const { db, objects } = place.api.deps;
    const owner = place.api.as(await place.api.given.owner());
    for (const deleteFile of [false, true]) {
      const id = await plan(one, [-60, 30], { state: 'partial', ended_at: new Date(), recorded_ms: 8000 });
      const part = {
        sequence: 1,
        epoch: 0,
        startMs: Date.now(),
        durationMs: 4000,
        bytes: 5,
        discontinuity: 0,
        streamId: newId(),
      };
      await objects.put('foyer-recordings', partKey(id, part), Buffer.from('noise'));
      const failed = await finishLiveRecording({ recordingId: id }, place.work()).catch((error: unknown) => error);
      expect(failed).to.include({ code: 'UNJOINABLE' });
      expect(await parts(id)).to.have.lengthOf(1);
      expect((await owner.deleteRecording({ params: { id }, query: { deleteFile } })).status).to.equal(204);
      if (deleteFile) await rounds(recorderOf('h'), async () => (await row(id)).cleared_at);
      else {
        const job = await db('jobs')
          .where({ key: `live.finish:${id}` })
          .first('state');
        expect(job?.state).to.equal('waiting');
        await finishLiveRecording({ recordingId: id }, place.work()).catch(() => undefined);
      }
      expect(await parts(id)).to.deep.equal([]);
      expect((await row(id)).cleared_at).to.not.equal(null);
    }
  });

  it('waits for a slot, and says why it has none', async () => {
    const { db } = place.api.deps;
    await eventually(async () => {
      const tuned = await db.transaction((tx) => tune(tx, two, undefined));
      return tuned.kind === 'open';
    }, 60_000);
    const id = await plan(one, [0, 8]);
    const recorder = recorderOf('f');
    let reason: string | null = null;
    await rounds(recorder, async () => {
      await keepStreamWanted(db, two, 'recording');
      reason ??= (await row(id)).state_reason;
      return ended(id);
    });
    expect(reason).to.equal('tuners-busy');
    expect(await row(id)).to.include({ state: 'failed', state_reason: 'tuners-busy' });
    const notices = await db('notifications').where({ kind: 'recording-failed' }).select('id');
    expect(notices).to.have.lengthOf(1);
  });

  it('takes the slot of a viewer, who is notified a minute before', async () => {
    const { db } = place.api.deps;
    await db('live_streams').where({ ended_at: null }).update({ ended_at: new Date(), state: 'ended' });
    const person = await place.api.given.member();
    const viewer = place.api.as(person);
    const { body } = await viewer.watchLiveChannel({ params: { id: two }, body: { client: { builtIn: 'chromium' } } });
    const id = await plan(one, [0, 40]);
    const recorder = recorderOf('g');
    const stream = () => db('live_streams').where({ channel_id: two, ended_at: null }).first();
    await rounds(recorder, async () => (await stream())?.yields_at);
    const at = (await stream())?.yields_at?.getTime() ?? 0;
    expect(at - Date.now()).to.be.within(40_000, 61_000);
    const notices = await db('notifications').where({ kind: 'live-yielding' }).pluck('profile_id');
    expect(notices).to.deep.equal([person.profileId]);
    expect(await parts(id)).to.deep.equal([]);
    await db('live_streams').where({ channel_id: two, ended_at: null }).update({ yields_at: new Date() });
    await rounds(recorder, async () => (await parts(id)).length > 0);
    const session = await db('playback_sessions').where({ id: body.session.id }).first();
    expect(session).to.include({ state: 'stopped', stop_reason: 'limit' });
    await db('recordings').where({ id }).update({ state: 'cancelled', stop_at: new Date() });
    await rounds(recorder, async () => (await row(id)).cleared_at);
  });
});
