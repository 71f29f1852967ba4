// The pages of the app, each with the states that its tests look at.
import type { Household } from './household.ts';

export interface Visit {
  /** The folder in web/src/routes; several visits may show several states of a page. */
  route: string;
  path?: string | ((home: Household) => string);
  /** Stands on the page as soon as it is complete. */
  shows: string;
  /** Pressed first. */
  presses?: readonly string[];
  as?: 'nobody' | 'first run';
}

export const VISITS: readonly Visit[] = [
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
