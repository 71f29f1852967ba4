import { z } from 'zod';
import type { Principal } from '#identity/principal.ts';
import { invalid } from '#kernel/errors.ts';
import { commaList } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import { findCustomValues } from '../fields/custom-values.ts';
import { findFiles } from '../files/files.store.ts';
import type { ItemSummary, ListedItem } from '../items.schemas.ts';
import { findCollections } from '../relations/collections.view.ts';
import { findCredits, findExternalIds, findLabels, findParents, findTags } from '../relations/relations.store.ts';

/** Relations that lists of items can include. */
export const listRelations = ['files', 'streams', 'people', 'studios', 'genres', 'labels', 'collections'] as const;

/** `include` of one operation: at most eight of its relations. */
export const includeQuery = <const L extends readonly [string, ...string[]]>(relations: L) =>
  commaList(z.enum(relations), 8)
    .optional()
    .describe(`Relations: ${relations.join(', ')}`);

const HEAVY = ['files', 'streams', 'chapters'];
const MOST = 100;

/** Throws 400 when a page of this size may not include files. */
export function checkIncludes(include: readonly string[] | undefined, limit: number): void {
  if (limit > MOST && include?.some((one) => HEAVY.includes(one))) {
    throw invalid(['query', 'limit'], 'too_big', `with files, streams or chapters at most ${MOST} items a page`);
  }
}

type Adder = (
  db: Db,
  who: Principal,
  items: readonly ItemSummary[],
) => Promise<(item: ItemSummary) => Partial<ListedItem>>;

const idsOf = (items: readonly ItemSummary[]): string[] => items.map((item) => item.id);

const files =
  (streams: boolean): Adder =>
  async (db, who, items) => {
    const found = await findFiles(db, idsOf(items), { streams: streams ? who : undefined });
    return (item) => ({ files: found.get(item.id) ?? [] });
  };

const adders: Record<string, Adder> = {
  files: files(false),
  streams: files(true),
  genres: async (db, _who, items) => {
    const found = await findTags(db, idsOf(items), ['genre']);
    return (item) => ({ genres: (found.get(item.id)?.genre ?? []).map((tag) => tag.name) });
  },
  labels: async (db, who, items) => {
    const found = await findLabels(db, who, idsOf(items));
    return (item) => ({ labels: found.get(item.id) ?? [] });
  },
  people: async (db, _who, items) => {
    const found = await findCredits(db, idsOf(items));
    return (item) => ({ people: found.get(item.id) ?? { items: [], hasMore: false } });
  },
  studios: async (db, _who, items) => {
    const found = await findTags(db, idsOf(items), ['studio', 'network']);
    return (item) => ({ studios: [...(found.get(item.id)?.studio ?? []), ...(found.get(item.id)?.network ?? [])] });
  },
  collections: async (db, who, items) => {
    const found = await findCollections(db, who, idsOf(items));
    return (item) => ({ collections: found.get(item.id) ?? [] });
  },
  parents: async (db, who, items) => {
    const found = await findParents(db, who, items);
    return (item) => ({ parents: found.get(item.id) ?? [] });
  },
  externalIds: async (db, _who, items) => {
    const found = await findExternalIds(db, idsOf(items));
    return (item) => ({ externalIds: found.get(item.id) ?? {} });
  },
  custom: async (db, who, items) => {
    const found = await findCustomValues(db, who, items);
    return (item) => ({ custom: found.get(item.id) ?? {} });
  },
};

/** Adds relations to the items of a page, with one query each. */
export async function withIncludes<T extends ItemSummary>(
  { db, who }: { db: Db; who: Principal },
  items: readonly T[],
  include: readonly string[] | undefined,
): Promise<(T & Partial<ListedItem>)[]> {
  const wanted = (include ?? []).filter((name) => name !== 'files' || !include?.includes('streams'));
  const parts = await Promise.all(
    wanted.flatMap((name) => (adders[name] && items.length > 0 ? [adders[name](db, who, items)] : [])),
  );
  return items.map((item) => Object.assign({}, item, ...parts.map((part) => part(item))) as T & Partial<ListedItem>);
}
