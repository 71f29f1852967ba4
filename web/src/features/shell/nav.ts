// The places of the navigation, in order. A page that is added gets its entry here.
import type { Library } from 'foyer-client';
import { baseOf } from '#core/types.ts';
import * as m from '#messages/shell.ts';
import type { IconName } from '#ui/icons.ts';

export interface Place {
  href: string;
  label: string;
  icon: IconName;
  /** The slot of the active icon set that is shown in place of `icon`. */
  slot?: string;
  /** Id of the icon that was chosen for this place. */
  iconId?: string;
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

export const home = (): Place => ({ href: '/', label: m.home(), icon: 'home', slot: 'nav.home' });
export const allLibraries = (): Place => ({
  href: '/libraries',
  label: m.libraries(),
  icon: 'library',
  slot: 'nav.libraries',
});
export const search = (): Place => ({ href: '/search', label: m.search(), icon: 'search', slot: 'nav.search' });
export const mine = (): Place => ({ href: '/me', label: m.mine(), icon: 'user', slot: 'nav.mine' });
export const collections = (): Place => ({
  href: '/collections',
  label: m.collections(),
  icon: 'grid',
  slot: 'nav.collections',
});

export const discover = (): Place => ({ href: '/discover', label: m.discover(), icon: 'film', slot: 'nav.discover' });

export const liveTv = (): Place => ({ href: '/live', label: m.liveTv(), icon: 'tv', slot: 'nav.live' });

export const placeOf = ({
  id,
  name,
  icon,
  ...typed
}: Pick<Library, 'id' | 'name' | 'icon' | 'type' | 'baseType'>): Place => ({
  href: `/library/${id}`,
  label: name,
  icon: ICONS[baseOf(typed)] ?? 'folder',
  slot: typed.baseType ? 'library.custom' : `library.${typed.type}`,
  ...(icon && { iconId: icon }),
  preload: 'tap',
});

/** Whether a place is the page at `path`, or holds it. */
export const isAt = ({ href }: Place, path: string): boolean =>
  href === '/' ? path === '/' : `${path}/`.startsWith(`${href}/`);
