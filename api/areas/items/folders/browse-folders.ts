import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError } from '#kernel/errors.ts';
import { type Page, pageOf, parseSort } from '#kernel/page.ts';
import type { LibraryRow } from '../listing/shelves.store.ts';
import type { FolderNode } from '../listing.schemas.ts';
import { folderNodes, folderSorts, type NodeRow, toFolderNode } from './folder-nodes.store.ts';
import { getFolder, listLibraryFolders, prefixOf } from './folders.store.ts';
import { folderNodeId } from './folders.ts';

interface FolderQuery {
  folder?: string | undefined;
  sort?: string | undefined;
  cursor?: string | undefined;
  limit: number;
}

type Parent = { id: string; name: string };

/** One level of a library's folders. Throws 403 when the library has no folder view and the caller does not manage it. */
export async function browseFolders(
  call: Call,
  library: LibraryRow,
  query: FolderQuery,
): Promise<{ items: FolderNode[]; page: Page; parents: Parent[] }> {
  if (!may(call.who, 'library:manage') && !showsFolders(library)) {
    throw new ApiError('FORBIDDEN', 'The folder view of this library is off', { setting: 'folderView' });
  }
  const folders = await listLibraryFolders(call.db, library.id);
  const at = query.folder === undefined ? undefined : await getFolder(call.db, library.id, query.folder);
  const level = at
    ? { top: false, folders: [{ ...at.folder, prefix: at.prefix }] }
    : { top: true, folders: folders.map((one) => ({ ...one, prefix: prefixOf(one.path) })) };
  const answer = await pageOf<NodeRow, FolderNode>(call.db, folderNodes(call, level), {
    keys: call.deps.keys,
    terms: parseSort(query.sort, folderSorts, 'name'),
    cursor: query.cursor,
    limit: query.limit,
    scope: `browseLibraryFolders|${library.id}|${query.folder ?? ''}|${call.who.profileId}`,
    idColumn: 'n.id',
    toItem: (row) => toFolderNode(row, { path: at?.place.path ?? '', top: !at }),
  });
  return { ...answer, parents: at ? parentsOf(at) : [] };
}

/** Photos and videos have a folder view unless the library turns it off. */
function showsFolders({ type, settings }: LibraryRow): boolean {
  return Boolean(settings.folderView ?? ['photos', 'videos'].includes(type));
}

/** The path from the library folder to the current folder, both included. */
function parentsOf({ place, folder }: Awaited<ReturnType<typeof getFolder>>): Parent[] {
  const segments = place.path.split('/').filter(Boolean);
  const below = segments.map((name, i) => ({
    id: folderNodeId({ folderId: folder.id, path: segments.slice(0, i + 1).join('/') }),
    name,
  }));
  return [{ id: folderNodeId({ folderId: folder.id, path: '' }), name: folder.name }, ...below];
}
