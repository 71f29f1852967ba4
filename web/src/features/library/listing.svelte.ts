// The items of a library in one sort and filter: blocks behind the marks of its index. The last lists stay in memory, so
// that a return to one shows it at once.
import type { GetLibraryIndexResponse, IndexBucket, ItemSummary, Library, UserState } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { query, queryClient } from '#core/cache/query.ts';
import { holdTitles } from '#core/cache/titles.ts';
import { printFilter } from '#core/filter/parse.ts';
import { Blocks, firstBlock, marksFor, type Part, type Wanted } from '#core/geometry/blocks.ts';
import { baseOf } from '#core/types.ts';
import { onPatch } from '#features/item/patch.ts';
import { isIndexed, type State } from './view.ts';

/** What every list has of an item: a card, or a summary where the view shows more. */
export type Listed = Pick<ItemSummary, 'id' | 'type' | 'title'> &
  Partial<Omit<ItemSummary, 'userState'>> & { userState: Pick<UserState, 'watched' | 'progress'> & Partial<UserState> };

export interface Listing {
  key: string;
  total: number;
  buckets: readonly IndexBucket[];
  blocks: Blocks<Listed>;
  /** Follows items that arrive or change; one at a time. */
  changed: (from: number, to: number) => void;
  failed: (error: unknown) => void;
}

const KEPT = 4;
const kept = new Map<string, Listing>();

const containers = ['show', 'artist', 'album', 'comic-series', 'course'];

/** Cards are enough where no mark needs more. */
function fieldsFor({ view, type }: State, library: Library): 'card' | 'summary' {
  const marked =
    library.state.endsWith('unavailable') || baseOf(library) === 'shows' || containers.includes(type ?? '');
  return view === 'grid' && !marked ? 'card' : 'summary';
}

const countOf = ({ itemCounts }: Library, type?: string): number =>
  type ? (itemCounts[type] ?? 0) : Math.max(0, ...Object.values(itemCounts));

const parametersOf = ({ sort, filter, type }: State) => {
  const text = printFilter(filter);
  return { sort, ...(text && { filter: text }), ...(type && { type }) };
};

const marksOf = (counted: Library, { sort, type }: State): number =>
  isIndexed(sort) ? marksFor(countOf(counted, type)) : 0;

/** `counted` is the library as it was when its list was opened: marks that follow its size would make another list of it. */
export const indexOf = (counted: Library, state: State) => {
  const { sort, ...others } = parametersOf(state);
  return query('getLibraryIndex', {
    params: { id: counted.id },
    query: { ...others, sort: isIndexed(sort) ? sort : 'title', marks: marksOf(counted, state) },
  });
};

type Parameters = ReturnType<typeof parametersOf> & { fields: 'card' | 'summary' };

async function pageOf(
  id: string,
  parameters: Parameters,
  { cursor, limit, signal }: Omit<Wanted, 'signal'> & { signal?: AbortSignal },
): Promise<Part<Listed>> {
  const { items, page } = await api.listLibraryItems({
    params: { id },
    query: { ...parameters, limit, ...(cursor && { cursor }) },
    ...(signal && { signal }),
  });
  return { items: items as Listed[], cursor: page.cursor };
}

/** The first page that was requested last, while the index of its list was on its way. */
let ahead: { of: string; page: Promise<Part<Listed>> } | undefined;

const firstOf = (id: string, parameters: Parameters, limit: number): string => JSON.stringify([id, parameters, limit]);

/** Requests the first page of a list before its index has come; a list that begins elsewhere, or is filtered to fewer, loads its own. */
export function readAhead(library: Library, state: State): void {
  const parameters = { fields: fieldsFor(state, library), ...parametersOf(state) };
  const limit = firstBlock(countOf(library, state.type), marksOf(library, state));
  if (limit === 0) return;
  ahead = { of: firstOf(library.id, parameters, limit), page: pageOf(library.id, parameters, { limit }) };
  ahead.page.catch(() => {}); // the list that takes it reports the error
}

/** Taken once: it is out of date for a later list. */
function takeAhead(of: string): Promise<Part<Listed>> | undefined {
  const taken = ahead?.of === of ? ahead.page : undefined;
  ahead = undefined;
  return taken;
}

export function listingOf(library: Library, state: State, index: GetLibraryIndexResponse): Listing {
  const fields = fieldsFor(state, library);
  const parameters = parametersOf(state);
  const key = JSON.stringify([library.id, fields, parameters, index.total, index.buckets, index.marks?.at(-1)]);
  const known = kept.get(key);
  if (known) {
    kept.delete(key);
    kept.set(key, known);
    return known;
  }
  const made = makeListing(key, library, { fields, ...parameters }, index);
  kept.set(key, made);
  for (const old of kept.keys()) if (kept.size > KEPT) kept.delete(old);
  return made;
}

function makeListing(key: string, { id }: Library, parameters: Parameters, index: GetLibraryIndexResponse): Listing {
  const load = (wanted: Wanted) =>
    (wanted.cursor ? undefined : takeAhead(firstOf(id, parameters, wanted.limit))) ?? pageOf(id, parameters, wanted);
  const indexed = isIndexed(parameters.sort);
  const { total, buckets } = index;
  const listing: Listing = { key, total, buckets: indexed ? buckets : [], ...idle, blocks: undefined as never };
  const source = {
    load,
    changed: (from: number, to: number) => listing.changed(from, to),
    failed: (error: unknown) => listing.failed(error),
  };
  listing.blocks = new Blocks<Listed>(source, indexed ? index : { total });
  return listing;
}

const idle = { changed: () => {}, failed: () => {} };

/** A list that is shown no more takes no part in changes of the page. */
export function release(listing: Listing): void {
  listing.blocks.stop();
  Object.assign(listing, idle);
}

holdTitles((id) => {
  for (const { blocks } of kept.values()) for (const [, item] of blocks.known()) if (item.id === id) return item.title;
  return undefined;
});

onPatch((patches) => {
  for (const { blocks } of kept.values())
    blocks.patch((item) => {
      const patch = patches.get(item.id);
      return patch ? { ...item, userState: { ...item.userState, ...patch } } : item;
    });
});

queryClient.getQueryCache().subscribe(({ type, query: { queryKey } }) => {
  if (type === 'removed' && queryKey[0] === 'getMe') kept.clear(); // another profile, or a sign-out
});
