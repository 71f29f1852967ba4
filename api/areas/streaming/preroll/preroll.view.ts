import { ageSql } from '#identity/visibility.ts';
import { ageYears } from '#platform/age-ratings.ts';
import type { Db } from '#platform/db.ts';
import type { PrerollRow } from './preroll.store.ts';

type Aged = PrerollRow & { ageYears: number };

/** Age of the clip in years: the higher of its own rating and that of its item, or 0. */
export async function clipAge(db: Db, clip: PrerollRow): Promise<number> {
  const [row] = await aged(db, (clips) => clips.where('c.id', clip.id));
  return row?.ageYears ?? 0;
}

/** All clips in order, with their ages. */
export async function findClipsWithAge(db: Db): Promise<Aged[]> {
  return aged(db, (clips) => clips.whereNull('i.trashed_at').orderBy('c.position'));
}

async function aged(db: Db, narrow: (clips: ReturnType<Db['from']>) => unknown): Promise<Aged[]> {
  const clips = db.from('preroll_clips as c').join('items as i', 'i.id', 'c.item_id');
  narrow(clips);
  const rows = await clips.select<(PrerollRow & { item_years: number | null })[]>(
    'c.*',
    db.raw(`${ageSql('i')} as item_years`),
  );
  return rows.map(({ item_years, ...clip }) => {
    const own = clip.age_rating === null ? 0 : (ageYears(clip.age_rating) ?? 0);
    return { ...clip, ageYears: Math.max(own, item_years ?? 0) };
  });
}
