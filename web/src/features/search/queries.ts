// What the search page reads.
import type { ListedItem, SearchHit, Suggestion } from 'foyer-client';
import { query } from '#core/cache/query.ts';

/** The search that the address of the page holds. */
export interface Search {
  q: string;
  library: string;
  /** A group of the answer. */
  kind: string;
}

const A_GROUP = 12;
const ONE_GROUP = 20;

export function searchOf(address: string): Search {
  const given = new URLSearchParams(address);
  return { q: given.get('q') ?? '', library: given.get('library') ?? '', kind: given.get('kind') ?? '' };
}

export function addressOf({ q, library, kind }: Search): string {
  const given = Object.entries({ q, library, kind }).filter(([, value]) => value !== '');
  return given.length > 0 ? `/search?${new URLSearchParams(given)}` : '/search';
}

export const everything = ({ q, library, kind }: Search) =>
  query('searchAll', {
    query: {
      q,
      ...(library && { libraryId: library }),
      ...(kind && { kinds: kind }),
      perGroup: kind ? ONE_GROUP : A_GROUP,
      transcripts: kind === '',
    },
  });

export const typedSoFar = (q: string, library: string) =>
  query('suggest', { query: { q: q.slice(0, 60), ...(library && { libraryId: library }) } });

export const spokenIn = (itemId: string, q: string) =>
  query('searchTranscripts', { query: { q, itemId, limit: 50, context: false } });

const PAGES: Readonly<Record<string, string>> = {
  item: 'item',
  person: 'person',
  studio: 'studio',
  collection: 'collection',
};

/** The page of a hit or a suggestion; a genre is searched. */
export function pathOf({ kind, id, text }: { kind: string; id?: string | undefined; text: string }): string {
  if (kind === 'channel') return '/live';
  if (kind === 'program') return id ? `/live/guide?program=${id}` : '/live/guide';
  const page = PAGES[kind];
  return page && id ? `/${page}/${id}` : addressOf({ q: text, library: '', kind: '' });
}

export const pathOfHit = ({ kind, id, title }: SearchHit): string => pathOf({ kind, id, text: title });
export const pathOfSuggestion = (one: Suggestion): string => pathOf(one);

export const shapeOfKind = (key: string): 'poster' | 'landscape' | 'square' => {
  if (key === 'episode' || key === 'video' || key === 'program') return 'landscape';
  return ['artist', 'album', 'track', 'audiobook', 'author', 'photo-album', 'studio'].includes(key)
    ? 'square'
    : 'poster';
};

export const markOf = (item: ListedItem | undefined, words: { unavailable: string; watched: string }) => {
  if (item?.availability) return { icon: 'cloudOff' as const, label: words.unavailable };
  return item?.userState.watched ? { icon: 'check' as const, label: words.watched } : undefined;
};
