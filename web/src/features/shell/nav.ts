// The places of the navigation, in order. A page that is added gets its entry here.
import type { Library } from 'foyer-client';
import { baseOf } from '#core/types.ts';
import * as m from '#messages/shell.ts';
import type { IconName } from '#ui/icons.ts';

export interface Place {
  href: string;
  label: string;
  icon: IconName;
  /** `tap` where the page redirects by a value of the device: a redirect of an earlier hover may be out of date. */
  preload?: 'tap';
}

const ICONS: Readonly<Record<string, IconName>> = {
  movies: 'film',
  shows: 'tv',
  videos: 'play',
  music: 'music',
  photos: 'photo',
  books: 'book',
  comics: 'book',
  games: 'game',
  courses: 'school',
};

export const home = (): Place => ({ href: '/', label: m.home(), icon: 'home' });
export const allLibraries = (): Place => ({ href: '/libraries', label: m.libraries(), icon: 'library' });
export const search = (): Place => ({ href: '/search', label: m.search(), icon: 'search' });
export const collections = (): Place => ({ href: '/collections', label: m.collections(), icon: 'grid' });
export const mine = (): Place => ({ href: '/me', label: m.mine(), icon: 'user' });

export const placeOf = ({ id, name, ...typed }: Pick<Library, 'id' | 'name' | 'type' | 'baseType'>): Place => ({
  href: `/library/${id}`,
  label: name,
  icon: ICONS[baseOf(typed)] ?? 'folder',
  preload: 'tap',
});

/** Whether a place is the page at `path`, or holds it. */
export const isAt = ({ href }: Place, path: string): boolean =>
  href === '/' ? path === '/' : `${path}/`.startsWith(`${href}/`);
