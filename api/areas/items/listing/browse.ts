import type { z } from 'zod';
import { limitsItems } from '#identity/visibility.ts';
import { type Call, jsonText } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import { EXACT, type Page } from '#kernel/page.ts';
import { baseOf, storedTypes } from '#platform/own-types.ts';
import { knowCustomFields } from '../fields/custom-fields.ts';
import { listSummaries } from '../item/summaries.store.ts';
import type { ItemCard, ItemSummary, ListedItem } from '../items.schemas.ts';
import { heldTypesOf, topTypesOf } from '../kinds.ts';
import { checkIncludes, withIncludes } from './includes.ts';
import { idsPage, type Listing, type ListQuery, listed, pageText, rulesFor } from './listing.ts';
import type { LibraryRow } from './shelves.store.ts';

/** Reads ids, then summaries, then each relation: the number of queries of a page is constant. */
export async function itemsPage(
  call: Call,
  listing: Listing,
  options: ListQuery & { include?: readonly string[] | undefined },
): Promise<{ items: (ItemSummary & Partial<ListedItem>)[]; page: Page }> {
  checkIncludes(options.include, options.limit);
  const { items: ids, page } = await idsPage(call, listing, options);
  const items = await listSummaries(call.db, call.who, ids);
  return { items: await withIncludes(call, items, options.include), page };
}

/** As `itemsPage`. Postgres writes the response when it has no includes. */
export async function itemsAnswer(
  call: Call,
  listing: Listing,
  options: ListQuery & { include?: readonly string[] | undefined },
): ReturnType<typeof itemsPage> {
  if (options.include || options.around !== undefined || listing.shelves?.length === 0)
    return itemsPage(call, listing, options);
  const { total } = options;
  const { text } = await pageText(call, listing, { ...options, totalOf: total, totalIsKnown: total?.() !== undefined });
  return jsonText(text);
}

/** The items of given ids or external ids, in the given order, as one page without a cursor. */
export async function givenItems(
  call: Call,
  listing: Listing,
  options: {
    ids?: readonly string[] | undefined;
    externalIds?: readonly string[] | undefined;
    filter?: string | undefined;
    include?: readonly string[] | undefined;
  },
): Promise<{ items: (ItemSummary & Partial<ListedItem>)[]; page: Page }> {
  const { ids, externalIds } = options;
  await knowCustomFields(call, { texts: [options.filter] });
  if (ids && externalIds) throw invalid(['query', 'externalIds'], 'conflict', 'ids or externalIds, not both');
  const query = listed(call, listing, rulesFor(call, listing.types, options.filter)).select('i.id', 'i.external_ids');
  if (ids) query.whereRaw('i.id = any(?::uuid[])', [[...ids]]);
  else query.whereRaw('i.external_ids @> any(?::jsonb[])', [(externalIds ?? []).map(asPair)]);
  const rows: { id: string; external_ids: Record<string, string> }[] = await query.limit(2000);
  const place = (row: (typeof rows)[number]): number =>
    ids ? ids.indexOf(row.id) : (externalIds ?? []).findIndex((one) => holds(row.external_ids, one));
  const order = rows
    .map((row) => ({ id: row.id, at: place(row) }))
    .sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
  const items = await listSummaries(
    call.db,
    call.who,
    order.map((row) => row.id),
  );
  checkIncludes(options.include, items.length);
  const page: Page = { cursor: null, hasMore: false, total: items.length };
  return { items: await withIncludes(call, items, options.include), page };
}

function pairOf(text: string): [provider: string, id: string] {
  const colon = text.indexOf(':');
  return [text.slice(0, colon), text.slice(colon + 1)];
}

function asPair(text: string): string {
  const [provider, id] = pairOf(text);
  return JSON.stringify({ [provider]: id });
}

function holds(externalIds: Record<string, string>, text: string): boolean {
  const [provider, id] = pairOf(text);
  return externalIds[provider] === id;
}

/** Types that the list of a library shows, as they are stored. */
export function typesOf(
  library: LibraryRow,
  types: readonly string[] | undefined,
  view: 'items' | 'all',
): readonly string[] {
  if (types) return types.flatMap((type) => storedTypes(library, type));
  return view === 'all' ? heldTypesOf(library) : topTypesOf(library);
}

/** Default sort of a library: photos newest first, albums by artist. */
export function defaultSort(library: LibraryRow, types: readonly string[]): string {
  const base = baseOf(library);
  if (base === 'photos') return '-takenAt';
  return base === 'music' && types.length === 1 && types[0] === 'album' ? 'artist,year' : 'title';
}

export function toCard(item: ItemSummary): z.output<typeof ItemCard> {
  const { watched, progress } = item.userState;
  return {
    id: item.id,
    type: item.type,
    ...(item.baseType === undefined ? {} : { baseType: item.baseType }),
    title: item.title,
    ...(item.year === undefined ? {} : { year: item.year }),
    artwork: item.artwork.poster ? { poster: item.artwork.poster } : {},
    userState: { watched, progress },
  };
}

/** Above 10,000 the total comes from the library's counts, when they count what the caller may see. */
export function rollupTotal(
  { who }: Pick<Call, 'who'>,
  libraries: readonly Pick<LibraryRow, 'item_counts'>[],
  types: readonly string[],
): { total: number; totalIsEstimate: true } | undefined {
  if (limitsItems(who.sees)) return undefined;
  const total = libraries
    .flatMap(({ item_counts }) => types.map((type) => item_counts[type] ?? 0))
    .reduce((a, b) => a + b, 0);
  return total > EXACT ? { total, totalIsEstimate: true } : undefined;
}
