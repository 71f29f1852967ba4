// The address of a library page is its state.
import type { Library } from 'foyer-client';
import { type Condition, parseFilter, printFilter } from '#core/filter/parse.ts';
import type { Density } from '#core/geometry/grid.ts';

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
export const tabsOf = ({ type, itemCounts }: Pick<Library, 'type' | 'itemCounts'>): readonly string[] => {
  const there = (TOP[type] ?? []).filter((one, at) => at === 0 || (itemCounts[one] ?? 0) > 0);
  return ['photos', 'books'].includes(type) ? [] : there;
};

export const defaultSort = ({ type }: Pick<Library, 'type'>): string => (type === 'photos' ? '-takenAt' : 'title');

export function stateOf(library: Pick<Library, 'type'>, query: Pick<URLSearchParams, 'get'>): State {
  const [view, type, folder] = [query.get('view') as View, query.get('type'), query.get('folder')];
  return {
    view: views.includes(view) ? view : 'grid',
    sort: query.get('sort') ?? defaultSort(library),
    filter: parseFilter(query.get('filter')),
    page: Math.max(1, Number(query.get('page')) || 1),
    ...(type && { type }),
    ...(folder && { folder }),
  };
}

/** The query of an address, without usual values. */
export function queryOf(library: Pick<Library, 'type'>, { view, sort, filter, type, page, folder }: State): string {
  const words = Object.entries({
    view: view === 'grid' ? '' : view,
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

export function keepLook(library: Pick<Library, 'id' | 'type'>, { view, sort }: State): void {
  const look = queryOf(library, { view, sort, filter: [], page: 1 });
  if (look) localStorage.setItem(lookKey(library.id), look);
  else localStorage.removeItem(lookKey(library.id));
}

const DENSITY = 'foyer.density';
export const keptDensity = (): Density => (localStorage.getItem(DENSITY) as Density | null) ?? 'normal';
export const keepDensity = (density: Density): void => localStorage.setItem(DENSITY, density);
