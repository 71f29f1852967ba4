import type { Knex } from 'knex';
import { onlyVisibleItems } from '#identity/visibility.ts';
import type { Reading } from './reader.ts';

/**
 * SQL of the key of a card: what it stands for, and what hideFromHome hides. Episodes stand for their show, tracks for
 * their album, lessons for their course.
 */
export const keySql = (
  i: string,
): string => `(case when ${i}.type in ('episode', 'season') then coalesce(${i}.grandparent_id, ${i}.parent_id, ${i}.id)
  when ${i}.type = 'track' then coalesce(${i}.parent_id, ${i}.id)
  when ${i}.type in ('lesson', 'section') then coalesce(${i}.grandparent_id, ${i}.parent_id, ${i}.id) else ${i}.id end)`;

/** The key of an item as JSON writes it, by the same rule. */
export function keyOf(item: {
  id: string;
  type: string;
  baseType?: string | undefined;
  parentId?: string | undefined;
  grandparentId?: string | undefined;
}): string {
  const type = item.baseType ?? item.type;
  if (type === 'track') return item.parentId ?? item.id;
  const isPart = ['episode', 'season', 'lesson', 'section'].includes(type);
  return isPart ? (item.grandparentId ?? item.parentId ?? item.id) : item.id;
}

/** Leaves out what the profile hid in the row. */
export function onlyShown(query: Knex.QueryBuilder, { hidden }: Pick<Reading, 'hidden'>): void {
  if (hidden.length > 0) query.whereRaw(`${keySql('i')} <> all(?::uuid[])`, [[...hidden]]);
}

/** In the libraries of the row. */
export function onlyOnHome(query: Knex.QueryBuilder, { libraries }: Pick<Reading, 'libraries'>): void {
  query.whereRaw('i.library_id = any(?::uuid[])', [libraries.map(({ id }) => id)]);
}

/** The states of the caller's profile, as `s`, with their visible items of the row's libraries, as `i`. */
export function ownStates(reading: Reading): Knex.QueryBuilder {
  const { db, who } = reading.call;
  return db
    .from('item_states as s')
    .join('items as i', 'i.id', 's.item_id')
    .where('s.profile_id', who.profileId || null)
    .whereNull('i.extra_of')
    .modify((query) => {
      onlyVisibleItems(query, who, 'i');
      onlyOnHome(query, reading);
      onlyShown(query, reading);
    });
}

/** The first row of each key, in the order of the rows. */
export function firstOfEach<R extends { key: string }>(rows: readonly R[], limit: number): R[] {
  const seen = new Set<string>();
  const kept: R[] = [];
  for (const row of rows) {
    if (kept.length >= limit) break;
    if (seen.has(row.key)) continue;
    seen.add(row.key);
    kept.push(row);
  }
  return kept;
}
