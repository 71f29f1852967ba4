// From the press on Play to the first picture, against bare hls.js that opens the same film and loads its playlist.
//   node hack/bench/web-play.ts [pairs]        needs a build of web/ (hack/start or hack/test makes it)
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { type Stage, worker } from '#support/hls-session.ts';
import { endAll } from '#support/stores.ts';
import { addFilm, shelf } from '../../test/web/support/films.ts';
import { openApp } from '../../test/web/support/page.ts';
import { ownedServer } from '../../test/web/support/server.ts';
import { signedIn } from '../../test/web/support/shelves.ts';
import { alternate, HEADER, machine, row } from './measure.ts';

const pairs = Number(process.argv[2] ?? 5);
const HLS = readFileSync(join(import.meta.dirname, '../../node_modules/hls.js/dist/hls.min.js'), 'utf8');

const api = await ownedServer();
worker({ ...api.deps, environment: {} } as Stage);
const place = await shelf(api);
const streamed = await addFilm(api, place, { name: 'streamed.mkv', title: 'Streamed', seconds: 100 });
const direct = await addFilm(api, place, { name: 'direct.mp4', title: 'Direct', seconds: 100 });
const storageState = await signedIn(api);

/** The first picture of the first media element in ms; from the press on, once the driver has moved the pointer there. */
const FIRST = `globalThis.pressed = () =>
  new Promise((press) => addEventListener('click', (event) => press(event.timeStamp), { capture: true, once: true }));
globalThis.firstFrame = (began = performance.now()) => new Promise((done) => {
  const look = () => {
    const video = document.querySelector('video');
    if (!video) return requestAnimationFrame(look);
    video.requestVideoFrameCallback((now) => done(now - began));
  };
  look();
});`;

/** What the app sends when it starts the film, for the twin to send too. */
let body: unknown;

async function ours(itemId: string): Promise<number> {
  const app = await openApp(api.url, '/favicon.svg', { storageState, viewport: { width: 1280, height: 720 } });
  const { page } = app;
  await page.addInitScript(FIRST);
  page.on('request', (request) => {
    if (request.method() === 'POST' && request.url().includes(itemId)) body = request.postDataJSON();
  });
  await page.goto(`${api.url}/item/${itemId}`);
  const play = page.locator('.play a, main a:has-text("Play")').first();
  await play.waitFor();
  await page.waitForTimeout(1000);
  await page.evaluate('globalThis.took = pressed().then(firstFrame); undefined');
  await play.click();
  const took = await page.evaluate<number>('took');
  await leave(page, itemId);
  await app.close();
  return took;
}

async function leave(page: Page, itemId: string): Promise<void> {
  await page.keyboard.press('Escape');
  await page.waitForURL(`${api.url}/item/${itemId}`);
  await api.deps.db('item_states').where({ item_id: itemId }).delete(); // the next one begins at 0 too
  await page.waitForTimeout(500);
}

const TWIN = `<!doctype html><video muted></video><script src="/hls.js"></script><script>
  globalThis.open = async (path, body) => {
    const frame = firstFrame();
    const headers = { 'content-type': 'application/json', 'x-client-id': localStorage.getItem('foyer.client') };
    const { session } = await (await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) })).json();
    const video = document.querySelector('video');
    if (session.url.includes('.m3u8')) {
      const hls = new Hls();
      hls.loadSource(session.url);
      hls.attachMedia(video);
    } else video.src = session.url;
    await video.play();
    const took = await frame;
    await fetch('/api/v1/playback/sessions/' + session.id, { method: 'DELETE', headers });
    return took;
  };
</script>`;

async function theirs(itemId: string): Promise<number> {
  const app = await openApp(api.url, '/favicon.svg', { storageState, viewport: { width: 1280, height: 720 } });
  const { page } = app;
  await page.addInitScript(FIRST);
  await page.route('**/twin.html', (route) => route.fulfill({ contentType: 'text/html', body: TWIN }));
  await page.route('**/hls.js', (route) => route.fulfill({ contentType: 'text/javascript', body: HLS }));
  await page.goto(`${api.url}/twin.html`);
  await page.waitForTimeout(1000);
  const took = await page.evaluate<number>(`open('${start}'.replace('ID', '${itemId}'), ${JSON.stringify(body)})`);
  await page.waitForTimeout(500);
  await app.close();
  return took;
}

const start = '/api/v1/items/ID/playback';

console.log(`\nThe first picture after Play, ${pairs} pairs. ${machine()}\n\n${HEADER}`);
for (const [name, { itemId }, target] of [
  ['streamed by HLS', streamed, '≤ 1.2'],
  ['played as it is', direct, '≤ 700 ms'],
] as const) {
  await ours(itemId);
  const found = await alternate(
    pairs,
    () => ours(itemId),
    () => theirs(itemId),
  );
  console.log(row({ name, unit: 'ms', target }, found));
}
await endAll();
process.exit(0);
