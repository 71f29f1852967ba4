// Each page of the app in each look, on a desk and on a phone: axe finds nothing, nothing scrolls sideways at 320 px, which is
// 1280 px at 400 %, and the focus is seen at each stop of Tab.
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BrowserContextOptions } from 'playwright-core';
import type { Api } from '#support/api.ts';
import { eventually } from '#support/stores.ts';
import { COLOURS, violations } from './support/axe.ts';
import { type Household, household } from './support/household.ts';
import { type AppPage, openApp } from './support/page.ts';
import { sideways, tabFaults } from './support/reach.ts';
import { unclaimedServer } from './support/server.ts';
import { signedIn } from './support/shelves.ts';

interface Visit {
  /** The folder in web/src/routes; several visits may show several states of a page. */
  route: string;
  path?: string | ((home: Household) => string);
  /** Stands on the page as soon as it is complete. */
  shows: string;
  /** Pressed first. */
  presses?: readonly string[];
  as?: 'nobody' | 'first run';
}

const VISITS: readonly Visit[] = [
  { route: '(setup)/setup', as: 'first run', path: '/setup', shows: '[name=code]' },
  { route: '(auth)/sign-in', as: 'nobody', shows: '[name=username]' },
  { route: '(auth)/sign-in', as: 'nobody', shows: '.code', presses: ['button:has-text("Quick Connect")'] },
  { route: '(auth)/sign-in/oidc', as: 'nobody', shows: '[role=alert]' },
  { route: '(auth)/reset', as: 'nobody', shows: 'h1' },
  { route: '(auth)/reset', as: 'nobody', path: '/reset?again#token=made-up', shows: '[role=alert], [name=password]' },
  { route: '(auth)/invite', as: 'nobody', path: ({ invite }) => invite, shows: 'p:has-text("Come in")' },
  { route: '(auth)/confirm', as: 'nobody', path: '/confirm#token=made-up', shows: 'button' },
  { route: '(auth)/confirm-email', as: 'nobody', path: '/confirm-email#token=made-up', shows: 'button' },
  { route: '(auth)/unsubscribe', as: 'nobody', path: '/unsubscribe#token=made-up', shows: 'button' },
  { route: '(auth)/quick-connect', shows: 'input' },
  { route: '(auth)/two-factor', shows: '.secret' },
  { route: '(auth)/password', shows: '[name=password]' },
  { route: '(auth)/profiles', shows: 'button:has-text("Kids")' },
  { route: '(app)', path: '/', shows: 'h2:text-is("Continue")' },
  { route: '(app)/libraries', shows: 'main a:has-text("Films")' },
  { route: '(app)/library/[id]', path: ({ ids }) => `/library/${ids.films}`, shows: '.fy-cell' },
  { route: '(app)/library/[id]', path: ({ ids }) => `/library/${ids.films}?view=list`, shows: 'ol a' },
  {
    route: '(app)/library/[id]',
    path: ({ ids }) => `/library/${ids.films}?view=table`,
    shows: '[role=grid] a, table a',
  },
  {
    route: '(app)/library/[id]/studios',
    path: ({ ids }) => `/library/${ids.films}/studios`,
    shows: 'a:has-text("Prana-Film")',
  },
  { route: '(app)/item/[id]', path: ({ ids }) => `/item/${ids.film}`, shows: 'a:has-text("The keeper")' },
  { route: '(app)/item/[id]', path: ({ ids }) => `/item/${ids.show}`, shows: 'main :text("S1E3")' },
  { route: '(app)/person/[id]', path: ({ ids }) => `/person/${ids.person}`, shows: 'a:has-text("A film 0")' },
  { route: '(app)/studio/[id]', path: ({ ids }) => `/studio/${ids.studio}`, shows: 'h1:has-text("Prana-Film")' },
  { route: '(app)/collections', shows: 'a:has-text("By the sea")' },
  { route: '(app)/collection/[id]', path: ({ ids }) => `/collection/${ids.collection}`, shows: 'article a' },
  { route: '(app)/people', shows: 'a:has-text("Ana Example")' },
  { route: '(app)/search', path: '/search?q=film', shows: 'main a:has-text("film")' },
  { route: '(app)/discover', shows: 'article a' },
  {
    route: '(app)/discover/title/[id]',
    path: ({ ids }) => `/discover/title/${encodeURIComponent(ids.title)}`,
    shows: 'main h1',
  },
  { route: '(app)/live', shows: 'main :text("One")' },
  { route: '(app)/live/guide', shows: '.cell:has-text("Evening News"), main :text("Morning Show")' },
  { route: '(app)/live/recordings', shows: 'h1' },
  { route: '(app)/live/rules', shows: 'button:has-text("Add a rule")' },
  { route: '(app)/live/schedule', shows: 'h1' },
  { route: '(app)/uploads', shows: 'h1' },
  { route: '(app)/stats', shows: 'h1' },
  { route: '(app)/me', shows: 'fieldset:enabled' },
  { route: '(app)/me/home', shows: 'button[aria-label^="Move"]' },
  { route: '(app)/me/history', shows: 'h1' },
  { route: '(app)/me/drives', shows: 'h1' },
  { route: '(app)/admin/libraries', shows: 'main :text("Films")' },
  { route: '(app)/admin/storages', shows: 'main li, main article' },
  { route: '(app)/admin/tuners', shows: 'main :text("Roof")' },
  { route: '(app)/admin/channels', shows: 'main :text("Two")' },
  { route: '(app)/admin/guide', shows: 'main li, main article' },
  { route: '(app)/admin/icons', shows: 'main li, main article' },
  { route: '(app)/admin/types', shows: 'li:has-text("Films")' },
  { route: '(app)/admin/fields', shows: 'button:has-text("New field")' },
  { route: '(app)/admin/subtitles', shows: 'main h2, main fieldset, main form' },
  { route: '(app)/admin/spine', shows: 'h1' },
  { route: '(app)/admin/maintenance', shows: 'main li, main article' },
  { route: 'no such page', path: '/no/such/page', shows: 'h1' },
];

/** Films and channels fill the window: player-axe.slow.test.ts opens the player with each of its panels. */
const PLAYERS = ['(play)/play/[id]', '(play)/live/watch/[channelId]'];

const DESK: BrowserContextOptions = { viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce' };
const PHONE: BrowserContextOptions = { viewport: { width: 360, height: 740 }, reducedMotion: 'reduce', hasTouch: true };
const LOOKS = [
  ['dark', { colorScheme: 'dark', contrast: 'no-preference' }],
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

describe('every page of the app', function () {
  this.timeout(300_000);
  let home: Household;
  let fresh: Api;
  let storageState: BrowserContextOptions['storageState'];

  before(async () => {
    [home, fresh] = [await household(), await unclaimedServer()];
    storageState = await signedIn(home.api);
  });

  it('is in the table', () => {
    const routes = globSync('**/+page.svelte', { cwd: join(import.meta.dirname, '../../web/src/routes') });
    const known = new Set([...VISITS.map(({ route }) => route), ...PLAYERS]);
    expect(routes.map((file) => file.replace('/+page.svelte', '')).filter((route) => !known.has(route))).to.deep.equal(
      [],
    );
  });

  async function faultsOf(app: AppPage, visit: Visit, isPhone: boolean): Promise<string[]> {
    const { page } = app;
    const path = typeof visit.path === 'function' ? visit.path(home) : (visit.path ?? withoutGroups(visit.route));
    await page.emulateMedia(LOOKS[0][1]);
    await page.goto(`${(visit.as === 'first run' ? fresh : home.api).url}${path}`);
    for (const selector of visit.presses ?? []) await page.click(selector);
    await page.waitForSelector(visit.shows, { state: 'attached', timeout: 15_000 });
    await page.waitForTimeout(300);
    const faults: string[] = [];
    const add = (found: readonly string[], where: string) =>
      faults.push(...found.map((fault) => `${path} ${where}: ${fault}`));
    for (const [look, media] of LOOKS) {
      await page.emulateMedia(media);
      await page.waitForSelector(CONTRAST_SHEET, { state: media.contrast === 'more' ? 'attached' : 'detached' });
      const worn = `document.documentElement.dataset.scheme === '${media.colorScheme}'`;
      await eventually(() => page.evaluate<boolean>(`${worn} && ${CALM}`));
      add(await violations(page, ...(look === 'dark' ? [] : [COLOURS])), look);
    }
    if (isPhone) {
      await page.setViewportSize({ width: 320, height: 740 });
      if (await sideways(page)) add(['scrolls sideways'], '320 px');
      await page.setViewportSize(PHONE.viewport as { width: number; height: number });
    }
    add(await tabFaults(page, path === '/' ? 'body' : 'main'), 'focus'); // the navigation is the same on each page
    return faults;
  }

  for (const [name, device] of [
    ['a desk', DESK],
    ['a phone', PHONE],
  ] as const)
    it(`is for everyone on ${name}`, async () => {
      const faults: string[] = [];
      for (const as of ['first run', 'nobody', undefined] as const) {
        const app = await openApp(
          (as === 'first run' ? fresh : home.api).url,
          '/favicon.svg',
          as ? device : { ...device, storageState: storageState as never },
        );
        for (const visit of VISITS.filter((one) => one.as === as)) {
          const began = Date.now();
          const found = await faultsOf(app, visit, device === PHONE).catch((error: Error) => [
            `${visit.route}: ${error.message.slice(0, 300)}`,
          ]);
          faults.push(...found);
          if (process.env.TIMES) console.log(`    ${visit.route} ${Date.now() - began} ms`, found.join('\n'));
        }
        await app.close();
      }
      expect(faults.join('\n')).to.equal('');
    });
});
