import { rowsOf } from '#platform/rows.ts';
import type { Work } from '../work.ts';

const BUCKET = 'foyer-artwork-cache';
const UNUSED = '30 days';
const BATCH = 500;
/** Objects without a row: the row is written right after the object. */
const STRAY_MS = 24 * 3_600_000;

interface Variant {
  sha256: string;
  name: string;
}

const keyOf = ({ sha256, name }: Variant): string => `${sha256}/${name}`;

/**
 * Deletes made sizes that no one used for a month, then the longest unused ones until the rest fits into
 * `artwork.cacheBytes`, objects without a row, and previews that ended.
 */
export async function trimArtwork(_payload: unknown, work: Work): Promise<{ removed: number }> {
  await work.db('images').whereRaw('expires_at < now()').delete();
  let removed = await removeWhile(work, `used_at < now() - interval '${UNUSED}'`, []);
  removed += await removeOver(work, work.settings.get('artwork.cacheBytes'));
  return { removed: removed + (await removeStrays(work)) };
}

async function removeWhile(work: Work, condition: string, values: readonly number[]): Promise<number> {
  for (let removed = 0; ; ) {
    work.signal.throwIfAborted();
    const rows = await rowsOf<Variant>(
      work.db,
      `select sha256, name from image_variants where ${condition} order by used_at limit ${BATCH}`,
      [...values],
    );
    if (rows.length === 0) return removed;
    await remove(work, rows);
    removed += rows.length;
  }
}

/** Objects first: a row without an object is made again, an object without a row would stay. */
async function remove({ db, objects }: Work, rows: readonly Variant[]): Promise<void> {
  await objects.remove(BUCKET, rows.map(keyOf));
  await db.raw(
    `delete from image_variants v using jsonb_to_recordset(?::jsonb) as r(sha256 text, name text)
     where v.sha256 = r.sha256 and v.name = r.name`,
    [JSON.stringify(rows)],
  );
}

async function removeOver(work: Work, limit: number): Promise<number> {
  for (let removed = 0; ; ) {
    work.signal.throwIfAborted();
    const rows = await rowsOf<Variant>(
      work.db,
      `select sha256, name from (
         select sha256, name, used_at, sum(size_bytes) over (order by used_at desc, sha256, name) as kept from image_variants) v
       where kept > ? order by used_at limit ${BATCH}`,
      [limit],
    );
    if (rows.length === 0) return removed;
    await remove(work, rows);
    removed += rows.length;
  }
}

async function removeStrays(work: Work): Promise<number> {
  let removed = 0;
  let batch: string[] = [];
  const judge = async (): Promise<void> => {
    const rows = await rowsOf<{ key: string }>(
      work.db,
      `select key from unnest(?::text[]) as k(key)
       where not exists (select from image_variants v where v.sha256 = split_part(key, '/', 1) and v.name = split_part(key, '/', 2))`,
      [batch],
    );
    await work.objects.remove(
      BUCKET,
      rows.map(({ key }) => key),
    );
    removed += rows.length;
    batch = [];
  };
  for await (const { key, modifiedAt } of work.objects.list(BUCKET, '')) {
    work.signal.throwIfAborted();
    if (!/^[0-9a-f]{64}\//.test(key) || modifiedAt.getTime() > Date.now() - STRAY_MS) continue;
    batch.push(key);
    if (batch.length === BATCH) await judge();
  }
  if (batch.length > 0) await judge();
  return removed;
}
