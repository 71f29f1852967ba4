import type { Db } from '#platform/db.ts';
import type { Objects } from '#platform/objects.ts';
import { BUCKET, keyOf } from './bytes.ts';

const KEPT_DAYS = 30;

/** Deletes logos that were replaced or removed 30 days ago, and objects that no other row references. */
export async function forgetReplacedLogos(db: Db, objects: Objects): Promise<void> {
  await db.transaction(async (transaction) => {
    await transaction('branding').forUpdate().first('one'); // keeps an upload of the same picture from running at the same time
    const gone = await transaction('branding_logos')
      .whereRaw(`replaced_at < now() - make_interval(days => ?)`, [KEPT_DAYS])
      .delete()
      .returning(['original', 'made']);
    const hashes = [...new Set(gone.flatMap(({ original, made }) => [original, made]))];
    const named = await transaction('branding_logos').select('original', 'made');
    const held = new Set(named.flatMap(({ original, made }) => [original, made]));
    const free = hashes.filter((hash) => !held.has(hash));
    if (free.length > 0) await objects.remove(BUCKET, free.map(keyOf));
  });
}
