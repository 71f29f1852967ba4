// A grid of 100,000 and of 500,000 items in Chromium: flinging, the jump to its end, what stays in memory.
//   [BENCH_ONLY=heap] node hack/bench/web-grid.ts [seconds] [items]        needs a build of web/ (hack/start or hack/test makes it)
// The frame rate has a twin: a static page of 3,000 of the same cards, with the same style sheets, from the same pod, in one run.
import type { CDPSession, Page } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { endAll } from '#support/stores.ts';
import { type AppPage, openApp } from '../../test/web/support/page.ts';
import { ownedServer } from '../../test/web/support/server.ts';
import { filmLibrary, signedIn } from '../../test/web/support/shelves.ts';
import { alternate, HEADER, machine, median, row } from './measure.ts';

const seconds = Number(process.argv[2] ?? 20);
const counts = process.argv[3] ? [Number(process.argv[3])] : [100_000, 500_000];
const PAIRS = 3;
const HEAP_SECONDS = 300;
const STATIC = 3000;
const MB = 1 << 20;
const viewport = { width: 1280, height: 800 };

/** Flings of 1.5 s downwards, one after the other, as a finger makes them: fast at first, slower by half each third of a second. */
const FLING = `(seconds) => new Promise((done) => {
  const scroller = document.querySelector('.fy-sizer').parentElement;
  const seen = { frames: 0, longest: 0 };
  const tasks = new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) seen.longest = Math.max(seen.longest, duration);
  });
  tasks.observe({ type: 'longtask' });
  const began = performance.now();
  let last = began;
  function step(now) {
    const passed = now - began;
    seen.frames += 1;
    const speed = 8 * Math.exp(-((passed % 1500) / 480)); // px a millisecond
    scroller.scrollTop += speed * (now - last);
    last = now;
    if (passed < seconds * 1000) return requestAnimationFrame(step);
    tasks.disconnect();
    done({ ...seen, seconds: passed / 1000 });
  }
  requestAnimationFrame(step);
})`;

interface Flung {
  frames: number;
  longest: number;
  seconds: number;
  /** Milliseconds of script, style and layout a frame. */
  work: number;
}

async function metricsOf(cdp: CDPSession): Promise<Map<string, number>> {
  const { metrics } = await cdp.send('Performance.getMetrics');
  return new Map(metrics.map(({ name, value }) => [name, value]));
}

const WORK = ['ScriptDuration', 'RecalcStyleDuration', 'LayoutDuration'];

async function fling(page: Page, cdp: CDPSession, length = seconds): Promise<Flung> {
  const before = await metricsOf(cdp);
  const seen = await page.evaluate<Omit<Flung, 'work'>>(`(${FLING})(${length})`);
  const after = await metricsOf(cdp);
  const spent = WORK.reduce((sum, name) => sum + (after.get(name) ?? 0) - (before.get(name) ?? 0), 0);
  return { ...seen, work: (spent * 1000) / seen.frames };
}

async function attach({ page, context }: AppPage): Promise<CDPSession> {
  const cdp = await context.newCDPSession(page);
  await cdp.send('Performance.enable');
  return cdp;
}

async function heapOf(cdp: CDPSession): Promise<{ heap: number; nodes: number; listeners: number }> {
  await cdp.send('HeapProfiler.collectGarbage');
  const { usedSize } = await cdp.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await cdp.send('Memory.getDOMCounters');
  return { heap: usedSize / MB, nodes, listeners: jsEventListeners };
}

type State = Awaited<ReturnType<typeof signedIn>>;

async function openGrid(api: Api, path: string, storageState: State): Promise<AppPage> {
  const app = await openApp(api.url, path, { storageState, viewport });
  await app.page.locator('[role=grid] a[href]').first().waitFor();
  await app.page.waitForTimeout(1500);
  return app;
}

/** A page of 3,000 cards, copies of the first rows of the grid, with the style sheets of the app and no script of its own. */
async function openTwin(api: Api, path: string, storageState: State): Promise<AppPage> {
  const grid = await openGrid(api, path, storageState);
  const parts = await grid.page.evaluate<{
    sheets: string[];
    scroller: string;
    row: string;
    height: number;
    columns: number;
  }>(`(() => {
    const sizer = document.querySelector('.fy-sizer');
    const [first, second] = sizer.children;
    const bare = sizer.parentElement.cloneNode(false);
    bare.removeAttribute('id');
    const at = ({ style }) => Number(/, (-?[0-9.]+)px/.exec(style.transform)[1]);
    return {
      sheets: [...document.querySelectorAll('link[rel=stylesheet]')].map(({ href }) => href),
      scroller: bare.outerHTML + '|' + sizer.cloneNode(false).outerHTML,
      row: first.outerHTML,
      height: Math.abs(at(second) - at(first)),
      columns: first.children.length,
    };
  })()`);
  await grid.close();
  const rows = Math.ceil(STATIC / parts.columns);
  const links = parts.sheets.map((href) => `<link rel="stylesheet" href="${href}">`).join('');
  const [outer = '', sizer = ''] = parts.scroller.split('|');
  const html = `<!doctype html><html data-scheme="dark">${links}<body><div id="app" style="height:100vh;overflow:hidden">${outer}</div><script>
    const scroller = document.querySelector('#app').firstElementChild;
    scroller.style.cssText = 'block-size:100vh;overflow-y:scroll';
    scroller.innerHTML = ${JSON.stringify(sizer)};
    const sizer = scroller.firstElementChild;
    sizer.style.blockSize = '${rows * parts.height}px';
    const row = ${JSON.stringify(parts.row)};
    sizer.innerHTML = Array.from({ length: ${rows} }, () => row).join('');
    [...sizer.children].forEach((one, at) => { one.style.transform = 'translate(0px, ' + at * ${parts.height} + 'px)'; });
  </script></body></html>`;
  const twin = await openApp(api.url, '/favicon.svg', { storageState, viewport });
  await twin.page.route('**/static.html', (route) => route.fulfill({ contentType: 'text/html', body: html }));
  await twin.page.goto(`${api.url}/static.html`);
  await twin.page.waitForTimeout(1500);
  return twin;
}

async function compare(api: Api, path: string, storageState: State): Promise<{ flung: Flung[]; still: Flung[] }> {
  const flung: Flung[] = [];
  const still: Flung[] = [];
  const rate = async (open: typeof openGrid, kept: Flung[]): Promise<number> => {
    const app = await open(api, path, storageState);
    const one = await fling(app.page, await attach(app));
    kept.push(one);
    await app.close();
    return one.frames / one.seconds;
  };
  const found = await alternate(
    PAIRS,
    () => rate(openGrid, flung),
    () => rate(openTwin, still),
  );
  console.log(row({ name: 'frames a second', unit: '1/s', target: '≥ 0.85' }, found));
  return { flung, still };
}

async function jump(page: Page): Promise<{ cells: number; data: number; requests: number }> {
  let requests = 0;
  page.on('request', (request) => (requests += Number(/\/libraries\/[^/]+\/items/.test(request.url()))));
  await page.focus('[role=grid] a[tabindex="0"]');
  await page.evaluate(`globalThis.jumped = new Promise((done) => {
    const last = () => document.querySelector('[role=grid] a[tabindex="0"]')?.closest('[data-index]');
    addEventListener('keydown', ({ timeStamp }) => {
      let cells;
      const look = (now) => {
        const cell = last();
        if (cell && Number(cell.dataset.index) > 1000) cells ??= performance.now() - timeStamp;
        if (cells !== undefined && cell.querySelector('a[href]')) return done({ cells, data: performance.now() - timeStamp });
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, { once: true, capture: true });
  }); undefined`);
  await page.keyboard.press('End');
  return { ...(await page.evaluate<{ cells: number; data: number }>('jumped')), requests };
}

/** From the grid to the page of an item and back, which is two visits. No handle of an element is kept: it would hold its page. */
async function visit(page: Page): Promise<void> {
  await page.focus('[role=gridcell][data-index="3"] a[href]');
  await page.keyboard.press('Enter');
  await page.locator('h1').first().waitFor({ state: 'attached' });
  await page.locator('[role=grid]').first().waitFor({ state: 'detached' });
  await page.waitForTimeout(150);
  await page.goBack();
  await page.locator('[role=gridcell][data-index="3"] a[href]').first().waitFor();
}

const cell = (name: string, value: string, target: string): void => console.log(`| ${name} | ${value} | ${target} |`);

async function heap(api: Api, path: string, storageState: State): Promise<void> {
  const app = await openGrid(api, path, storageState);
  const cdp = await attach(app);
  await fling(app.page, cdp, HEAP_SECONDS);
  const after = await heapOf(cdp);
  cell(`heap after ${HEAP_SECONDS} s of flinging`, `${after.heap.toFixed(1)} MB`, '≤ 90 MB');
  cell('nodes', String(after.nodes), '≤ 6,000');
  await app.close();
}

async function measure(api: Api, path: string, storageState: State): Promise<void> {
  const { flung, still } = await compare(api, path, storageState);
  console.log('\n| what | measured | target |\n|---|---|---|');
  cell('script, style and layout a frame', `${median(flung.map(({ work }) => work)).toFixed(1)} ms`, '≤ 8 ms');
  const longest = (all: Flung[]): string => `${median(all.map((one) => one.longest)).toFixed(0)} ms`;
  cell('longest task while flinging, median of the runs', longest(flung), '≤ 50 ms');
  cell('the same of the static page', longest(still), '');
  await heap(api, path, storageState);
  const jumps = [];
  for (let i = 0; i < 5; i++) {
    const fresh = await openGrid(api, path, storageState);
    jumps.push(await jump(fresh.page));
    await fresh.close();
  }
  cell('jump to the end: cells', `${median(jumps.map(({ cells }) => cells)).toFixed(0)} ms`, '≤ 100 ms');
  cell('jump to the end: data', `${median(jumps.map(({ data }) => data)).toFixed(0)} ms`, '≤ 400 ms');
  cell('jump to the end: requests', String(Math.max(...jumps.map(({ requests }) => requests))), '1');
  const visits = await openGrid(api, path, storageState);
  const counters = await attach(visits);
  for (let i = 0; i < 10; i++) await visit(visits.page);
  const before = await heapOf(counters);
  for (let i = 0; i < 25; i++) await visit(visits.page);
  const grown = await heapOf(counters);
  cell('growth by 50 page visits: heap', `${(grown.heap - before.heap).toFixed(1)} MB`, '≤ 5 MB');
  cell('growth by 50 page visits: listeners', String(grown.listeners - before.listeners), '0');
  cell('growth by 50 page visits: nodes', String(grown.nodes - before.nodes), '0');
  await visits.close();
}

const api = await ownedServer();
console.log(`\nA grid in Chromium, ${viewport.width} x ${viewport.height}, flinging for ${seconds} s. ${machine()}`);
for (const count of counts) {
  const library = await filmLibrary(api, count, `Films ${count}`);
  console.log(`\n${count} items\n\n${HEADER}`);
  await (process.env.BENCH_ONLY === 'heap' ? heap : measure)(api, `/library/${library.id}`, await signedIn(api));
}
await endAll();
process.exit(0);
