import { createHash } from 'node:crypto';
import { findItemSummaries } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { type Page, parseSort, readCursor, type SortTerm, writeCursor } from '#kernel/page.ts';
import { exactLinks, type Member, membersOf, nearLinks } from './duplicates.store.ts';
import { type DuplicateGroup, type DuplicatesQuery, duplicateSorts } from './fingerprints.schemas.ts';
import { groupsOf, type Link } from './groups.ts';

interface Found {
  id: string;
  kind: DuplicateGroup['kind'];
  distance: number;
  /** The one to keep first. */
  members: Member[];
  totalBytes: number;
  reclaimableBytes: number;
}

export async function duplicatesPage(
  call: Call,
  library: { id: string },
  query: DuplicatesQuery,
): Promise<{ items: DuplicateGroup[]; page: Page }> {
  const { cursor, limit, sort, ...filter } = query;
  const { keys } = call.deps;
  const scope = JSON.stringify(['listDuplicates', library.id, call.who.accountId, sort ?? '', filter]);
  const after = cursor === undefined ? undefined : readCursor(keys, scope, cursor);
  const terms = parseSort(sort, duplicateSorts, '-reclaimableBytes');
  const all = (await findGroups(call, library.id, filter)).sort((a, b) => order(terms, a, b));
  const at = after ? all.findIndex((group) => order(terms, group, ofCursor(terms, after)) > 0) : 0;
  const shown = at < 0 ? [] : all.slice(at, at + limit);
  const hasMore = at >= 0 && at + limit < all.length;
  const last = shown.at(-1);
  return {
    items: await answered(call, shown),
    page: {
      cursor:
        hasMore && last
          ? writeCursor(keys, scope, { values: terms.map((term) => sortedBy(term, last)), id: last.id })
          : null,
      hasMore,
      ...(after ? {} : { total: all.length }),
    },
  };
}

type Sorted = Pick<Found, 'id' | 'distance' | 'totalBytes' | 'reclaimableBytes'>;

const sortedBy = ({ name }: SortTerm, group: Sorted): number => group[name as 'distance'];

function order(terms: readonly SortTerm[], a: Sorted, b: Sorted): number {
  for (const term of terms) {
    const apart = sortedBy(term, a) - sortedBy(term, b);
    if (apart !== 0) return term.descending ? -apart : apart;
  }
  return a.id < b.id ? -1 : Number(a.id > b.id);
}

function ofCursor(terms: readonly SortTerm[], { values, id }: { values: unknown[]; id: string }): Sorted {
  const named = Object.fromEntries(terms.map(({ name }, i) => [name, Number(values[i])]));
  return { distance: 0, totalBytes: 0, reclaimableBytes: 0, ...named, id };
}

type Filter = Pick<DuplicatesQuery, 'distance' | 'kind' | 'acrossLibraries'>;

async function findGroups({ db, who }: Call, libraryId: string, filter: Filter): Promise<Found[]> {
  const where = { libraryId, across: filter.acrossLibraries };
  const kinds = (['image', 'video', 'audio'] as const).filter(
    (kind) => filter.kind === undefined || filter.kind === kind,
  );
  const exact = filter.kind === undefined || filter.kind === 'exact' ? await exactLinks(db, where) : [];
  const near: Link[] = [];
  for (const kind of kinds) near.push(...(await nearLinks(db, where, { kind, distance: filter.distance })));
  const members = await membersOf(db, who, [...new Set([...exact, ...near].flatMap(({ one, other }) => [one, other]))]);
  const groups = (links: readonly Link[], kind: Found['kind']): Found[] => {
    // A hidden file links nothing: otherwise its group would show that it exists.
    const visible = links.filter(({ one, other }) => members.has(one) && members.has(other));
    return groupsOf(visible).flatMap((group) => foundOf(group, kind, members));
  };
  const same = groups(exact, 'exact');
  const taken = new Set(same.map(({ members: of }) => keyOf(of)));
  // Files of equal bytes have equal fingerprints: a near group of the same files adds nothing.
  return [...same, ...groups(near, 'near').filter((group) => !taken.has(keyOf(group.members)))];
}

const keyOf = (members: readonly Member[]): string =>
  members
    .map(({ fileId }) => fileId)
    .sort()
    .join();

/** None when the files are versions of one item. */
function foundOf(
  { members: ids, distance }: { members: string[]; distance: number },
  kind: Found['kind'],
  all: ReadonlyMap<string, Member>,
): Found[] {
  const members = ids.map((id) => all.get(id) as Member).sort(better);
  if (new Set(members.map(({ itemId }) => itemId)).size < 2) return [];
  const totalBytes = members.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const reclaimableBytes = totalBytes - (members[0]?.sizeBytes ?? 0);
  return [{ id: idOf(kind, ids[0] ?? ''), kind, distance, members, totalBytes, reclaimableBytes }];
}

/** The same id for the same first file at each request. */
function idOf(kind: string, fileId: string): string {
  const hex = createHash('sha256').update(`${kind}:${fileId}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

/** More pixels, then more bits, then the one that came first. */
function better(a: Member, b: Member): number {
  const pixels = (of: Member): number => (of.width ?? 0) * (of.height ?? 0);
  return (
    pixels(b) - pixels(a) ||
    (b.bitrate ?? 0) - (a.bitrate ?? 0) ||
    b.sizeBytes - a.sizeBytes ||
    a.addedAt.getTime() - b.addedAt.getTime() ||
    (a.fileId < b.fileId ? -1 : 1)
  );
}

async function answered({ db, who }: Call, groups: readonly Found[]): Promise<DuplicateGroup[]> {
  const itemIds = [...new Set(groups.flatMap(({ members }) => members.map(({ itemId }) => itemId)))];
  const items = await findItemSummaries(db, who, itemIds);
  return groups.map(({ members, ...group }) => ({
    ...group,
    members: members.flatMap(({ fileId, itemId, sizeBytes, addedAt, ...rest }, i) => {
      const item = items.get(itemId);
      const known = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
      const suggestion = i === 0 ? ('keep' as const) : ('remove' as const);
      return item ? [{ item, fileId, sizeBytes, ...known, addedAt: addedAt.toISOString(), suggestion }] : [];
    }),
  }));
}
