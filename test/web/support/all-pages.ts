// Every page of the app on one device, as the one that may see it, with the faults that a check finds there.
import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { COLOURS, violations } from './axe.ts';
import { type Household, household } from './household.ts';
import { openApp } from './page.ts';
import { tabFaults } from './reach.ts';
import { unclaimedServer } from './server.ts';
import { signedIn } from './shelves.ts';
import { VISITS, type Visit } from './visits.ts';

export interface Stage {
  home: Household;
  fresh: Api;
  storageState: BrowserContextOptions['storageState'];
}

export async function stage(): Promise<Stage> {
  const [home, fresh] = [await household(), await unclaimedServer()];
  return { home, fresh, storageState: await signedIn(home.api) };
}

/** What a check finds on the page that is open, as one line each. */
export type Check = (page: Page) => Promise<string[]>;

const DARK = { colorScheme: 'dark', contrast: 'no-preference' } as const;
const LOOKS = [
  ['dark', DARK],
  ['light', { colorScheme: 'light', contrast: 'no-preference' }],
  ['high contrast', { colorScheme: 'dark', contrast: 'more' }],
] as const;
const CONTRAST_SHEET = '#own-theme[href*="/themes/high-contrast/"]';
/** No colour is on its way to another one. */
const CALM = `document.getAnimations().every(({ effect }) => effect?.getTiming().iterations === Infinity)`;

const withoutGroups = (route: string): string =>
  `/${route
    .split('/')
    .filter((part) => !part.startsWith('('))
    .join('/')}`;

/** axe finds nothing in any look. */
export async function eachLook(page: Page): Promise<string[]> {
  const faults: string[] = [];
  for (const [look, media] of LOOKS) {
    await page.emulateMedia(media);
    await page.waitForSelector(CONTRAST_SHEET, { state: media.contrast === 'more' ? 'attached' : 'detached' });
    const worn = `document.documentElement.dataset.scheme === '${media.colorScheme}'`;
    await eventually(() => page.evaluate<boolean>(`${worn} && ${CALM}`));
    const found = await violations(page, ...(look === 'dark' ? [] : [COLOURS]));
    faults.push(...found.map((fault) => `${look}: ${fault}`));
  }
  return faults;
}

/** The focus is seen at each stop of Tab; the navigation is the same on each page. */
export const eachStop: Check = (page) => tabFaults(page, new URL(page.url()).pathname === '/' ? 'body' : 'main');

async function open(page: Page, url: string, visit: Visit): Promise<void> {
  await page.emulateMedia(DARK);
  await page.goto(url);
  for (const selector of visit.presses ?? []) await page.click(selector);
  await page.waitForSelector(visit.shows, { state: 'attached', timeout: 15_000 });
  await page.waitForTimeout(300);
}

async function findings(page: Page, checks: readonly Check[]): Promise<string[]> {
  const found: string[] = [];
  for (const check of checks) found.push(...(await check(page)));
  return found;
}

/** Opens every page on `device` and answers the faults of all checks. */
export async function faultsOf(
  { home, fresh, storageState }: Stage,
  device: BrowserContextOptions,
  checks: readonly Check[],
): Promise<string> {
  const faults: string[] = [];
  for (const as of ['first run', 'nobody', undefined] as const) {
    const { url } = as === 'first run' ? fresh : home.api;
    const app = await openApp(url, '/favicon.svg', as ? device : { ...device, storageState: storageState as never });
    const { PAGES = '' } = process.env; // some of them, for those who look at one
    for (const visit of VISITS.filter((one) => one.as === as && one.route.includes(PAGES))) {
      const began = Date.now();
      const path = typeof visit.path === 'function' ? visit.path(home) : (visit.path ?? withoutGroups(visit.route));
      try {
        await open(app.page, `${url}${path}`, visit);
        faults.push(...(await findings(app.page, checks)).map((fault) => `${path} ${fault}`));
      } catch (error) {
        faults.push(`${visit.route}: ${(error as Error).message.slice(0, 300)}`);
      }
      if (process.env.TIMES) console.log(`    ${visit.route} ${Date.now() - began} ms`);
    }
    await app.close();
  }
  return faults.join('\n');
}
