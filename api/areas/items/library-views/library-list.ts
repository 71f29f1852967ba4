import type { z } from 'zod';
import { type Call, jsonText } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { isKnown, NOTHING } from '../files/versions.store.ts';
import { getFolder, inFolder } from '../folders/folders.store.ts';
import type { ItemCard, ListedItem } from '../items.schemas.ts';
import { itemsAnswer, itemsPage, rollupTotal, toCard, typesOf, usualSort } from '../listing/browse.ts';
import { dayOf, type Listing, type ListQuery, moves, pageText, rulesFor } from '../listing/listing.ts';
import {
  getLibraryAtVersion,
  type LibraryAtVersion,
  type LibraryRow,
  libraryAtVersion,
  shelvesOf,
} from '../listing/shelves.store.ts';
import { byArtist, librarySorts } from '../listing/sorts.ts';
import { orderOfAll, titleSort } from '../listing/title-order.ts';
import { knownTotal } from '../listing/totals.ts';
import { listScope } from '../queries.ts';

/** What listLibraryItems is asked. */
export interface LibraryListQuery {
  limit: number;
  cursor?: string | undefined;
  type?: string[] | undefined;
  view: 'items' | 'all';
  folder?: string | undefined;
  deep: boolean;
  around?: string | undefined;
  fields: 'card' | 'summary';
  sort?: string | undefined;
  filter?: string | undefined;
  include?: string[] | undefined;
}

type Answer = {
  items: (ListedItem | z.output<typeof ItemCard>)[];
  page: Awaited<ReturnType<typeof itemsPage>>['page'];
};

/** Libraries as they were last read: a type never changes, and from the counts follows only how a total is found. */
const lastSeen = new Map<string, LibraryRow>();

function askOf(call: Call, library: LibraryRow, query: LibraryListQuery): ListQuery {
  const types = typesOf(library, query.type, query.view);
  const { folder, deep } = query;
  return {
    ...query,
    scope: listScope(library.id, types, folder === undefined ? undefined : { id: folder, deep }),
    fallback: usualSort(library, types),
    sorts: librarySorts,
    moreSorts: {
      ...titleSort(call, [library]),
      ...(query.sort === undefined ? { artist: byArtist(orderOfAll(call, [library])) } : {}),
    },
    backwards: true,
    ...(folder === undefined ? { total: () => rollupTotal(call, [library], types) } : {}),
  };
}

/** The page of a library: first the library and its version, for those who have that version already, then the items. */
export async function libraryPage(call: Call, id: string, query: LibraryListQuery): Promise<Answer> {
  const { library, version } = await getLibraryAtVersion(call.db, call.who, id);
  lastSeen.set(id, library);
  const types = typesOf(library, query.type, query.view);
  if (!moves(rulesFor(call, types, query.filter)) && isKnown(call, version, { more: dayOf(call) })) return NOTHING;
  const folder = query.folder === undefined ? undefined : await getFolder(call.db, library.id, query.folder);
  const listing: Listing = {
    types,
    shelves: shelvesOf([library], types),
    ...(folder
      ? { narrow: (q) => inFolder(q, { folderId: folder.folder.id, prefix: folder.prefix, deep: query.deep }) }
      : {}),
  };
  const ask = { ...askOf(call, library, query), include: query.include };
  if (query.fields === 'summary') return itemsAnswer(call, listing, ask);
  const { items, page } = await itemsPage(call, listing, ask);
  return { items: items.map(toCard), page };
}

const usual = ({ folder, around, fields, filter, include }: LibraryListQuery): boolean =>
  fields === 'summary' && !folder && !around && !filter && !include;

/**
 * The same in one statement, library and version beside the items; undefined for a library not seen yet, for a caller who
 * may have the list already, and for what is asked more rarely.
 */
export async function libraryPageAtOnce(call: Call, id: string, query: LibraryListQuery): Promise<Answer | undefined> {
  const { db, who } = call;
  const before = lastSeen.get(id);
  if (!before || call.headers['if-none-match'] !== undefined || !usual(query)) return undefined;
  const types = typesOf(before, query.type, query.view);
  const found = (beside: unknown): LibraryAtVersion => {
    if (!beside) throw notFound();
    return beside as LibraryAtVersion;
  };
  const ask = askOf(call, before, query);
  const known = knownTotal(call, id, types);
  const { text, extra, total } = await pageText(
    call,
    { types, shelves: shelvesOf([before], types) },
    {
      ...ask,
      many: (known.at(before) ?? ask.total?.()) !== undefined,
      totalOf: (read) => known.at(found(read).library) ?? rollupTotal(call, [found(read).library], types),
      beside: () => libraryAtVersion(db, who, id),
    },
  ).catch(async (error: unknown) => {
    await getLibraryAtVersion(db, who, id); // what is wrong with the question is told to those who see the library
    throw error;
  });
  const { library, version } = found(extra);
  lastSeen.set(id, library);
  known.keep(library, total);
  isKnown(call, version, { more: dayOf(call) });
  return jsonText(text);
}
