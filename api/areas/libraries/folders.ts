import { findStorages, isFolder, placeInStorage, type Storage } from '#areas/storage/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, type Issue, invalidAll, notFound } from '#kernel/errors.ts';
import { tidyPath } from './folders.store.ts';
import type { NewFolder } from './libraries.schemas.ts';

const AWAY = ['unavailable', 'suspect', 'disabled', 'connecting'];

/** Folders as they will be stored. Throws 404 for an unknown storage, 423 when one is away, 400 for each path that is not a folder. */
export async function checkedFolders(
  call: Call,
  folders: readonly NewFolder[],
  allowed?: (storage: Storage) => boolean,
): Promise<NewFolder[]> {
  const storages = await findStorages(
    call.db,
    folders.map((folder) => folder.storageId),
  );
  const issues: Issue[] = [];
  const checked: NewFolder[] = [];
  for (const [index, folder] of folders.entries()) {
    const storage = storages.get(folder.storageId);
    if (!storage || allowed?.(storage) === false) throw notFound();
    const issue = await fault(call, storage, folder.path);
    if (issue) issues.push({ path: ['body', 'folders', index, 'path'], ...issue });
    checked.push({ storageId: folder.storageId, path: tidyPath(folder.path) });
  }
  if (issues.length > 0) throw invalidAll(issues);
  return checked;
}

async function fault(call: Call, storage: Storage, path: string): Promise<Pick<Issue, 'code' | 'message'> | undefined> {
  const place = AWAY.includes(storage.state)
    ? { kind: 'away' as const }
    : await placeInStorage(call.deps.config, storage, tidyPath(path));
  if (place.kind === 'away') {
    throw new ApiError('STORAGE_UNAVAILABLE', 'The storage is away', { storageId: storage.id });
  }
  const there = place.kind === 'there' && (await isFolder(place.absolute));
  return there ? undefined : { code: 'no_such_folder', message: 'there is no such folder in the storage' };
}
