import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { ContentStats } from '../stats.schemas.ts';

declare module '#platform/column-types.ts' {
  interface ColumnTypes {
    'stat_content.figures': ContentStats;
  }
}

const LIVING = 'i.trashed_at is null and i.extra_of is null';
const UNPLAYED = 'not exists (select from play_sums s where s.item_id = i.id)';
/** Items that are played themselves: a container has no files. */
const PLAYABLE = 'i.file_count > 0';

/** Counts everything that the server holds. Job stats.rollup runs it every 15 minutes. */
export async function countContent(db: Db): Promise<void> {
  const items = await rowsOf<{ type: string; n: number }>(
    db,
    `select coalesce(i.own_type, i.type) as type, count(*)::int as n from items i where ${LIVING} group by 1 order by 1`,
  );
  const [files] = await rowsOf<{ files: number; size: number; duration: number }>(
    db,
    `select count(*)::int as files, coalesce(sum(f.size_bytes), 0)::bigint as size, coalesce(sum(f.duration_ms), 0)::bigint as duration
       from media_files f where f.missing_since is null`,
  );
  const byLibrary = await rowsOf<ContentStats['byLibrary'][number]>(
    db,
    `select l.id as "libraryId", l.name, count(i.id)::int as items, coalesce(sum(i.size_bytes), 0)::bigint as "sizeBytes",
            (count(i.id) filter (where ${UNPLAYED}))::int as "unplayedItems"
       from libraries l left join items i on i.library_id = l.id and ${LIVING} and ${PLAYABLE}
      where l.deleted_at is null group by l.id, l.name, l.position order by l.position, l.name`,
  );
  const codecs = await rowsOf<ContentStats['codecs'][number]>(
    db,
    `select s.codec, count(distinct s.file_id)::int as files from media_streams s
      where s.kind in ('video', 'audio') and s.codec is not null group by 1 order by 2 desc, 1 limit 50`,
  );
  const resolutions = await rowsOf<ContentStats['resolutions'][number]>(
    db,
    `select i.height, count(*)::int as files from items i where ${LIVING} and i.height is not null group by 1 order by 1 desc limit 50`,
  );
  const growth = await rowsOf<ContentStats['growth'][number]>(
    db,
    `select to_char(i.added_at at time zone 'UTC', 'YYYY-MM') as month, count(*)::int as added, coalesce(sum(i.size_bytes), 0)::bigint as "sizeBytes"
       from items i where ${LIVING} and ${PLAYABLE} and i.added_at > now() - interval '3 years' group by 1 order by 1`,
  );
  const figures: ContentStats = {
    items: Object.fromEntries(items.map(({ type, n }) => [type, n])),
    files: files?.files ?? 0,
    sizeBytes: files?.size ?? 0,
    durationMs: files?.duration ?? 0,
    byLibrary,
    codecs,
    resolutions,
    growth,
    neverPlayed: {
      items: byLibrary.reduce((sum, one) => sum + one.unplayedItems, 0),
      sizeBytes: await unplayedBytes(db),
    },
  };
  await db('stat_content').update({ figures: JSON.stringify(figures), at: new Date() });
}

async function unplayedBytes(db: Db): Promise<number> {
  const [row] = await rowsOf<{ size: number }>(
    db,
    `select coalesce(sum(i.size_bytes), 0)::bigint as size from items i where ${LIVING} and ${PLAYABLE} and ${UNPLAYED}`,
  );
  return row?.size ?? 0;
}

/** The counted figures with the libraries that are visible; counted now when the job has not run yet. */
export async function readContent(db: Db, libraryIds: ReadonlySet<string>): Promise<ContentStats> {
  const read = () => db('stat_content').first('figures', 'at');
  let row = await read();
  if (!row?.at) {
    await countContent(db);
    row = await read();
  }
  if (!row) throw new Error('no row');
  const { figures } = row;
  return { ...figures, byLibrary: figures.byLibrary.filter(({ libraryId }) => libraryIds.has(libraryId)) };
}
