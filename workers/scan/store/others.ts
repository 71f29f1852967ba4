import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import type { Draft } from '../group/draft.ts';
import { recordset, type ScannedLibrary } from './context.ts';
import { descriptionOf, nameOf } from './item-rows.ts';
import { SAYS_NEWS } from './items.ts';

/** Another directory that describes an item. */
export interface Other extends Pick<Row<'media_files'>, 'folder_id' | 'directory'> {
  /** `nameOf` the item. */
  name: string;
}

interface Asked {
  drafts: readonly { draft: Draft; own: readonly string[] }[];
  /** Folder of the own directories. */
  folderId: string;
}

/**
 * Other directories with files of items that the drafts would change, and those that describe a show only by pictures.
 * An item that stays the same was merged from all of them before.
 */
export async function findOthers(db: Db, library: ScannedLibrary, { drafts, folderId }: Asked): Promise<Other[]> {
  if (drafts.length === 0) return [];
  const rows = drafts.map(({ draft, own }) => ({
    ...descriptionOf(draft),
    name: nameOf(draft),
    type: draft.type,
    identity_key: draft.key,
    own,
  }));
  return rowsOf<Other>(
    db,
    `with changed as (
       select r.name, r.type, r.identity_key, r.own, i.id
       from jsonb_to_recordset(?::jsonb) as r(name text, type text, identity_key text, own text[], layers jsonb,
         details jsonb, local_artwork jsonb)
       left join items i on i.library_id = ? and i.type = r.type and i.identity_key = r.identity_key
       where (i.id is null and r.type = 'show') or (i.id is not null and ${SAYS_NEWS}))
     select c.name, d.folder_id, d.directory from changed c, lateral (
       select f.folder_id, f.directory from media_files f where f.item_id = c.id and f.missing_since is null
       union select f.folder_id, f.directory from items e join media_files f on f.item_id = e.id
         where c.type = 'show' and e.grandparent_id = c.id and f.missing_since is null
       union select f.folder_id, f.directory from items e join media_files f on f.item_id = e.id
         where c.type = 'album' and e.parent_id = c.id and f.missing_since is null
       union select s.folder_id, s.path from scan_directories s join library_folders l on l.id = s.folder_id and l.library_id = ?
         where c.type = 'show' and s.show_key = c.identity_key) d
     where d.folder_id <> ? or d.directory <> all(c.own)`,
    [recordset(rows), library.id, library.id, folderId],
  );
}
