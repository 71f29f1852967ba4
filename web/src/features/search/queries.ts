// Search while the server serves none of its own: titles that contain the text, by type.
import type { Library, ListedItem } from 'foyer-client';
import { query } from '#core/cache/query.ts';
import { printFilter } from '#core/filter/parse.ts';

/** In the order of the groups. */
const TYPES = [
  'movie',
  'show',
  'episode',
  'video',
  'artist',
  'album',
  'track',
  'book',
  'audiobook',
  'comic-series',
  'comic',
  'game',
  'course',
  'photo',
  'recording',
];
const LIMIT = 50;
const MOST_TYPES = 8;

/** Types that the libraries hold, those of the owner last. */
export function typesIn(libraries: readonly Library[]): string[] {
  const held = new Set(
    libraries.flatMap(({ itemCounts }) =>
      Object.entries(itemCounts).flatMap(([type, count]) => (count > 0 ? [type] : [])),
    ),
  );
  const own = [...held].filter((type) => type.startsWith('custom:')).sort();
  return [...TYPES.filter((type) => held.has(type)), ...own].slice(0, MOST_TYPES);
}

export const filterOf = (text: string): string => printFilter([{ field: 'title', op: 'contains', values: [text] }]);

export const searched = (text: string, type: string) =>
  query('listItems', { query: { filter: filterOf(text), type, sort: 'title', limit: LIMIT } });

/** The whole title first, then its beginning, then the beginning of a word. */
function rankOf(title: string, text: string): number {
  const [whole, part] = [title.toLocaleLowerCase(), text.toLocaleLowerCase()];
  if (whole === part) return 0;
  if (whole.startsWith(part)) return 1;
  return whole.includes(` ${part}`) ? 2 : 3;
}

export const best = (items: readonly ListedItem[], text: string): ListedItem[] =>
  [...items].sort((a, b) => rankOf(a.title, text) - rankOf(b.title, text));

/** The library that alone holds a type: its list shows all matches. */
export function libraryOf(libraries: readonly Library[], type: string): Library | undefined {
  const [only, ...others] = libraries.filter(({ itemCounts }) => (itemCounts[type] ?? 0) > 0);
  return others.length === 0 ? only : undefined;
}
