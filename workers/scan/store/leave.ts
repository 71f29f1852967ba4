import { ageSql } from '#kernel/visibility.ts';
import type { Writing } from './context.ts';
import { rowsOf } from './context.ts';

/** What an event says of an item, and whom it may reach. */
export interface ToldItem {
  id: string;
  type: string;
  title: string;
  age_years: number | null;
  labels: number[];
}

const TOLD = `i.id, i.type, i.title, ${ageSql('i')} as age_years, i.labels`;

/**
 * Items whose last file now belongs to another item: they go, unless somebody has a state of them, then to the trash. Seasons and shows that
 * hold nothing any more go with them. Gives both as they were.
 */
export async function leaveItems({ db, seq }: Writing, ids: readonly string[]): Promise<ToldItem[]> {
  if (ids.length === 0) return [];
  const above = await rowsOf<{ id: string }>(
    db,
    'select distinct u.id from items i, unnest(array[i.parent_id, i.grandparent_id]) as u(id) where i.id = any(?::uuid[]) and u.id is not null',
    [ids],
  );
  const empty = `not exists (select 1 from media_files f where f.item_id = i.id) and not exists (select 1 from items c where i.id in (c.parent_id, c.grandparent_id, c.extra_of))`;
  const parents = above.map((row) => row.id);
  const gone = [...(await leave(ids)), ...(await leave(parents)), ...(await leave(parents))];
  return [...new Map(gone.map((item) => [item.id, item])).values()];

  /** Twice for parents: a show is empty only once its seasons are gone. */
  async function leave(some: readonly string[]): Promise<ToldItem[]> {
    const kept = await rowsOf<ToldItem>(
      db,
      `update items i set trashed_at = now(), trash_reason = 'missing', change_seq = ?, updated_at = now()
       where i.id = any(?::uuid[]) and i.trashed_at is null and ${empty} and exists (select 1 from item_states s where s.item_id = i.id) returning ${TOLD}`,
      [seq, some],
    );
    const deleted = await rowsOf<ToldItem>(
      db,
      `delete from items i where i.id = any(?::uuid[]) and ${empty} and not exists (select 1 from item_states s where s.item_id = i.id) returning ${TOLD}`,
      [some],
    );
    return [...kept, ...deleted];
  }
}
