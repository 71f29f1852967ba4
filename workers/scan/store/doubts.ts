import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import { recordset } from './context.ts';

export type Doubted = Pick<Row<'media_files'>, 'folder_id' | 'directory'>;

/** Where a file of an item was. */
export interface Lost extends Doubted {
  item_id: string;
}

/** The next scan writes everything in these directories again, whatever their times and contents. */
export async function doubt(db: Db, places: readonly Doubted[]): Promise<void> {
  if (places.length === 0) return;
  await db.raw(
    `update scan_directories d set content = '', modified_ms = -1, drafts = null
     from jsonb_to_recordset(?::jsonb) as r(folder_id uuid, directory text) where d.folder_id = r.folder_id and d.path = r.directory`,
    [recordset(places)],
  );
}

const THERE = 'f.missing_since is null and f.absent_scan is null';
const OF = `(select f.folder_id, f.directory from media_files f where f.item_id = a.id and ${THERE}
  union all select f.folder_id, f.directory from items e join media_files f on f.item_id = e.id where e.grandparent_id = a.id and ${THERE})`;

/**
 * An item is merged from all directories with files of it. When one of them loses its last such file, another one is
 * written again, which merges the rest. Returns these directories.
 */
export async function doubtRest(db: Db, lost: readonly Lost[]): Promise<Doubted[]> {
  if (lost.length === 0) return [];
  const places = await rowsOf<Doubted>(
    db,
    `with lost as (select distinct r.item_id, r.folder_id, r.directory
         from jsonb_to_recordset(?::jsonb) as r(item_id uuid, folder_id uuid, directory text)),
       above as (select distinct u.id, l.folder_id, l.directory from lost l join items i on i.id = l.item_id,
         unnest(array[i.id, i.grandparent_id]) as u(id) where u.id is not null and i.extra_of is null)
     select distinct d.folder_id, d.directory from above a, lateral (
       select o.folder_id, o.directory from ${OF} o where (o.folder_id, o.directory) <> (a.folder_id, a.directory) limit 1) d
     where not exists (select from ${OF} s where s.folder_id = a.folder_id and s.directory = a.directory)`,
    [recordset(lost)],
  );
  await doubt(db, places);
  return places;
}

/** The same for shows that a directory without videos described, by their keys. */
export async function doubtShows(db: Db, libraryId: string, keys: readonly string[]): Promise<Doubted[]> {
  if (keys.length === 0) return [];
  const places = await rowsOf<Doubted>(
    db,
    `select d.folder_id, d.directory from items a, lateral (select o.folder_id, o.directory from ${OF} o limit 1) d
     where a.library_id = ? and a.type = 'show' and a.identity_key = any(?::text[])`,
    [libraryId, keys],
  );
  await doubt(db, places);
  return places;
}
