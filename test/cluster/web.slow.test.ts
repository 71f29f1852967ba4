// The app through the Service of a real cluster, from the image of hack/image: a household watches while one of two pods that
// serve it is killed.
import { expect } from 'chai';
import type { KubeObject } from '#operator/runtime/kube.ts';
import { temporaryFolder } from '#support/stores.ts';

import { makeFilm, playing } from '../web/support/films.ts';
import { type AppPage, openApp } from '../web/support/page.ts';
import { playsFrom } from '../web/support/player.ts';
import { OWNER } from '../web/support/server.ts';
import { UP_MS } from './support/cluster.ts';
import { type Home, startHome } from './support/home.ts';
import { until } from './support/until.ts';

const SECONDS = 180;
/** What Chromium reports of a connection whose pod is gone. */
const CUT = /net::ERR_(CONNECTION|EMPTY|INCOMPLETE|NETWORK|SOCKET)|Failed to fetch/;

const isReady = ({ status }: KubeObject): boolean =>
  ((status as { containerStatuses?: { ready: boolean }[] }).containerStatuses ?? []).some(({ ready }) => ready);

describe('the app on a cluster', function () {
  this.timeout(300_000);
  let home: Home;
  let films: { id: string; title: string }[] = [];

  before(async function () {
    this.timeout(UP_MS);
    const folder = temporaryFolder('films');
    const direct = await makeFilm(folder, { name: 'direct.mp4', seconds: SECONDS });
    const streamed = await makeFilm(folder, { name: 'streamed.mkv', seconds: SECONDS });
    home = await startHome({
      name: 'web',
      spec: { api: { replicas: 2 } },
      films: { 'Direct (2008).mp4': direct, 'Streamed (2009).mkv': streamed },
    });
    films = await home.films(2);
  });
  afterEach(async function () {
    if (this.currentTest?.state === 'failed') await home?.printState();
  });
  after(async function () {
    this.timeout(UP_MS);
    await home?.remove();
  });

  /** Signs in by the page, and notes each part of the app that did not arrive. */
  async function open(): Promise<{ app: AppPage; missing: string[] }> {
    const app = await openApp(home.url, '/', { viewport: { width: 1280, height: 720 } });
    app.expectFault(CUT);
    const missing: string[] = [];
    app.page.on('requestfailed', (request) => {
      if (request.url().includes('/_app/')) missing.push(`${request.url()} ${request.failure()?.errorText}`);
    });
    await app.page.fill('[name=username]', OWNER.username);
    await app.page.fill('[name=password]', OWNER.password);
    await app.page.click('button[type=submit]');
    await app.page.waitForSelector('h1:has-text("Home")');
    return { app, missing };
  }

  async function killOnePod(): Promise<void> {
    const before = await home.pods('api');
    expect(before).to.have.length(2);
    const [victim] = before;
    await home.kubectl.run([
      ...['delete', 'pod', victim?.metadata.name ?? '', '-n', home.namespace],
      ...['--grace-period=0', '--force'],
    ]);
    await until('another pod', async () => {
      const now = await home.pods('api');
      return now.length === 2 && now.every((pod) => isReady(pod) && pod.metadata.uid !== victim?.metadata.uid);
    });
  }

  for (const title of ['Direct', 'Streamed'])
    it(`plays on when a pod is killed, and shows pages that were not open before: ${title}`, async () => {
      const { app, missing } = await open();
      const film = films.find((one) => one.title === title);
      await app.page.click(`main a[href="/item/${film?.id}"] .title`);
      await app.page.click('.play a');
      await playsFrom(app, 5, 60_000);
      await killOnePod();
      const { at } = await playing(app.page);
      await playsFrom(app, at + 40, 90_000);
      await app.page.keyboard.press('Escape');
      await app.page.waitForSelector('.play a');
      await app.page.click('a[href="/search"]');
      await app.page.waitForSelector('input[type=search]');
      await app.page.click('a[href="/me"]');
      await app.page.waitForSelector('h1:has-text("Mine")', { state: 'attached' });
      expect(missing).to.deep.equal([]);
      await app.close();
    });
});
