import type { Knex } from 'knex';
import { z } from 'zod';
import { may, type Principal } from '#identity/principal.ts';
import { onlyVisibleItems } from '#identity/visibility.ts';
import { ImageRef } from '#kernel/schemas.ts';
import { type Db, remembered, Slot } from '#platform/db.ts';
import { containersSql } from '#platform/item-types.ts';
import type { ItemSummary } from '../items.schemas.ts';
import { summarySql } from './summary-sql.ts';

export interface SummaryRow {
  id: string;
  summary: ItemSummary;
}

/** Start of every read of items: visible to `who`, with the profile's own state as `s`. */
export function visibleItems(db: Db, who: Principal, alias = 'i'): Knex.QueryBuilder {
  return withState(db.from(`items as ${alias}`), who, alias).modify(onlyVisibleItems, who, alias);
}

/** Joins the profile's own state of `items as <alias>` as `s`. */
export function withState(query: Knex.QueryBuilder, who: Principal, alias = 'i'): Knex.QueryBuilder {
  return query.joinRaw(`left join item_states s on s.item_id = ${alias}.id and s.profile_id = ?`, [
    who.profileId || null,
  ]);
}

/**
 * Joins the sources of a summary to `items as i` with its state: the parents, and counts of visible items in a
 * container.
 */
export function withSummaryJoins(query: Knex.QueryBuilder, db: Db, who: Principal): Knex.QueryBuilder {
  const leaf = `part.type <> all(${containersSql})`;
  const held = visibleItems(db, who, 'part')
    .whereNull('part.extra_of')
    .whereRaw(`i.type = any(${containersSql}) and (part.parent_id = i.id or part.grandparent_id = i.id)`)
    .select(
      db.raw(`count(*) filter (where part.parent_id = i.id) as children, count(*) filter (where ${leaf}) as leaves,
        count(*) filter (where ${leaf} and not coalesce(s.watched, false)) as unwatched`),
    );
  return query
    .leftJoin('items as p', 'p.id', 'i.parent_id')
    .leftJoin('items as g', 'g.id', 'i.grandparent_id')
    .joinRaw('cross join lateral ? as c', [held] as unknown as string[]);
}

/** `visibleItems`, or `from`, with a summary of each row. */
export function summaryRows(db: Db, who: Principal, from = visibleItems(db, who)): Knex.QueryBuilder {
  const text = summarySql(may(who, 'item:edit'));
  return withSummaryJoins(from, db, who).select('i.id', db.raw(`${text}::json as summary`));
}

/** Summaries of the visible items of `ids`. The map lacks hidden items. */
export async function findItemSummaries(
  db: Db,
  who: Principal,
  ids: readonly string[],
): Promise<Map<string, ItemSummary>> {
  if (ids.length === 0) return new Map();
  const wanted = new Slot('ids') as unknown as Knex.RawBinding;
  const rows = await remembered<SummaryRow>(db, {
    key: JSON.stringify(['summaries', who.sees, who.profileId, may(who, 'item:edit')]),
    build: () => summaryRows(db, who).whereRaw('i.id = any(?::uuid[])', [wanted]), // planning takes longer than execution
    slots: { ids: [...ids] },
  });
  return new Map(rows.map((row) => [row.id, row.summary]));
}

/** Summaries in the order of `ids`. */
export async function listSummaries(db: Db, who: Principal, ids: readonly string[]): Promise<ItemSummary[]> {
  const found = await findItemSummaries(db, who, ids);
  return ids.flatMap((id) => found.get(id) ?? []);
}

const shown = { poster: ImageRef, backdrop: ImageRef, thumb: ImageRef, logo: ImageRef };

export function artworkOf(artwork: Record<string, unknown>): ItemSummary['artwork'] {
  return pickParsed(artwork, shown) as ItemSummary['artwork'];
}

/**
 * The members of `value` that parse. Agents and scans write these rows, and one invalid member must not hide an item.
 */
export function pickParsed<S extends z.ZodRawShape>(
  value: Record<string, unknown>,
  shape: S,
): { [K in keyof S]?: z.output<S[K]> } {
  const picked: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(shape)) {
    if (value[name] === undefined || value[name] === null) continue;
    const parsed = z.safeParse(schema, value[name]);
    if (parsed.success) picked[name] = parsed.data;
  }
  return picked as { [K in keyof S]?: z.output<S[K]> };
}

type Present<T> = { [K in keyof T]: Exclude<T[K], null> };

/** Removes members that are null or undefined. */
export function withoutNull<T extends object, R = Present<T>>(value: T): R {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null && member !== undefined)) as R;
}
