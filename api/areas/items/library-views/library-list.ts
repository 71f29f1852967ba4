import type { z } from 'zod';
import { type Call, jsonText } from '#kernel/endpoint.ts';
import { notFound } from '#kernel/errors.ts';
import { knowCustomFields } from '../fields/custom-fields.ts';
import { isKnown, NOTHING } from '../files/versions.store.ts';
import { getFolder, inFolder } from '../folders/folders.store.ts';
import type { ItemCard, ListedItem } from '../items.schemas.ts';
import { defaultSort, itemsAnswer, itemsPage, rollupTotal, toCard, typesOf } from '../listing/browse.ts';
import { dayOf } from '../listing/day.ts';
import { isTimeDependent, type Listing, type ListQuery, pageText, rulesFor } from '../listing/listing.ts';
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

/** Query of listLibraryItems. */
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

/** The last read row of each library. Its type never changes, and its counts decide only how a total is found. */
const lastRead = new Map<string, LibraryRow>();

function listQueryOf(call: Call, library: LibraryRow, query: LibraryListQuery): ListQuery {
  const types = typesOf(library, query.type, query.view);
  const { folder, deep } = query;
  return {
    ...query,
    scope: listScope(library.id, types, folder === undefined ? undefined : { id: folder, deep }),
    fallback: defaultSort(library, types),
    sorts: librarySorts,
    moreSorts: {
      ...titleSort(call, [library]),
      ...(query.sort === undefined ? { artist: byArtist(orderOfAll(call, [library])) } : {}),
    },
    backwards: true,
    ...(folder === undefined ? { total: () => rollupTotal(call, [library], types) } : {}),
  };
}

/** A page of a library. Reads the library and its version first, for clients that already have this version. */
export async function libraryPage(call: Call, id: string, query: LibraryListQuery): Promise<Answer> {
  const { library, version } = await getLibraryAtVersion(call.db, call.who, id);
  lastRead.set(id, library);
  const types = typesOf(library, query.type, query.view);
  await knowCustomFields(call, { texts: [query.filter] });
  if (!isTimeDependent(rulesFor(call, types, query.filter)) && isKnown(call, version, { more: dayOf(call) }))
    return NOTHING;
  const folder = query.folder === undefined ? undefined : await getFolder(call.db, library.id, query.folder);
  const listing: Listing = {
    types,
    shelves: shelvesOf([library], types),
    ...(folder
      ? { narrow: (q) => inFolder(q, { folderId: folder.folder.id, prefix: folder.prefix, deep: query.deep }) }
      : {}),
  };
  const options = { ...listQueryOf(call, library, query), include: query.include };
  if (query.fields === 'summary') return itemsAnswer(call, listing, options);
  const { items, page } = await itemsPage(call, listing, options);
  return { items: items.map(toCard), page };
}

const usual = ({ folder, around, fields, filter, include }: LibraryListQuery): boolean =>
  fields === 'summary' && !folder && !around && !filter && !include;

/**
 * The same in one statement. Undefined for a library that was not read before, for a caller who may already have the
 * list, and for rare query members.
 */
export async function libraryPageAtOnce(call: Call, id: string, query: LibraryListQuery): Promise<Answer | undefined> {
  const { db, who } = call;
  const before = lastRead.get(id);
  if (!before || call.headers['if-none-match'] !== undefined || !usual(query)) return undefined;
  const types = typesOf(before, query.type, query.view);
  const found = (extra: unknown): LibraryAtVersion => {
    if (!extra) throw notFound();
    return extra as LibraryAtVersion;
  };
  const options = listQueryOf(call, before, query);
  const known = knownTotal(call, id, types);
  const { text, extra, total } = await pageText(
    call,
    { types, shelves: shelvesOf([before], types) },
    {
      ...options,
      totalIsKnown: (known.at(before) ?? options.total?.()) !== undefined,
      totalOf: (read) => known.at(found(read).library) ?? rollupTotal(call, [found(read).library], types),
      extra: () => libraryAtVersion(db, who, id),
    },
  ).catch(async (error: unknown) => {
    await getLibraryAtVersion(db, who, id); // an invalid query is reported only to callers who may see the library
    throw error;
  });
  const { library, version } = found(extra);
  lastRead.set(id, library);
  known.keep(library, total);
  isKnown(call, version, { more: dayOf(call) });
  return jsonText(text);
}
