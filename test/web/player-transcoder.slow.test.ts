// Runs alone: it compares times. The transcoder is killed in the middle of a film that the app plays, and another one begins;
// or no transcoder can read the file.
import { expect } from 'chai';
import type { Api } from '#support/api.ts';
import { bareEnvironment, started, storesOf } from '#support/processes.ts';
import { atEnd, temporaryFolder } from '#support/stores.ts';
import { addFilm, type GivenFilm, playing, shelf } from './support/films.ts';
import { isInTime, isWell, openSignedIn, playsFrom, watchMotion } from './support/player.ts';
import { ownedServer } from './support/server.ts';

const MOST_STILL_MS = 5000;

describe('a transcoder that fails', function () {
  this.timeout(240_000);
  let api: Api;
  let film: GivenFilm;
  let streamed: GivenFilm;

  before(async () => {
    api = await ownedServer();
    const place = await shelf(api);
    film = await addFilm(api, place, { name: 'film.mp4', title: 'Film', seconds: 600, kbits: 2000 });
    streamed = await addFilm(api, place, { name: 'streamed.mkv', title: 'Streamed', seconds: 600, kbits: 2000 });
  });

  /** As the operator starts one in place of another. */
  async function transcoder(): Promise<number> {
    const own = {
      FOYER_MEDIA_ROOTS: JSON.stringify(api.config.mediaRoots),
      FOYER_SCRATCH_DIR: temporaryFolder('transcoder'),
      FOYER_LOG_LEVEL: 'info',
    };
    const env = { ...bareEnvironment(), ...storesOf(api.config), ...own };
    const pid = await started(['workers/transcode/main.ts'], env, 'transcode worker is up');
    atEnd(() => kill(pid));
    return pid;
  }

  function kill(pid: number): void {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // ended before
    }
  }

  /** The sessions end as those whose file no worker could read. */
  const failToRead = (): Promise<unknown> =>
    api.deps
      .db('transcode_sessions')
      .where({ state: 'running' })
      .orWhere({ state: 'idle' })
      .update({
        state: 'failed',
        error: JSON.stringify({ code: 'TRANSCODE_FAILED', reason: 'source-read', segment: 90 }),
      });

  it('leaves the film going on when it is killed, where it is and where the person seeks to', async () => {
    const first = await transcoder();
    const app = await openSignedIn(api.url, `/play/${film.itemId}?t=30`);
    const { page } = app;
    await playsFrom(app, 31);
    await page.keyboard.press('q');
    await page.click('[role=menuitemradio]:last-child');
    await page.waitForSelector('[role=menuitemradio][aria-checked=true]:last-child');
    await page.keyboard.press('Escape');
    await playsFrom(app, 34);
    const motion = await watchMotion(app);
    kill(first);
    for (let i = 0; i < 4; i++) await page.keyboard.press('>');
    const { at } = await playing(page);
    const second = await transcoder();
    await playsFrom(app, at + 90, 90_000); // beyond what the browser had
    const { stillMs, backS, onS } = await motion();
    expect(stillMs).to.be.lessThan(MOST_STILL_MS);
    expect(Math.max(backS, onS)).to.be.lessThan(0.5);
    await isWell(app);
    kill(second);
    await page.keyboard.press('9');
    await transcoder();
    await playsFrom(app, 541);
    await isWell(app);
    await isInTime(app);
    await app.close();
  });

  it('goes on by another session when the file could not be read for a moment', async () => {
    const pid = await transcoder();
    const app = await openSignedIn(api.url, `/play/${streamed.itemId}?t=30`);
    const { page } = app;
    app.expectFault(/500/);
    await playsFrom(app, 31);
    const reopened = page.waitForRequest((request) => /\/items\/[^/]+\/playback$/.test(request.url()));
    await failToRead();
    // As where nothing further is stored: a copy is made faster than the browser reads it.
    const [{ id }] = await api.deps.db('transcode_sessions').where({ state: 'failed' }).select('id');
    const error = {
      code: 'TRANSCODE_FAILED',
      message: 'failed',
      requestId: 'one',
      details: { reason: 'source-read', segment: 90 },
    };
    await page.route(`**/stream/${id}/**/segments/*`, (route) => route.fulfill({ status: 500, json: { error } }));
    await reopened;
    const { at } = await playing(page);
    await playsFrom(app, at + 5);
    await isWell(app);
    await isInTime(app);
    await app.close();
    kill(pid);
  });

  it('shows at once that the file cannot be read, and no other quality is tried', async () => {
    const pid = await transcoder();
    const app = await openSignedIn(api.url, `/play/${streamed.itemId}?t=30`);
    const { page } = app;
    app.expectFault(/500/);
    await playsFrom(app, 31);
    kill(pid);
    await failToRead();
    const requests: string[] = [];
    page.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
    await page.keyboard.press('9');
    const began = Date.now();
    await page.waitForSelector('[role=alert]:has-text("The server cannot read the file")', { timeout: 5000 });
    if (process.env.TIMES) console.log(`    shown after ${Date.now() - began} ms`);
    expect(
      requests.filter((one) => /^(POST|PATCH|PUT) .*playback/.test(one) && !/report|progress|sync/.test(one)),
    ).to.deep.equal([]);
    await app.close();
  });
});
