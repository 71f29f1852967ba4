// The rows of Home while the server serves no home of its own: to continue, recently added, not yet watched.
import type { Library, ListedItem } from 'foyer-client';
import { query } from '#core/cache/query.ts';
import { baseOf } from '#core/types.ts';
import * as m from '#messages/home.ts';

export interface Row {
  id: string;
  title: string;
  /** `large` is the row to continue with: landscape cards with progress. */
  look: 'large' | 'posters';
  /** Where "See all" leads. */
  all?: string;
  request: ReturnType<typeof listed>;
}

const LIMIT = 24;
const PLAYED = 'movie,episode,video,recording';
const FILMED = ['movies', 'shows', 'videos'];

const listed = (parameters: { filter?: string; sort: string; type?: string; libraryIds?: string }) =>
  query('listItems', { query: { limit: LIMIT, ...parameters } });

export const continuing = (): Row => ({
  id: 'continue',
  title: m.continueRow(),
  look: 'large',
  request: listed({ filter: 'in_progress:eq:true', sort: '-lastPlayedAt', type: PLAYED }),
});

const onHome = (libraries: readonly Library[]): readonly Library[] =>
  libraries.filter(({ settings, state }) => settings.onHome && state !== 'empty');

const added = ({ id, name }: Library): Row => ({
  id: `added ${id}`,
  title: m.addedTo({ library: name }),
  look: 'posters',
  all: `/library/${id}?sort=-addedAt`,
  request: listed({ libraryIds: id, sort: '-addedAt' }),
});

const unwatched = ({ id, name }: Library): Row => ({
  id: `unwatched ${id}`,
  title: m.unwatchedIn({ library: name }),
  look: 'posters',
  all: `/library/${id}?filter=unwatched%3Aeq%3Atrue`,
  request: listed({ libraryIds: id, sort: 'random', filter: 'unwatched:eq:true' }),
});

/** Items to continue first, then new ones, then those that wait. */
export function rowsOf(libraries: readonly Library[]): Row[] {
  const shown = onHome(libraries);
  const filmed = shown.filter((library) => FILMED.includes(baseOf(library)));
  return [continuing(), ...shown.map(added), ...filmed.map(unwatched)];
}

const lengthLeft = ({ runtimeMs, userState }: ListedItem): number => (runtimeMs ?? 0) - userState.positionMs;
/** Milliseconds that are left of an item; 0 when its length is unknown. */
export const leftOf = (item: ListedItem): number => Math.max(0, lengthLeft(item));
