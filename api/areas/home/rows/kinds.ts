import type { LibraryRow } from '#areas/items/public.ts';
import type { Restriction } from '#identity/restrictions.ts';
import type { HomeRowKind } from '../layout/layout.schemas.ts';
import { newEpisodes, recentlyAdded } from './added.view.ts';
import {
  continueBoth,
  continueListening,
  continueReading,
  continueWatching,
  favorites,
  nextUp,
} from './continue.view.ts';
import { ofCollection, ofSavedFilter } from './kept-lists.ts';
import { becauseYouWatched, courses, filtered, games, newlyReleased, photosRecent, unwatchedRandom } from './lists.ts';
import { photosOnThisDay } from './photos.view.ts';
import type { RowReader } from './reader.ts';
import { topHere } from './top.view.ts';

const ofOne =
  (query: string) =>
  (libraries: readonly LibraryRow[]): string | undefined => {
    const [only, ...others] = libraries;
    return only && others.length === 0 ? `/library/${only.id}?${query}` : undefined;
  };

const watching = { target: 'play', styles: ['landscape', 'posters', 'list'], family: 'continue' } as const;
const posters = { target: 'open', styles: ['posters', 'landscape', 'list'] } as const;
const photos = { target: 'open', styles: ['photos', 'squares'], libraryTypes: ['photos'] } as const;
const shows = { libraryTypes: ['shows'] } as const;

/** The kinds of rows that this version fills. */
export const readers: Partial<Record<HomeRowKind, RowReader>> = {
  'continue-watching': { ...watching, title: 'Continue watching', read: continueWatching },
  'next-up': { ...watching, ...shows, title: 'Next up', read: nextUp },
  continue: { ...watching, title: 'Continue', read: continueBoth },
  'continue-reading': {
    ...posters,
    title: 'Continue reading',
    target: 'read',
    libraryTypes: ['books', 'comics'],
    family: 'continue',
    read: continueReading,
  },
  'continue-listening': {
    ...posters,
    title: 'Continue listening',
    target: 'listen',
    styles: ['squares', 'posters'],
    libraryTypes: ['books'],
    family: 'continue',
    read: continueListening,
  },
  'recently-added': { ...posters, title: 'Recently added', read: recentlyAdded, seeAll: ofOne('sort=-addedAt') },
  'new-episodes': { ...watching, ...shows, title: 'New episodes', read: newEpisodes },
  'newly-released': { ...posters, title: 'Newly released', read: newlyReleased, seeAll: ofOne('sort=-releasedOn') },
  filter: { ...posters, title: 'Filter', needs: ['filter'], read: filtered },
  collection: {
    ...posters,
    title: 'Collection',
    needs: ['collectionId'],
    read: ofCollection,
    seeAll: (_libraries, { source }) => `/collection/${source?.collectionId}`,
  },
  'saved-filter': { ...posters, title: 'Saved filter', needs: ['filterId'], read: ofSavedFilter },
  courses: { ...posters, title: 'Courses', libraryTypes: ['courses'], read: courses },
  games: { ...posters, title: 'Games', libraryTypes: ['games'], read: games },
  'photos-on-this-day': { ...photos, title: 'On this day', read: photosOnThisDay },
  'photos-recent': { ...photos, title: 'Recent photos', read: photosRecent, seeAll: ofOne('sort=-takenAt') },
  'because-you-watched': { ...posters, title: 'Because you watched', read: becauseYouWatched },
  'top-here': { ...posters, title: 'Most played here', read: topHere },
  'unwatched-random': {
    ...posters,
    title: 'Not yet watched',
    read: unwatchedRandom,
    seeAll: ofOne('filter=unwatched%3Aeq%3Atrue'),
  },
  favorites: { ...posters, title: 'Favorites', read: favorites },
  libraries: {
    title: 'Libraries',
    styles: ['landscape', 'squares', 'list'],
    target: 'open',
    read: async ({ libraries, limit }) => ({ cards: libraries.slice(0, limit).map(({ id }) => ({ id })) }),
    seeAll: () => '/libraries',
  },
};

/** Kinds of areas that this version does not serve, with their titles. */
export const unserved: Partial<Record<HomeRowKind, { title: string; restriction?: Restriction }>> = {
  watchlist: { title: 'Watchlist' },
  playlist: { title: 'Playlist' },
  'live-now': { title: 'Live now', restriction: 'liveTv' },
  recordings: { title: 'Recordings', restriction: 'liveTv' },
  'friends-activity': { title: 'What friends watch', restriction: 'friends' },
  rooms: { title: 'Watch together', restriction: 'watchTogether' },
  discover: { title: 'Discover', restriction: 'discover' },
};
