// The first load of Home in Chromium against a static page of the same tiles from the same pod: largest paint, longest task.
//   node hack/bench/web-load.ts [pairs]        needs a build of web/ (hack/start or hack/test makes it)
// A processor of a quarter of the speed, 10 Mb/s, 40 ms. The page has no script, and the tiles in its HTML.
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext } from 'playwright-core';
import { startBrowser } from '#support/hls-browser.ts';
import { startApiProcess } from '#support/processes.ts';
import { endAll } from '#support/stores.ts';
import { openApp } from '../../test/web/support/page.ts';
import { ownedServer } from '../../test/web/support/server.ts';
import { filmLibrary, signedIn } from '../../test/web/support/shelves.ts';
import { alternate, HEADER, machine, median, type Pairs, row } from './measure.ts';

const pairs = Number(process.argv[2] ?? 5);
const STATIC = 'bench-static.html';
const file = join(import.meta.dirname, '../../web/build', STATIC);
const viewport = { width: 1280, height: 800 };
const LINE = { offline: false, latency: 40, downloadThroughput: 1_250_000, uploadThroughput: 1_250_000 };
const SLOWER = 4;
const SETTLED_MS = 1500;

const WATCH = `globalThis.paint = 0; globalThis.task = 0;
new PerformanceObserver((list) => { for (const { startTime } of list.getEntries()) globalThis.paint = startTime; })
  .observe({ type: 'largest-contentful-paint', buffered: true });
new PerformanceObserver((list) => { for (const { duration } of list.getEntries()) globalThis.task = Math.max(task, duration); })
  .observe({ type: 'longtask', buffered: true });`;

interface Loaded {
  paint: number;
  task: number;
}

const api = await ownedServer();
for (const name of ['Films', 'More films']) await filmLibrary(api, 100, name);
const first = await openApp(api.url, '/', { storageState: await signedIn(api), viewport });
await first.page.locator('main article a').first().waitFor();
await first.page.waitForTimeout(SETTLED_MS);
const parts = await first.page.evaluate<{ links: string; body: string }>(`({
  links: [...document.querySelectorAll('link[rel=stylesheet], link[rel=preload]')].map(({ outerHTML }) => outerHTML).join(''),
  body: document.querySelector('#app').innerHTML,
})`);
const storageState = await first.context.storageState();
await first.close();

writeFileSync(
  file,
  `<!doctype html><html lang="en" data-scheme="dark"><meta charset="utf-8">${parts.links}<body>${parts.body}`,
);
const pod = await startApiProcess(api);
const at = (state: typeof storageState): typeof storageState => ({
  ...state,
  origins: state.origins.map((one) => ({ ...one, origin: pod.url })),
});

async function load(context: BrowserContext, path: string): Promise<Loaded> {
  const page = await context.newPage();
  const cdp = await context.newCDPSession(page);
  await cdp.send('Network.enable');
  await cdp.send('Network.emulateNetworkConditions', LINE);
  await cdp.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  await page.addInitScript(WATCH);
  await page.goto(pod.url + path);
  await page.locator('main article a').first().waitFor();
  await page.waitForTimeout(SETTLED_MS);
  const loaded = await page.evaluate<Loaded>('({ paint, task })');
  await page.close();
  return loaded;
}

const tasks: number[] = [];

/** A browser that has never shown Home: without the copy of its first screen. */
function firstVisit(): typeof storageState {
  const origins = storageState.origins.map((one) => ({
    ...one,
    localStorage: one.localStorage.filter(({ name }) => name !== 'foyer.screen'),
  }));
  return { ...storageState, origins };
}

async function measure(path: string, isWarm: boolean): Promise<number> {
  const context = await (await startBrowser()).newContext({
    storageState: at(isWarm ? storageState : firstVisit()),
    viewport,
    colorScheme: 'dark',
  });
  if (isWarm) await load(context, path);
  const { paint, task } = await load(context, path);
  await context.close();
  if (path === '/') tasks.push(task);
  return paint;
}

const compare = (isWarm: boolean): Promise<Pairs> =>
  alternate(
    pairs,
    () => measure('/', isWarm),
    () => measure(`/${STATIC}`, isWarm),
  );

try {
  await measure('/', false);
  tasks.length = 0;
  console.log(
    `\nThe first load of Home, ${viewport.width} x ${viewport.height}, ${pairs} pairs. ${machine()}\n\n${HEADER}`,
  );
  console.log(row({ name: 'largest paint, first visit', unit: 'ms', target: '≤ 2.2' }, await compare(false)));
  console.log(row({ name: 'largest paint, warm', unit: 'ms', target: '≤ 1.5' }, await compare(true)));
  console.log(`\nLongest task of Home, median: ${median(tasks).toFixed(0)} ms at a quarter of the speed.`);
} finally {
  rmSync(file);
}
await endAll();
process.exit(0);
