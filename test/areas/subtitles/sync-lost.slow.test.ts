import { join } from 'node:path';
import { expect } from 'chai';
import { startApi } from '#support/api.ts';
import { givenLibrary } from '#support/given-items.ts';
import { tool } from '#support/hls-validator.ts';
import { probedFilm } from '#support/probed-film.ts';
import { started, storesOf } from '#support/processes.ts';
import { signal } from '#support/speech-worker.ts';
import { atEnd, eventually, freePort, temporaryFolder } from '#support/stores.ts';
import { linesOf, sidecar } from '#support/timed-texts.ts';

/** Long enough that it is heard for many seconds. */
const SECONDS = 7200;

describe('a subtitle that is fitted while its worker dies', function () {
  this.timeout(300_000);

  it('is taken up by another worker within 30 seconds, joined by its caller, and costs one use', async () => {
    const api = await startApi();
    await api.given.owner();
    const person = await api.given.member();
    const { db, config } = { ...api.deps, config: api.config };
    const file = join(api.mediaRoot, 'Long.mka');
    const silence = ['-f', 'lavfi', '-i', `anullsrc=r=8000:d=${SECONDS}`, '-c:a', 'aac', '-b:a', '8k', file];
    await tool('ffmpeg', ['-v', 'error', ...silence]);
    const film = await probedFilm(api, await givenLibrary(db, 'movies'), file);
    const { ids: params } = await sidecar(api, film, linesOf(7, SECONDS * 1000));

    const pids = new Map<string, number>();
    for (const pod of ['worker-a', 'worker-b']) {
      const own = { FOYER_POD: pod, FOYER_SCRATCH_DIR: temporaryFolder('worker'), FOYER_LOG_LEVEL: 'info' };
      const ports = { FOYER_PORT: String(await freePort()), FOYER_METRICS_PORT: String(await freePort()) };
      const roots = { FOYER_MEDIA_ROOTS: JSON.stringify(config.mediaRoots) };
      const pid = await started(
        ['workers/main.ts'],
        { ...storesOf(config), ...roots, ...own, ...ports },
        'worker is up',
      );
      atEnd(() => signal(pid, 'SIGKILL'));
      pids.set(pod, pid);
    }
    const job = () => db('jobs').where({ kind: 'subtitles.sync' }).first('state', 'worker', 'losses', 'progress');
    const me = api.as(person);
    const fixed = me.autoFixSubtitleTiming({ params });
    const holder = await eventually(async () => {
      const now = await job();
      return now?.state === 'active' && (now.progress ?? 0) > 0 ? (now.worker ?? undefined) : undefined;
    }, 60_000);
    const pid = pids.get(holder);
    if (!pid) throw new Error(`${holder} is none of the workers`);
    signal(pid, 'SIGKILL');
    const since = Date.now();
    await eventually(async () => (await job())?.worker !== holder, 60_000);
    expect(Date.now() - since).to.be.lessThan(30_000);

    let body = (await fixed).body;
    for (let tries = 0; body.outcome === 'running' && tries < 5; tries += 1)
      ({ body } = await me.autoFixSubtitleTiming({ params }));
    expect(body.outcome, JSON.stringify(body)).to.equal('no-match');
    expect(await job()).to.include({ state: 'completed', losses: 1 });
    const uses = await db('subtitle_uses').where({ account_id: person.accountId, given_back_at: null });
    expect(uses).to.have.length(1);
  });
});
