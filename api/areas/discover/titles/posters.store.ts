// Pictures of titles: which ones are to be fetched, and which ones end.
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

/** A picture ends when no list and no person had its title for so long. */
const KEPT = '90 days';
/** A failed download is tried again after this time. */
const AGAIN = '3 days';

export interface PosterWanted {
  id: string;
  /** Below the address of pictures of the provider. */
  path: string;
  provider: string;
}

/** Titles in a list, or that a person looked at, whose picture is not here yet. */
export const postersWanted = async (db: Db, most: number): Promise<PosterWanted[]> =>
  rowsOf<PosterWanted>(
    db,
    `select t.id, t.poster_path as path, t.poster_provider as provider from discover_titles t
      where t.poster_path is not null and t.poster_provider = 'tmdb' and (t.poster_failed_at is null or t.poster_failed_at < now() - interval '${AGAIN}')
        and not exists (select from images i where i.owner_kind = 'title' and i.owner_id = t.id)
        and (exists (select from discover_entries e where e.title_id = t.id) or exists (select from discover_details d where d.title_id = t.id))
      order by t.used_at desc limit ?`,
    [most],
  );

export async function notePosterFailed(db: Db, titleId: string): Promise<void> {
  await db('discover_titles')
    .where({ id: titleId })
    .update({ poster_failed_at: db.raw('now()') });
}

/** Forgets titles that no list has and that were not used for long, with their pictures. */
export async function endTitles(db: Db): Promise<void> {
  await db.raw(
    'update discover_titles t set used_at = now() where exists (select from discover_entries e where e.title_id = t.id)',
  );
  await db.raw(`delete from discover_titles where used_at < now() - interval '${KEPT}'`);
}

/** Hashes of all pictures of titles. */
export async function postersStored(db: Db): Promise<Set<string>> {
  return new Set(await db('images').where({ owner_kind: 'title' }).pluck('sha256'));
}
