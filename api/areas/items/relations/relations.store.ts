import type { z } from 'zod';
import type { Principal } from '#identity/principal.ts';
import { onlyKnownLabels } from '#identity/visibility.ts';
import { ImageRef } from '#kernel/schemas.ts';
import type { Db } from '#platform/db.ts';
import type { Row } from '#platform/typed-query.ts';
import { findItemSummaries, withoutNull } from '../item/summaries.store.ts';
import type { Credit, ItemSummary } from '../items.schemas.ts';
import { PersonRole } from '../items.schemas.ts';
import { Chapter, Marker } from '../media.schemas.ts';

export const FIRST = 50;

/** The first 50 entries, and whether there are more. */
export interface Some<T> {
  items: T[];
  hasMore: boolean;
}

export function firstOf<T>(all: readonly T[]): Some<T> {
  return { items: all.slice(0, FIRST), hasMore: all.length > FIRST };
}

interface Tag {
  id?: string;
  name: string;
}

/** Tags of items by kind, sorted by name. */
export async function findTags(
  db: Db,
  ids: readonly string[],
  kinds?: readonly string[],
): Promise<Map<string, Partial<Record<string, Tag[]>>>> {
  const query = db('item_tags')
    .whereRaw('item_id = any(?::uuid[])', [[...ids]])
    .orderBy(['item_id', 'kind', 'name_folded']);
  if (kinds) query.whereRaw('kind = any(?::text[])', [[...kinds]]);
  const rows = await query.select('item_id', 'kind', 'name', 'tag_id');
  const found = new Map<string, Partial<Record<string, Tag[]>>>();
  for (const row of rows) {
    const tags = found.get(row.item_id) ?? {};
    const list = tags[row.kind] ?? [];
    list.push({ ...(row.tag_id ? { id: row.tag_id } : {}), name: row.name });
    tags[row.kind] = list;
    found.set(row.item_id, tags);
  }
  return found;
}

/** Names of the own and inherited labels of each item that the caller may see. */
export async function findLabels(db: Db, who: Principal, ids: readonly string[]): Promise<Map<string, string[]>> {
  const rows = await db('items as i')
    .joinRaw('join labels as l on l.number = any(i.labels)')
    .whereRaw('i.id = any(?::uuid[])', [[...ids]])
    .modify(onlyKnownLabels, who, 'l')
    .orderBy(['i.id', 'l.name_folded'])
    .select<{ id: string; name: string }[]>('i.id', 'l.name');
  return new Map([...Map.groupBy(rows, ({ id }) => id)].map(([id, list]) => [id, list.map(({ name }) => name)]));
}

export interface CreditRow extends Row<'credits'> {
  name: string;
  portrait: unknown;
  episodes?: number | null;
}

export function toCredit(row: CreditRow): Credit {
  return withoutNull({
    id: row.id,
    personId: row.person_id,
    name: row.name,
    role: PersonRole.safeParse(row.role).data ?? ('other' as const),
    character: row.character,
    job: row.job,
    order: row.position,
    guest: row.guest ? true : undefined,
    episodes: row.episodes,
    portrait: ImageRef.safeParse(row.portrait).data,
  });
}

/** The first credits of each item, in order. */
export async function findCredits(db: Db, ids: readonly string[]): Promise<Map<string, Some<Credit>>> {
  const ranked = db('credits as c')
    .whereRaw('c.item_id = any(?::uuid[])', [[...ids]])
    .select('c.*', db.raw('row_number() over (partition by c.item_id order by c.position, c.id) as rank'));
  const rows: CreditRow[] = await db
    .queryBuilder()
    .from(ranked.as('c'))
    .join('people as p', 'p.id', 'c.person_id')
    .where('c.rank', '<=', FIRST + 1)
    .orderBy(['c.item_id', 'c.rank'])
    .select('c.id', 'c.item_id', 'c.person_id', 'c.role', 'c.character', 'c.job', 'c.position', 'c.guest')
    .select('p.name', 'p.portrait');
  return new Map([...Map.groupBy(rows, (row) => row.item_id)].map(([id, list]) => [id, firstOf(list.map(toCredit))]));
}

const SOURCES = ['person', 'file', 'audiobook', 'agent'];

/** Chapters of a file: a user's edit, else the file's, else the agent's. */
export async function listChapters(db: Db, fileId: string): Promise<Chapter[]> {
  const rows = await db('chapters')
    .where({ file_id: fileId })
    .orderBy('number')
    .select('number', 'title', 'start_ms', 'end_ms', 'source', 'image');
  const best = SOURCES.find((source) => rows.some((row) => row.source === source));
  const chosen = rows.filter((row) => row.source === best);
  return chosen.map((row, index) =>
    withoutNull({
      index,
      title: row.title,
      startMs: row.start_ms,
      endMs: row.end_ms,
      image: ImageRef.safeParse(row.image).data,
      source: Chapter.shape.source.safeParse(row.source).data ?? ('file' as const),
    }),
  );
}

export async function listMarkers(db: Db, itemId: string): Promise<z.output<typeof Marker>[]> {
  const rows = await db('markers')
    .where({ item_id: itemId })
    .orderBy(['start_ms', 'id'])
    .select('id', 'file_id', 'kind', 'start_ms', 'end_ms', 'source');
  return rows.map((row) =>
    Marker.parse({
      id: row.id,
      fileId: row.file_id,
      kind: row.kind,
      startMs: row.start_ms,
      endMs: row.end_ms,
      source: row.source,
    }),
  );
}

type Placed = Pick<ItemSummary, 'id' | 'parentId' | 'grandparentId'>;

/** Parents of each item, outermost first. */
export async function findParents(
  db: Db,
  who: Principal,
  items: readonly Placed[],
): Promise<Map<string, ItemSummary[]>> {
  const above = (item: Placed): string[] =>
    [item.grandparentId, item.parentId].filter((id): id is string => id !== undefined);
  const found = await findItemSummaries(db, who, [...new Set(items.flatMap(above))]);
  return new Map(items.map((item) => [item.id, above(item).flatMap((id) => found.get(id) ?? [])]));
}

export async function findExternalIds(db: Db, ids: readonly string[]): Promise<Map<string, Record<string, string>>> {
  const rows = await db('items')
    .whereRaw('id = any(?::uuid[])', [[...ids]])
    .select('id', 'external_ids');
  return new Map(rows.map((row) => [row.id, row.external_ids]));
}
