// Changes of libraries by who manages them.
import type { CreateLibraryBody, Library, LibraryFolder, UpdateLibraryBody } from 'foyer-client';
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

export interface LibraryChanges extends Omit<UpdateLibraryBody, 'folders'> {
  folders?: readonly Folder[];
}

/** Throws 409 `revision` when somebody changed the library since it was read. */
export async function changeLibrary(
  { id, revision }: Pick<Library, 'id' | 'revision'>,
  { folders, ...body }: LibraryChanges,
): Promise<void> {
  const headers = { 'if-match': `"${revision}"` };
  await api.updateLibrary({ params: { id }, headers, body: { ...body, ...(folders && { folders: placed(folders) }) } });
  await Promise.all([again(), ...(body.icon === undefined ? [] : [invalidate('listIcons')])]);
}

export const readLibrary = (id: string): Promise<Library> => api.getLibrary({ params: { id } });

export async function scanLibrary(id: string): Promise<void> {
  await api.startScan({ params: { id }, body: { mode: 'full' } });
  await again();
}

export async function deleteLibrary(id: string): Promise<void> {
  await api.deleteLibrary({ params: { id } });
  await again();
}
