import type { Db } from '#platform/db.ts';
import type { PrerollRow } from './preroll.store.ts';

/** Years of the clip's item; 0 when it has no rating. */
export async function clipAge(db: Db, clipId: string): Promise<number> {
  const row = (await db('preroll_clips as c')
    .join('items as i', 'i.id', 'c.item_id')
    .where('c.id', clipId)
    .first('i.age_years')) as { age_years: number | null } | undefined;
  return row?.age_years ?? 0;
}

/** All clips in their order with the age of their items. */
export async function findClipsWithAge(db: Db): Promise<(PrerollRow & { ageYears: number | null })[]> {
  return db('preroll_clips as c')
    .join('items as i', 'i.id', 'c.item_id')
    .whereNull('i.trashed_at')
    .orderBy('c.position')
    .select<(PrerollRow & { ageYears: number | null })[]>('c.*', 'i.age_years as ageYears');
}
