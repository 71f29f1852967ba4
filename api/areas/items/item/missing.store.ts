import type { Principal } from '#identity/principal.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import type { VisibleItem } from './items.store.ts';
import { visibleItems } from './summaries.store.ts';

interface Numbered {
  parentIndex?: number | undefined;
  index?: number | undefined;
  externalIds: Record<string, string>;
}

interface Known {
  /** `details.knownChildren` of the item, or of a season's show. */
  known: unknown[];
  /** True when a library of the caller holds that child. */
  held: (child: Numbered) => boolean;
  /** An agent has identified the item. */
  matched: boolean;
}

const catalogued = ['show', 'season', 'artist', 'author', 'comic-series'];

export function hasMissing(type: string): boolean {
  return catalogued.includes(type);
}

/** The children of an item by the last refresh, and those that a library holds. */
export async function findKnownChildren(db: Db, who: Principal, item: VisibleItem): Promise<Known> {
  const source = item.type === 'season' ? item.parentId : item.id;
  const row = await db('items')
    .where({ id: source })
    .first<{ known: unknown; external_ids: Record<string, string>; matched: boolean } | undefined>(
      ...(['external_ids', 'matched'] as const),
      db.raw(`details -> 'knownChildren' as known`),
    );
  const all = Array.isArray(row?.known) ? (row.known as unknown[]) : [];
  const known = item.type === 'season' ? all.filter((one) => numberOf(one) === item.indexNumber) : all;
  const here = await findHeld(db, who, { source: source ?? item.id, known });
  const matched = Boolean(row && (row.matched || Object.keys(row.external_ids).length > 0));
  return { known, held: (child) => keysOf(child).some((key) => here.has(key)), matched };
}

const numberOf = (one: unknown): unknown => (one as { parentIndex?: unknown } | null)?.parentIndex;

function keysOf(child: Numbered): string[] {
  const ids = Object.entries(child.externalIds).map(([provider, id]) => `${provider}:${id}`);
  return child.index === undefined ? ids : [...ids, `#${child.parentIndex ?? ''}.${child.index}`];
}

/**
 * Numbers below the item, both numbers of a file with two episodes, and external ids in every visible library. Hidden
 * items below the item count as held, so they are not reported as missing.
 */
async function findHeld(
  db: Db,
  who: Principal,
  { source, known }: { source: string; known: readonly unknown[] },
): Promise<Set<string>> {
  const pairs = known.flatMap((one) => Object.entries((one as Partial<Numbered> | null)?.externalIds ?? {}));
  const below: HeldRow[] = await db('items as i')
    .whereNull('i.trashed_at')
    .whereRaw('(i.parent_id = ? or i.grandparent_id = ?)', [source, source])
    .select(HELD_ON_I);
  const elsewhere: HeldRow[] = await visibleItems(db, who)
    .whereRaw('i.external_ids @> any(?::jsonb[])', [pairs.map(([provider, id]) => JSON.stringify({ [provider]: id }))])
    .select(HELD_ON_I);
  return new Set([...below, ...elsewhere].flatMap((row) => heldKeys(row, source)));
}

const HELD = ['parent_id', 'grandparent_id', 'parent_index', 'index_number', 'index_end', 'external_ids'] as const;
const HELD_ON_I = HELD.map((name) => `i.${name}`);

type HeldRow = Pick<Row<'items'>, (typeof HELD)[number]>;

function heldKeys(row: HeldRow, source: string): string[] {
  const keys = Object.entries(row.external_ids).map(([provider, id]) => `${provider}:${id}`);
  if (row.index_number === null || (row.parent_id !== source && row.grandparent_id !== source)) return keys;
  const last = Math.min(row.index_end ?? row.index_number, row.index_number + 100);
  for (let number = row.index_number; number <= last; number++) keys.push(`#${row.parent_index ?? ''}.${number}`);
  return keys;
}
