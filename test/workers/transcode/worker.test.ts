import { type ChildProcess, spawn } from 'node:child_process';
import { copyFileSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { announceWant, offerSession } from '#areas/streaming/sessions/offers.store.ts';
import { findSession, stopSession, sweepSessions, touchSession } from '#areas/streaming/sessions/sessions.store.ts';
import { wantSegment } from '#areas/streaming/sessions/wants.store.ts';
import { film, openSession, type Stage, stage, stored, worker } from '#support/hls-session.ts';
import { bareEnvironment } from '#support/processes.ts';
import { atEnd, eventually, temporaryFolder } from '#support/stores.ts';
import { fixtures } from '../../../hack/fixtures/index.ts';

const root = join(import.meta.dirname, '../../..');

/** Pids of ffmpeg processes that read this file. */
function encodersOf(file: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
        return words[0] === 'ffmpeg' && words.includes(`file:${file}`);
      } catch {
        return false;
      }
    });
}

async function workerProcess(on: Stage): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['workers/transcode/main.ts'], {
    cwd: root,
    env: { ...bareEnvironment(), ...on.environment },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  atEnd(() => child.kill('SIGKILL'));
  return child;
}

describe('transcode worker', function () {
  this.timeout(180_000);
  let made: string;
  before(async function () {
    this.timeout(600_000);
    const shared = await fixtures();
    made = temporaryFolder('made'); // encoders are counted by their path, and other test files play the same films
    for (const name of ['h264-gop40.mp4', 'h264-aac-end.mp4', 'garbage.mkv'])
      copyFileSync(join(shared.made, name), join(made, name));
  });

  it('takes an offer, and makes the required segment first and all behind it', async () => {
    const on = await stage(made);
    const one = worker(on);
    const id = await openSession(on.db, await film(on.db, join(made, 'h264-gop40.mp4')), {
      mode: 'encode',
      startMs: 30_500,
    });
    await offerSession(on.redis, id);
    await stored(on.objects, `${id}/v0/15.m4s`);
    await stored(on.objects, `${id}/v0/19.m4s`);
    await stored(on.objects, `${id}/a0/19.m4s`);
    expect(await on.objects.stat('foyer-transcode', `${id}/v0/14.m4s`)).to.equal(undefined);
    await eventually(async () => (await findSession(on.db, id))?.state === 'idle');
    expect(one.sessions.size).to.equal(0);
    await one.stop();
  });

  it('finds open rows without Redis', async () => {
    const on = await stage(made, { FOYER_REDIS_URL: 'redis://127.0.0.1:1' });
    const one = worker(on);
    const id = await openSession(on.db, await film(on.db, join(made, 'h264-gop40.mp4')), { mode: 'encode' });
    await stored(on.objects, `${id}/v0/0.m4s`);
    await wantSegment(on.db, { id, rendition: 'v0', segment: 12 });
    await stored(on.objects, `${id}/v0/12.m4s`);
    await one.stop();
  });

  it('begins again at a requirement far ahead or behind, with one encoder at a time', async () => {
    const on = await stage(made);
    const path = join(made, 'h264-gop40.mp4');
    const one = worker(on);
    const id = await openSession(on.db, await film(on.db, path), { mode: 'encode', startMs: 20_000, height: 180 });
    await offerSession(on.redis, id);
    await stored(on.objects, `${id}/v0/10.m4s`);
    const want = async (segment: number): Promise<void> => {
      await wantSegment(on.db, { id, rendition: 'v0', segment });
      await announceWant(on.redis, id, { rendition: 'v0', segment });
      await offerSession(on.redis, id);
    };
    await want(2);
    await stored(on.objects, `${id}/v0/2.m4s`);
    expect(encodersOf(path).length).to.be.at.most(1);
    await want(17);
    await stored(on.objects, `${id}/v0/17.m4s`);
    expect(encodersOf(path).length).to.be.at.most(1);
    await one.stop();
    expect(encodersOf(path)).to.deep.equal([]);
  });

  it('continues after kill -9 with another worker at the next missing segment, and leaves no encoder behind', async () => {
    const on = await stage(made, { FOYER_POD: 'first' });
    const path = join(made, 'h264-gop40.mp4');
    const id = await openSession(on.db, await film(on.db, path), { mode: 'encode', height: 180 });
    const first = await workerProcess(on);
    await stored(on.objects, `${id}/v0/0.m4s`);
    first.kill('SIGKILL');
    await eventually(() => encodersOf(path).length === 0);
    const before = await stored(on.objects, `${id}/v0/0.m4s`);
    const missing = await eventually(async () => {
      for (let n = 0; n < 20; n++) if (!(await on.objects.stat('foyer-transcode', `${id}/v0/${n}.m4s`))) return n;
      return 20;
    });
    expect(missing).to.be.lessThan(20);
    await wantSegment(on.db, { id, rendition: 'v0', segment: missing });
    const second = worker(on);
    await stored(on.objects, `${id}/v0/${missing}.m4s`, 30_000);
    expect(await stored(on.objects, `${id}/v0/0.m4s`)).to.deep.equal(before);
    await second.stop();
  });

  it('gives its sessions to others when it is stopped', async () => {
    const on = await stage(made);
    const path = join(made, 'h264-gop40.mp4');
    const id = await openSession(on.db, await film(on.db, path), { mode: 'encode', height: 180 });
    const one = worker(on);
    await stored(on.objects, `${id}/v0/0.m4s`);
    await one.stop();
    const row = await findSession(on.db, id);
    expect(row?.lease_holder).to.equal(null);
    expect(encodersOf(path)).to.deep.equal([]);
  });

  it('stops with the session, whose segments are removed a minute later', async () => {
    const on = await stage(made);
    const path = join(made, 'h264-gop40.mp4');
    const id = await openSession(on.db, await film(on.db, path), { mode: 'encode', height: 180 });
    const one = worker(on);
    await stored(on.objects, `${id}/v0/0.m4s`);
    await stopSession(on.db, id);
    await on.redis.publish(`foyer:transcode:want:${id}`, 'stop');
    await eventually(() => encodersOf(path).length === 0 && one.sessions.size === 0);
    await on
      .db('transcode_sessions')
      .where({ id })
      .update({ stopped_at: new Date(Date.now() - 61_000) });
    await one.sweep();
    expect(await on.objects.stat('foyer-transcode', `${id}/v0/0.m4s`)).to.equal(undefined);
    expect(await sweepSessions(on.db)).to.equal(0);
    await one.stop();
  });

  it('fails with a reason after two faults at the same segment', async () => {
    const on = await stage(made);
    const broken = await film(on.db, join(made, 'h264-aac-end.mp4'));
    const id = await openSession(on.db, broken, { mode: 'encode' });
    await on.db('media_files').update({ path: 'garbage.mkv' }); // the database of this test has one file
    const one = worker(on);
    const row = await eventually(async () => {
      const found = await findSession(on.db, id);
      return found?.state === 'failed' ? found : undefined;
    });
    expect(row.error).to.deep.include({ code: 'TRANSCODE_FAILED', reason: 'decode', segment: 0 });
    await one.stop();
  });

  it('lies idle while the source is unavailable and works once it is back', async () => {
    const on = await stage(made);
    const path = join(made, 'h264-aac-end.mp4');
    const id = await openSession(on.db, await film(on.db, path), { mode: 'encode' });
    const update = (name: string) =>
      on
        .db('transcode_sessions')
        .where({ id })
        .update({ plan: on.db.raw(`jsonb_set(plan, '{source,path}', ?)`, [JSON.stringify(name)]) });
    await update('not-there.mp4');
    const one = worker(on);
    await eventually(async () => (await findSession(on.db, id))?.state === 'idle');
    await update('h264-aac-end.mp4');
    await wantSegment(on.db, { id, rendition: 'v0', segment: 0 });
    await offerSession(on.redis, id);
    await stored(on.objects, `${id}/v0/0.m4s`);
    await one.stop();
  });

  it('kills an encoder that hangs and begins again where it was', async () => {
    const on = await stage(made);
    const path = join(made, 'h264-gop40.mp4');
    const id = await openSession(on.db, await film(on.db, path), { mode: 'encode', height: 180 });
    const one = worker(on);
    const pid = await eventually(() => encodersOf(path)[0]);
    process.kill(pid, 'SIGSTOP');
    const viewer = setInterval(() => void touchSession(on.db, id), 1000);
    await stored(on.objects, `${id}/v0/19.m4s`, 60_000).finally(() => clearInterval(viewer));
    expect(encodersOf(path)).not.to.include(pid);
    expect((await findSession(on.db, id))?.state).not.to.equal('failed');
    await one.stop();
  });

  it('rests when it is 90 seconds ahead and continues as the viewer comes nearer', async () => {
    const real = join((await fixtures()).real, 'video/bbb_full_720p.mp4');
    const far = await stage(join(real, '..'));
    const id = await openSession(far.db, await film(far.db, real), { mode: 'copy', copyAudio: true });
    const one = worker(far);
    await eventually(() => [...one.sessions.values()][0]?.encoding?.resting === true);
    const count = async (): Promise<number> =>
      (await Array.fromAsync(far.objects.list('foyer-transcode', `${id}/v0/`))).length;
    const resting = await eventually(async () => {
      const before = await count(); // produced segments may still be on their way into the store
      await sleep(500);
      return before > 0 && (await count()) === before && before;
    });
    await sleep(500);
    expect(await count()).to.equal(resting);
    await announceWant(far.redis, id, { rendition: 'v0', segment: Math.floor(resting / 2), stored: true });
    await eventually(async () => (await count()) > resting);
    await one.stop();
  });

  it('rests at once where no reader waits any more, and continues where one does', async () => {
    const real = join((await fixtures()).real, 'video/bbb_full_720p.mp4');
    const far = await stage(join(real, '..'));
    const id = await openSession(far.db, await film(far.db, real), { mode: 'encode' });
    const one = worker(far);
    await stored(far.objects, `${id}/v0/0.m4s`);
    const encoding = () => one.sessions.get(id)?.encoding;
    const ahead = { rendition: 'v0', segment: 100 };
    await announceWant(far.redis, id, ahead);
    await eventually(() => encoding()?.from === 100 && !encoding()?.resting);
    await announceWant(far.redis, id, { ...ahead, withdrawn: true });
    await eventually(() => encoding()?.resting);
    await announceWant(far.redis, id, ahead);
    await eventually(() => encoding()?.from === 100 && !encoding()?.resting);
    await one.stop();
  });
});
