// The player page in a browser that is signed in.
import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { FPS, playing, shownFrame } from './films.ts';
import { type AppPage, openApp } from './page.ts';
import { OWNER } from './server.ts';

/** Signs in with the form, and is then on `path`. */
export async function openSignedIn(
  origin: string,
  path: string,
  { login = OWNER, ...options }: BrowserContextOptions & { login?: typeof OWNER } = {},
): Promise<AppPage> {
  const app = await openApp(origin, `/sign-in?return=${encodeURIComponent(path)}`, {
    viewport: { width: 1280, height: 720 },
    ...options,
  });
  await app.page.fill('[name=username]', login.username);
  await app.page.fill('[name=password]', login.password);
  await app.page.click('button[type=submit]');
  await app.page.waitForURL(`${origin}${path}`);
  return app;
}

/** Waits until the film moves behind a second. */
export async function playsFrom({ page }: AppPage, seconds: number, limitMs = 30_000): Promise<number> {
  return eventually(async () => {
    const now = await playing(page);
    return !now.paused && now.ready >= 3 && now.at >= seconds && now.at;
  }, limitMs);
}

/** Pauses by key and waits until the picture stands still. */
export async function pauseAt({ page }: AppPage): Promise<number> {
  if (!(await playing(page)).paused) await page.keyboard.press('k');
  await eventually(async () => (await playing(page)).paused);
  return (await playing(page)).at;
}

export const cueText = ({ page }: AppPage): Promise<string> =>
  page.evaluate<string>(`(document.querySelector('.overlay')?.textContent ?? '').replace(/\\s+/g, ' ').trim()`);

/** The server keeps the last choice of a profile, so the key may also turn them off. */
export async function turnOnSubtitles({ page }: AppPage): Promise<void> {
  await page.keyboard.press('c');
  const choice = page.locator('text=/^Subtitles( off|: )/');
  await choice.waitFor();
  if ((await choice.textContent()) === 'Subtitles off') await page.keyboard.press('c');
}

/** The stored position of the owner. */
export async function storedMs(api: Api, itemId: string): Promise<number> {
  const row = await api.deps.db('item_states').where({ item_id: itemId }).first<{ position_ms: number } | undefined>();
  return row?.position_ms ?? 0;
}

/** No failure is on the page, and the film does not wait for long. */
export async function isWell({ page }: AppPage): Promise<void> {
  expect(await page.locator('.player [role=alert]').count()).to.equal(0);
  await page.waitForSelector('.player:is([data-phase=playing], [data-phase=paused])', { timeout: 10_000 });
  expect(await page.locator('.player [role=alert]').count()).to.equal(0);
}

/** The picture is the one of its time, so nothing was played twice or left out. */
export async function isInTime(app: AppPage, frames = 1): Promise<void> {
  await pauseAt(app);
  await app.page.keyboard.press('Shift+ArrowLeft');
  await app.page.waitForTimeout(1000);
  const { at } = await playing(app.page);
  expect(await shownFrame(app.page)).to.be.closeTo(Math.floor(at * FPS), frames);
}

export interface Motion {
  /** The longest time without a new picture. */
  stillMs: number;
  /** How far the film went back, and forward over parts that were not played. */
  backS: number;
  onS: number;
}

const WATCH_MOTION = `(() => {
  const motion = (window.motion = { stillMs: 0, backS: 0, onS: 0 });
  const video = document.querySelector('video');
  let [at, when, moved] = [video.currentTime, performance.now(), performance.now()];
  setInterval(() => {
    const time = performance.now();
    motion.stillMs = Math.max(motion.stillMs, time - moved);
    if (video.readyState < 2 || video.seeking || video.currentTime === at) return;
    const passed = ((time - when) / 1000) * video.playbackRate;
    motion.backS = Math.max(motion.backS, at - video.currentTime);
    motion.onS = Math.max(motion.onS, video.currentTime - at - passed);
    [at, when, moved] = [video.currentTime, time, time];
  }, 50);
})()`;

/** Watches from now on whether the film of the page moves without a leap. */
export async function watchMotion({ page }: AppPage): Promise<() => Promise<Motion>> {
  await page.evaluate(WATCH_MOTION);
  return () => page.evaluate<Motion>('window.motion');
}
