// Runs alone: the browser, the transcoder and ffmpeg share the cores, and it compares times.
// The film goes on when a pod is killed, the network is cut or the computer sleeps, and the position is not lost.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api } from '#support/api.ts';
import { type Stage, worker } from '#support/hls-session.ts';
import { startApiProcess } from '#support/processes.ts';
import { eventually } from '#support/stores.ts';
import { balancer } from './support/balancer.ts';
import { addFilm, type GivenFilm, playing, shelf } from './support/films.ts';
import type { AppPage } from './support/page.ts';
import { isInTime, isWell, openSignedIn, pauseAt, playsFrom, storedMs } from './support/player.ts';
import { ownedServer } from './support/server.ts';

/** What the browser itself says of broken connections. */
const BROKEN = /Failed to load resource: net::|ERR_/;
const SECONDS = 240;

describe('playing through faults', function () {
  this.timeout(300_000);
  let api: Api;
  const films: Record<string, GivenFilm> = {};

  before(async () => {
    api = await ownedServer();
    worker({ ...api.deps, environment: {} } as Stage);
    const place = await shelf(api);
    films.mp4 = await addFilm(api, place, { name: 'direct.mp4', title: 'Direct', seconds: SECONDS, kbits: 2000 });
    films.mkv = await addFilm(api, place, { name: 'streamed.mkv', title: 'Streamed', seconds: SECONDS });
  });

  /** The processes of the browser. */
  async function processesOf({ context }: AppPage): Promise<number[]> {
    const session = await context.browser()?.newBrowserCDPSession();
    const answer = await session?.send('SystemInfo.getProcessInfo');
    await session?.detach();
    return (answer?.processInfo ?? []).map(({ id }) => id);
  }

  for (const kind of ['mp4', 'mkv'] as const) {
    const film = (): GivenFilm => films[kind] as GivenFilm;

    it(`goes on when the pod that serves it is killed: ${kind}`, async () => {
      const pod = await startApiProcess(api, { FOYER_MEDIA_ROOTS: JSON.stringify(api.config.mediaRoots) });
      const service = await balancer([pod.url, api.url]);
      const app = await openSignedIn(service.url, `/play/${film().itemId}?t=70`);
      app.expectFault(BROKEN);
      await playsFrom(app, 72);
      process.kill(pod.pid, 'SIGKILL');
      await app.page.keyboard.press('l'); // beyond the buffered part of the direct file
      await app.page.keyboard.press('l');
      await app.page.keyboard.press('l');
      await playsFrom(app, 163, 20_000);
      await isWell(app);
      await isInTime(app);
      const { at } = await playing(app.page);
      await eventually(async () => Math.abs((await storedMs(api, film().itemId)) - at * 1000) < 2000);
      await app.close();
    });

    it(`goes on after the network was cut for a minute: ${kind}`, async () => {
      const service = await balancer([api.url]);
      const app = await openSignedIn(service.url, `/play/${film().itemId}?t=5`);
      app.expectFault(BROKEN);
      await playsFrom(app, 6);
      service.cut();
      await app.page.keyboard.press('9'); // no part of it is buffered
      await app.page.waitForSelector('text=Reconnecting', { timeout: 30_000 });
      await sleep(60_000);
      service.restore();
      await playsFrom(app, 217, 30_000);
      await isWell(app);
      await isInTime(app);
      await app.close();
    });

    it(`goes on after the computer slept for half a minute: ${kind}`, async () => {
      const app = await openSignedIn(api.url, `/play/${film().itemId}?t=30`);
      app.expectFault(BROKEN);
      await playsFrom(app, 31);
      const { at } = await playing(app.page);
      const pids = await processesOf(app);
      for (const pid of pids) process.kill(pid, 'SIGSTOP');
      await sleep(30_000);
      for (const pid of pids) process.kill(pid, 'SIGCONT');
      await playsFrom(app, at + 5);
      await app.page.keyboard.press('9');
      await playsFrom(app, 217);
      await isWell(app);
      await isInTime(app);
      await app.close();
    });

    it(`goes on after the browser froze the page: ${kind}`, async () => {
      const app = await openSignedIn(api.url, `/play/${film().itemId}?t=30`);
      app.expectFault(BROKEN);
      const { page } = app;
      await playsFrom(app, 31);
      await pauseAt(app); // a page that plays is never frozen
      const session = await page.context().newCDPSession(page);
      await session.send('Page.setWebLifecycleState', { state: 'frozen' });
      await sleep(30_000);
      await session.send('Page.setWebLifecycleState', { state: 'active' });
      const { at } = await playing(page);
      await page.keyboard.press('k');
      await playsFrom(app, at + 5);
      await isWell(app);
      await isInTime(app);
      await app.close();
    });
  }
});
