// The address of a library page is its state.
import type { Library } from 'foyer-client';
import { query } from '#core/cache/query.ts';
import { type Condition, parseFilter, printFilter } from '#core/filter/parse.ts';
import type { Density } from '#core/geometry/grid.ts';
import { baseOf } from '#core/types.ts';

export const views = ['grid', 'list', 'table', 'folders'] as const;
export type View = (typeof views)[number];

export interface State {
  view: View;
  /** Such as `title` or `-addedAt`. */
  sort: string;
  filter: readonly Condition[];
  type?: string;
  /** Of the list, from 1. */
  page: number;
  /** Of the folders view; absent is the top. */
  folder?: string;
}

const TOP: Readonly<Record<string, readonly string[]>> = {
  movies: ['movie'],
  shows: ['show', 'episode'],
  videos: ['video'],
  music: ['album', 'artist', 'track'],
  photos: ['photo', 'video'],
  books: ['book', 'audiobook'],
  comics: ['comic-series', 'comic'],
  games: ['game'],
  courses: ['course'],
};

/** The types that have a tab of their own; the first is listed without one. */
export const tabsOf = (library: Pick<Library, 'type' | 'baseType' | 'itemCounts'>): readonly string[] => {
  const { itemCounts } = library;
  const type = baseOf(library);
  // Levels of an owner-made type have other names; its own list shows the first of them.
  if (library.baseType) return [];
  const there = (TOP[type] ?? []).filter((one, at) => at === 0 || (itemCounts[one] ?? 0) > 0);
  return ['photos', 'books'].includes(type) ? [] : there;
};

export const defaultSort = (library: Pick<Library, 'type' | 'baseType'>): string =>
  baseOf(library) === 'photos' ? '-takenAt' : 'title';

export function stateOf(
  library: Pick<Library, 'type' | 'baseType'>,
  words: Pick<URLSearchParams, 'get'>,
  usual: View = 'grid',
): State {
  const [view, type, folder] = [words.get('view') as View, words.get('type'), words.get('folder')];
  return {
    view: views.includes(view) ? view : usual,
    sort: words.get('sort') ?? defaultSort(library),
    filter: parseFilter(words.get('filter')),
    page: Math.max(1, Number(words.get('page')) || 1),
    ...(type && { type }),
    ...(folder && { folder }),
  };
}

/** The query of an address, without usual values. */
export function queryOf(
  library: Pick<Library, 'type' | 'baseType'>,
  { view, sort, filter, type, page, folder }: State,
  usual: View = 'grid',
): string {
  const words = Object.entries({
    view: view === usual ? '' : view,
    sort: sort === defaultSort(library) ? '' : sort,
    filter: printFilter(filter),
    type: type ?? '',
    page: page === 1 ? '' : String(page),
    folder: folder ?? '',
  }).filter(([, value]) => value !== '');
  return words.length === 0 ? '' : `?${new URLSearchParams(words)}`;
}

/** Sorts that have a jump rail and marks. */
const INDEXED = ['title', 'addedAt', 'releasedOn', 'year', 'rating', 'takenAt'];
export const isIndexed = (sort: string): boolean => INDEXED.includes(sort.replace(/^-/, ''));

const lookKey = (id: string): string => `foyer.library.${id}`;

/** The query of a library's view and sort that the person chose last on this device; filters are not kept. */
export const keptLook = (id: string): string => localStorage.getItem(lookKey(id)) ?? '';

export function keepLook(
  library: Pick<Library, 'id' | 'type' | 'baseType'>,
  { view, sort }: State,
  usual: View = 'grid',
): void {
  const look = queryOf(library, { view, sort, filter: [], page: 1 }, usual);
  if (look) localStorage.setItem(lookKey(library.id), look);
  else localStorage.removeItem(lookKey(library.id));
}

/** The types of the server, read where an owner-made type decides the layout. */
export const typesQuery = ({ baseType }: Pick<Library, 'baseType'>) => ({
  ...query('listLibraryTypes'),
  enabled: baseType !== undefined,
});

const DENSITY = 'foyer.density';
export const keptDensity = (): Density => (localStorage.getItem(DENSITY) as Density | null) ?? 'normal';
export const keepDensity = (density: Density): void => localStorage.setItem(DENSITY, density);
