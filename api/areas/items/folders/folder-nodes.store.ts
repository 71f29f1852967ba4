import type { Knex } from 'knex';
import type { Call } from '#kernel/endpoint.ts';
import type { SortTable } from '#kernel/sort.ts';
import { visibleItems } from '../item/summaries.store.ts';
import { pictureOf } from '../library-views/timeline.ts';
import type { FolderNode } from '../listing.schemas.ts';
import { type LibraryFolder, prefixOf } from './folders.store.ts';
import { folderNodeId } from './folders.ts';

export const folderSorts = {
  name: { column: 'n.name', type: 'text' },
  itemCount: { column: 'n.items', type: 'bigint' },
} as const satisfies SortTable;

export interface NodeRow {
  id: string;
  folder_id: string;
  name: string;
  items: number;
  folders: number;
  types: string[];
  cover: Record<string, unknown> | null;
}

export interface Level {
  /** Folders of the library to read, each from its own path prefix. */
  folders: readonly (Pick<LibraryFolder, 'id' | 'name'> & { prefix: string })[];
  /** The nodes are the folders themselves, not their subfolders. */
  top: boolean;
}

/**
 * Folders of one level with at least one visible item in or below them, as `n`. Their ids are hashes of folder and name
 * and break ties.
 */
export function folderNodes({ db, who }: Pick<Call, 'db' | 'who'>, level: Level): Knex.QueryBuilder {
  const rest = 'substr(f.path, length(base.prefix) + 1)';
  const name = level.top ? 'base.name' : `split_part(${rest}, '/', 1)`;
  const below = level.top ? 1 : 2;
  const placed = visibleItems(db, who)
    .join('media_files as f', 'f.item_id', 'i.id')
    .joinRaw(
      'join unnest(?::uuid[], ?::text[], ?::text[]) as base(folder_id, prefix, name) on base.folder_id = f.folder_id',
      [
        level.folders.map((folder) => folder.id),
        level.folders.map((folder) => folder.prefix),
        level.folders.map((folder) => folder.name),
      ],
    )
    .whereRaw('not f.ignored and i.extra_of is null and starts_with(f.path, base.prefix)')
    .select('f.folder_id')
    .select(
      db.raw(`${name} as name, count(distinct i.id)::int as items, array_agg(distinct coalesce(i.own_type, i.type)) as types,
        (count(distinct split_part(${rest}, '/', ${below})) filter (where split_part(${rest}, '/', ${below + 1}) <> ''))::int as folders,
        (array_agg(i.artwork order by i.added_at desc) filter (where i.artwork <> '{}'))[1] as cover`),
    )
    .groupBy('f.folder_id')
    .groupByRaw(name);
  if (!level.top) placed.whereRaw(`position('/' in ${rest}) > 0`);
  return db
    .queryBuilder()
    .from(
      db
        .queryBuilder()
        .from(placed.as('p'))
        .select('p.*', db.raw(`md5(p.folder_id::text || p.name)::uuid as id`))
        .as('n'),
    )
    .select('n.*');
}

/** Name and id of a node. A library folder is named by its last segment. */
export function toFolderNode(row: NodeRow, at: { path: string; top: boolean }): FolderNode {
  const path = at.top ? '' : prefixOf(at.path, row.name).slice(0, -1);
  const cover = row.cover ? pictureOf(row.cover) : undefined;
  return {
    id: folderNodeId({ folderId: row.folder_id, path }),
    name: row.name,
    itemCount: row.items,
    childFolders: row.folders,
    ...(cover ? { cover } : {}),
    mediaTypes: row.types,
  };
}
