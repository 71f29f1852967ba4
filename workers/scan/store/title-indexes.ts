import { ROOT_ORDER, titleOrder } from '#areas/items/public.ts';
import type { Db } from '#platform/db.ts';
import type { Work } from '#workers/work.ts';

const LISTED = 'where trashed_at is null and extra_of is null';

/**
 * Creates the indexes for lists by title in this language, at the first scan that needs them and without blocking
 * writers. Without them such lists are correct but slow, so a failure does not stop the scan.
 */
export async function makeTitleIndexes({ db, log }: Pick<Work, 'db' | 'log'>, language: string): Promise<void> {
  const { collation, index } = titleOrder(language);
  if (index === ROOT_ORDER.index) return;
  const key = `sort_title collate ${collation}`;
  const wanted = [
    { name: index, keys: `library_id, type, ${key}, id` },
    { name: `${index}_down`, keys: `library_id, type, ${key} desc nulls last, id` },
  ];
  await db
    .transaction(async (alone) => {
      const { rows } = await alone.raw<{ rows: { got: boolean }[] }>(
        `select pg_try_advisory_xact_lock(hashtext('foyer.title-indexes')) as got`,
      );
      if (rows[0]?.got) for (const one of wanted) await makeIndex(db, one);
    })
    .catch((error: Error) => log.warn({ err: error.message, index }, 'no index of titles in this language yet'));
}

/** Runs outside a transaction; an unfinished index of an earlier attempt is built again. */
async function makeIndex(db: Db, { name, keys }: { name: string; keys: string }): Promise<void> {
  const found = await db.from('pg_index').whereRaw('indexrelid = to_regclass(?)', [name]).first('indisvalid');
  if (found?.indisvalid) return;
  if (found) await db.raw(`drop index concurrently ${name}`);
  await db.raw(`create index concurrently ${name} on items (${keys}) ${LISTED}`);
}
