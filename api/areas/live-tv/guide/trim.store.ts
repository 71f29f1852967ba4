// Deletes programmes that are no longer part of the guide, in batches.
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import { lockGuides } from './refresh.store.ts';

const BATCH = 5000;

/** Deletes up to 5,000 programmes that ended two days ago; returns their number. */
export async function deleteOldPrograms(db: Db): Promise<number> {
  const deleted = await db.raw<{ rowCount: number | null }>(
    `delete from guide_programs where id in (
       select id from guide_programs where start_at < now() - interval '2 days' and end_at < now() - interval '2 days' limit ?)`,
    [BATCH],
  );
  return deleted.rowCount ?? 0;
}

/** Channels of sources that are gone, and those that their guide no longer names. */
export async function findUnlisted(db: Db): Promise<number[]> {
  const rows = await rowsOf<{ id: number }>(
    db,
    `select c.id from guide_channels c left join guide_sources s on s.id = c.source_id where s.id is null or not c.listed`,
    [],
  );
  return rows.map(({ id }) => id);
}

/** Deletes up to 5,000 programmes of a channel; without any left, the channel. Returns their number. */
export async function deleteUnlisted(db: Db, channel: number): Promise<number> {
  const deleted = await db.raw<{ rowCount: number | null }>(
    `delete from guide_programs where id in (select id from guide_programs where channel = ? and not exists (
         select from guide_channels c join guide_sources s on s.id = c.source_id where c.id = channel and c.listed) limit ?)`,
    [channel, BATCH],
  );
  if (deleted.rowCount) return deleted.rowCount;
  await db.raw(
    `delete from guide_channels c where id = ? and not exists (select from guide_programs p where p.channel = c.id)
       and (not listed or not exists (select from guide_sources s where s.id = c.source_id))`,
    [channel],
  );
  return 0;
}

/** Deletes titles that no programme has. */
export async function deleteUnusedTitles(db: Db): Promise<void> {
  await db.transaction(async (tx) => {
    await lockGuides(tx);
    await tx.raw(
      `delete from guide_titles t where not exists (select from guide_programs p where p.title = t.id)
         and not exists (select from guide_programs p where p.episode_title = t.id)`,
    );
  });
}
