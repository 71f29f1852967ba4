import type { LibraryRow } from '#areas/items/public.ts';
import { baseOf } from '#platform/own-types.ts';
import type { HomeRowKind, LayoutRow } from './layout.schemas.ts';

const SIZE = 20;
/** Libraries with a row of their own. */
const MOST_LIBRARIES = 15;

const row = (kind: HomeRowKind, more: Partial<LayoutRow> = {}): LayoutRow => ({
  rowId: kind,
  kind,
  size: SIZE,
  hideWatched: false,
  ...more,
});

/** The layout of a server that stores none: what to continue, what each library got, then suggestions, by the types of libraries. */
export function builtInRows(libraries: readonly LibraryRow[]): LayoutRow[] {
  const has = (...types: string[]): boolean => libraries.some((library) => types.includes(baseOf(library)));
  const when = (held: boolean, rows: LayoutRow[]): LayoutRow[] => (held ? rows : []);
  const added = libraries
    .filter((library) => baseOf(library) !== 'photos')
    .slice(0, MOST_LIBRARIES)
    .map(({ id, name }) =>
      row('recently-added', {
        rowId: `recently-added.${id}`,
        title: `Recently added in ${name}`.slice(0, 60).toWellFormed(),
        source: { libraryIds: [id] },
      }),
    );
  return [
    ...when(has('movies', 'shows', 'videos', 'courses'), [row('continue')]),
    ...when(has('books', 'comics'), [row('continue-reading'), row('continue-listening')]),
    ...added,
    ...when(has('photos'), [row('photos-on-this-day'), row('photos-recent')]),
    ...when(has('movies', 'shows'), [row('because-you-watched'), row('top-here')]),
    ...when(has('movies', 'shows', 'videos'), [row('unwatched-random')]),
    row('favorites'),
  ];
}
