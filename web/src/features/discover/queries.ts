import type { DiscoverTitle } from 'foyer-client';
import { query } from '#core/cache/query.ts';
import { pagesOf } from '#features/people/queries.ts';

export const titleQuery = (titleId: string) => query('getDiscoverTitle', { params: { titleId } });

export type Section = 'cinemas' | 'discs' | 'streaming';

/** The titles of a section, page by page; `later` are those that are not out yet. */
export const sectionPages = (section: Section, { later, elsewhere }: { later: boolean; elsewhere: boolean }) => {
  const more = { hideHere: elsewhere, limit: 60 };
  if (section === 'cinemas') return pagesOf('listInCinemas', { query: { ...more, when: later ? 'upcoming' : 'now' } });
  if (section === 'discs') return pagesOf('listNewOnDisc', { query: { ...more, when: later ? 'upcoming' : 'new' } });
  return pagesOf('listToStream', { query: { ...more, hideWatched: elsewhere } });
};

export const foundTitles = (q: string) => pagesOf('searchDiscoverTitles', { query: { q, limit: 60 } });

/** The page of a title: of the item where it is here. */
export const pathOf = ({ titleId, here }: DiscoverTitle): string =>
  here ? `/item/${here.itemId}` : `/discover/title/${encodeURIComponent(titleId)}`;
