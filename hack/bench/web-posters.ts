// A wall of 200 posters in Chromium: until its first screen is complete, against a static page of the same files from the same pod.
//   node hack/bench/web-posters.ts [pairs]        needs a build of web/ (hack/start or hack/test makes it)
// 10 Mb/s, 40 ms. The static page has no script, and its posters are files next to it. From the press: in the app that is open at the list of libraries.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, Page } from 'playwright-core';
import { startBrowser } from '#support/hls-browser.ts';
import { startApiProcess } from '#support/processes.ts';
import { endAll } from '#support/stores.ts';
import { formOf, painted } from '../../test/areas/artwork/support.ts';
import { openApp } from '../../test/web/support/page.ts';
import { ownedServer } from '../../test/web/support/server.ts';
import { filmLibrary, signedIn } from '../../test/web/support/shelves.ts';
import { alternate, HEADER, machine, type Pairs, row } from './measure.ts';

const pairs = Number(process.argv[2] ?? 4);
const POSTERS = 200;
const BUILD = join(import.meta.dirname, '../../web/build');
const STATIC = 'bench-posters.html';
const viewport = { width: 1280, height: 800 };
const LINE = { offline: false, latency: 40, downloadThroughput: 1_250_000, uploadThroughput: 1_250_000 };
const SETTLED_MS = 3000;
const written: string[] = [];

const IN_SIGHT = `[...document.querySelectorAll('#app img, .boot-screen img')].filter((one) => {
  const { top, left, bottom, width } = one.getBoundingClientRect();
  return width > 0 && bottom > 0 && top < innerHeight && left < innerWidth;
})`;
/** The time since the navigation at which so many pictures in sight have their pixels. */
const WATCH = (count: number): string => `globalThis.complete = new Promise((done) => {
  const look = () => {
    const all = ${IN_SIGHT};
    if (all.length >= ${count} && all.every((one) => one.complete && one.naturalWidth > 0)) return done(performance.now());
    requestAnimationFrame(look);
  };
  addEventListener('DOMContentLoaded', look);
});`;

const api = await ownedServer();
const library = await filmLibrary(api, POSTERS, 'Films');
const admin = api.as(await api.given.admin());
const films = await api.deps.db('items').where({ library_id: library.id }).pluck<string[]>('id');
for (const [n, id] of films.entries()) {
  const colour = `#${((n * 2_654_435_761) >>> 8).toString(16).padStart(6, '0').slice(-6)}`;
  const body = formOf({ bytes: await painted(500, 750, colour) });
  const { status } = await admin.uploadItemArtwork({ params: { id }, body });
  if (status !== 201) throw new Error(`a poster was answered with ${status}`);
}
const path = `/library/${library.id}`;
const first = await openApp(api.url, path, { storageState: await signedIn(api), viewport });
await first.page.locator('[role=grid] a[href] img').first().waitFor();
await first.page.waitForTimeout(SETTLED_MS);
const count = await first.page.evaluate<number>(`${IN_SIGHT}.length`);
const posters = await first.page.evaluate<{ address: string; width: number; height: number }[]>(
  `[...document.querySelectorAll('#app img')].map((one) => {
    const { width, height } = one.getBoundingClientRect();
    return { address: one.currentSrc || one.src, width: Math.round(width), height: Math.round(height) };
  })`,
);
const tiles: string[] = [];
for (const [at, { address, width, height }] of posters.entries()) {
  const name = `bench-poster-${at}.webp`;
  write(name, await (await first.context.request.get(address)).body());
  tiles.push(`<img loading="lazy" alt="" width="${width}" height="${height}" src="/${name}">`);
}
write(STATIC, `<!doctype html><html lang="en"><meta charset="utf-8"><body><div id="app">${tiles.join(' ')}</div>`);
const storageState = await first.context.storageState();
await first.close();
const pod = await startApiProcess(api);

function write(name: string, bytes: Buffer | string): void {
  written.push(join(BUILD, name));
  writeFileSync(join(BUILD, name), bytes);
}

const at = { ...storageState, origins: storageState.origins.map((one) => ({ ...one, origin: pod.url })) };

async function opened(context: BrowserContext): Promise<Page> {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', LINE);
  return page;
}

/** The static page has all its pictures from the start. */
async function load(context: BrowserContext, address: string): Promise<number> {
  const page = await opened(context);
  await page.addInitScript(WATCH(address === path ? count : 1));
  await page.goto(pod.url + address);
  const complete = await page.evaluate<number>('complete');
  await page.waitForTimeout(address === path ? SETTLED_MS : 0); // the screen is kept
  await page.close();
  return complete;
}

/** From the press on the library to its posters, none of which this browser has. */
async function press(): Promise<number> {
  const context = await (await startBrowser()).newContext({ storageState: at, viewport, colorScheme: 'dark' });
  const page = await opened(context);
  await page.goto(`${pod.url}/libraries`);
  const link = page.locator(`#app main a[href^="${path}"]`).first();
  await link.waitFor();
  await page.waitForTimeout(SETTLED_MS);
  await page.evaluate(
    `document.addEventListener('click', () => { globalThis.pressed = performance.now(); }, { capture: true })`,
  );
  await page.evaluate(`${WATCH(count).replace("addEventListener('DOMContentLoaded', look)", 'look()')} 0`);
  await link.click();
  const took = await page.evaluate<number>('complete.then((at) => at - pressed)');
  await context.close();
  return took;
}

async function measure(address: string, isWarm: boolean): Promise<number> {
  const context = await (await startBrowser()).newContext({ storageState: at, viewport, colorScheme: 'dark' });
  if (isWarm) await load(context, address);
  const complete = await load(context, address);
  await context.close();
  return complete;
}

const comparePress = (): Promise<Pairs> => alternate(pairs, press, () => measure(`/${STATIC}`, false));

const compare = (isWarm: boolean): Promise<Pairs> =>
  alternate(
    pairs,
    () => measure(path, isWarm),
    () => measure(`/${STATIC}`, isWarm),
  );

try {
  await measure(path, false);
  console.log(`\nA wall of ${POSTERS} posters, ${count} in sight, ${pairs} pairs. ${machine()}\n\n${HEADER}`);
  console.log(row({ name: 'first screen complete, first visit', unit: 'ms', target: '≤ 1.5' }, await compare(false)));
  console.log(row({ name: 'first screen complete, warm', unit: 'ms', target: '≤ 1.5' }, await compare(true)));
  console.log(
    row({ name: 'first screen complete, from the press', unit: 'ms', target: '≤ 1.5' }, await comparePress()),
  );
} finally {
  for (const file of written) rmSync(file);
}
await endAll();
process.exit(0);
