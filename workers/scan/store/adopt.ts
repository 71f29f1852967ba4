import { recordRemovals } from '#areas/libraries/public.ts';
import { ageSql } from '#identity/visibility.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import { inLanes } from '../lanes.ts';
import type { Writing } from './context.ts';
import { LOOKS, type Located } from './heirs.ts';
import type { ReportedItem } from './leave.ts';
import { lookAgain } from './move.ts';

/** Tables that store an item's library, which rights and counts depend on. */
const NAMED_IN = ['item_tags', 'item_states', 'playback_sessions'];

/** Whether a file is where its row states. */
type IsThere = (file: Located) => Promise<boolean>;

export interface AdoptedItem extends ReportedItem {
  /** Listed on its own: neither an extra nor in the trash. */
  listed: boolean;
}

export interface Adopted {
  /** As they were in their library. */
  adopted: AdoptedItem[];
  /** Items that lost a row and may have no file now. */
  emptied: string[];
}

/**
 * Moves items of other libraries into this one and returns them as they were there. Their files without a new place are
 * missing until they are found. Their keys are made unique; the drafts, or a later move, set the final keys.
 */
export async function adoptItems(
  { db, library, folder, seq }: Writing,
  { ids, placed, isThere }: { ids: readonly string[]; placed: readonly string[]; isThere: IsThere },
): Promise<Adopted> {
  if (ids.length === 0) return { adopted: [], emptied: [] };
  await dropExtrasLeft(db, { ids, placed, isThere });
  const adopted = await rowsOf<AdoptedItem>(
    db,
    `with old as (select i.id, i.library_id, i.type, i.title, ${ageSql('i')} as age_years, i.labels,
         i.extra_of is null and i.trashed_at is null as listed from items i
       where i.id = any(?::uuid[]) and i.library_id <> ?),
     moved as (update items i set library_id = ?, identity_key = '~' || i.id, change_seq = ?, revision = i.revision + 1, updated_at = now()
       from old where i.id = old.id)
     select * from old`,
    [ids, library.id, library.id, seq],
  );
  const mine = adopted.map(({ id }) => id);
  const emptied = await takeRest(db, { mine, placed, libraryId: library.id, folderId: folder.id });
  for (const table of NAMED_IN)
    await db.raw(`update ${table} set library_id = ? where item_id = any(?::uuid[]) and library_id <> ?`, [
      library.id,
      mine,
      library.id,
    ]);
  for (const [from, gone] of Map.groupBy(adopted, (item) => item.library_id))
    await recordRemovals(
      db,
      from,
      gone.map(({ id }) => id),
    );
  return { adopted, emptied };
}

interface Rest {
  mine: readonly string[];
  placed: readonly string[];
  libraryId: string;
  folderId: string;
}

/**
 * Files of adopted items that are no longer at their place and were not found here yet. Returns items that lost a row.
 */
async function takeRest(db: Db, { mine, placed, libraryId, folderId }: Rest): Promise<string[]> {
  const rows = await rowsOf<{ id: string }>(
    db,
    'select id from media_files where item_id = any(?::uuid[]) and id <> all(?::uuid[])',
    [mine, placed],
  );
  const ids = rows.map((row) => row.id);
  if (ids.length === 0) return [];
  await lookAgain(db, ids);
  const emptied = await dropTwins(db, { ids, placed, libraryId });
  await db.raw(
    `update media_files set library_id = ?, folder_id = ?, missing_since = coalesce(missing_since, now()), absent_scan = null,
       absence_kept = false, updated_at = now() where id = any(?::uuid[])`,
    [libraryId, folderId, ids],
  );
  return emptied;
}

/**
 * A path of a storage has one row in a library. If this library has one already, the row whose file exists stays,
 * otherwise the adopted row. Returns the items of the deleted rows.
 */
async function dropTwins(
  db: Db,
  { ids, placed, libraryId }: { ids: readonly string[]; placed: readonly string[]; libraryId: string },
): Promise<string[]> {
  const rows = await rowsOf<{ item_id: string }>(
    db,
    `with twins as (select own.id as own, coming.id as coming, own.missing_since is null or own.id = any(?::uuid[]) as holds
       from media_files coming join media_files own on own.storage_id = coming.storage_id and own.path = coming.path
       where coming.id = any(?::uuid[]) and own.library_id = ? and own.id <> all(?::uuid[]))
     delete from media_files f using twins where f.id = case when holds then coming else own end returning f.item_id`,
    [placed, ids, libraryId, ids],
  );
  return rows.map((row) => row.item_id);
}

interface ExtraFile extends Located {
  item_id: string;
  id: string;
}

/**
 * Extras whose files are still in their place are detached from the film. Their directories are scanned again. An extra
 * that cannot be checked now moves along.
 */
async function dropExtrasLeft(
  db: Db,
  { ids, placed, isThere }: { ids: readonly string[]; placed: readonly string[]; isThere: IsThere },
): Promise<void> {
  const files = await rowsOf<ExtraFile>(
    db,
    `select f.id, f.item_id, f.storage_id, f.folder_id, f.path from items i join media_files f on f.item_id = i.id
     where i.id = any(?::uuid[]) and i.extra_of is not null and f.missing_since is null and f.id <> all(?::uuid[])`,
    [ids, [...placed]],
  );
  const left: ExtraFile[] = [];
  await inLanes(files, { lanes: LOOKS }, async (file) => {
    if (await isThere(file)) left.push(file);
  });
  if (left.length === 0) return;
  await lookAgain(
    db,
    left.map(({ id }) => id),
  );
  await db.raw('delete from items where id = any(?::uuid[])', [left.map(({ item_id }) => item_id)]);
}
