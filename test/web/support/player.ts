// The player page in a browser that is signed in.
import type { BrowserContextOptions } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { playing } from './films.ts';
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
