// Changes of libraries by who manages them.
import type { CreateLibraryBody, LibraryFolder, UpdateLibraryBody } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { invalidate } from '#core/cache/query.ts';

/** A folder of a library; `id` is absent for one that is added. */
export interface Folder extends Pick<LibraryFolder, 'storageId' | 'storageName'> {
  id?: string;
  path: string;
}

/** The server keeps a folder by its id, and takes a new one by its place. */
const placed = (folders: readonly Folder[]) =>
  folders.map(({ id, storageId, path }) => (id ? { id } : { storageId, path }));

const again = (): Promise<void> => invalidate('listLibraries');

export async function createLibrary(
  body: Omit<CreateLibraryBody, 'folders'>,
  folders: readonly Folder[],
): Promise<void> {
  await api.createLibrary({ body: { ...body, folders: folders.map(({ storageId, path }) => ({ storageId, path })) } });
  await again();
}

export async function changeLibrary(
  id: string,
  { folders, ...body }: Omit<UpdateLibraryBody, 'folders'> & { folders?: readonly Folder[] },
): Promise<void> {
  await api.updateLibrary({ params: { id }, body: { ...body, ...(folders && { folders: placed(folders) }) } });
  await Promise.all([again(), ...(body.icon === undefined ? [] : [invalidate('listIcons')])]);
}

export async function scanLibrary(id: string): Promise<void> {
  await api.startScan({ params: { id }, body: { mode: 'full' } });
  await again();
}

export async function deleteLibrary(id: string): Promise<void> {
  await api.deleteLibrary({ params: { id } });
  await again();
}
