import { requestScan, withdrawQuestions } from '#areas/scanning/public.ts';
import { findStorages, folderOnStorage, type Storage } from '#areas/storage/public.ts';
import { may, type Principal } from '#identity/principal.ts';
import { requireAllowed } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, type Issue, invalid, invalidAll, notFound } from '#kernel/errors.ts';
import {
  countFilesIn,
  countFolders,
  type FolderRow,
  insertFolders,
  listFolders,
  refuseUnfit,
  removeFolders,
  tidyPath,
} from './folders.store.ts';
import type { LibraryChange, NewFolder } from './libraries.schemas.ts';
import type { LibraryRow } from './libraries.store.ts';

const UNAVAILABLE = ['unavailable', 'suspect', 'disabled', 'connecting'];

/**
 * Validates folders and normalises their paths. Throws 404 for an unknown storage, 423 for an unavailable one, and 400
 * for each path that is not a folder.
 */
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

/** Folders that were validated before the transaction, with normalised paths. Throws 404 when a storage is gone since. */
export async function knownFolders({ db }: Call, folders: readonly NewFolder[]): Promise<NewFolder[]> {
  const ids = folders.map(({ storageId }) => storageId);
  const storages = await findStorages(db, ids);
  if (ids.some((id) => !storages.has(id))) throw notFound();
  return folders.map(({ storageId, path }) => ({ storageId, path: tidyPath(path) }));
}

const isSame = (row: FolderRow, folder: NewFolder): boolean =>
  row.storage_id === folder.storageId && row.path === folder.path;

async function fault(call: Call, storage: Storage, path: string): Promise<Pick<Issue, 'code' | 'message'> | undefined> {
  const place = UNAVAILABLE.includes(storage.state)
    ? 'unavailable'
    : await folderOnStorage({ db: call.db, config: call.deps.config }, storage, tidyPath(path));
  if (place === 'unavailable') {
    throw new ApiError('STORAGE_UNAVAILABLE', 'The storage is unavailable', { storageId: storage.id });
  }
  return place === 'there' ? undefined : { code: 'no_such_folder', message: 'The storage has no such folder' };
}

interface FolderPlan {
  present: readonly FolderRow[];
  kept: ReadonlySet<string>;
  added: NewFolder[];
}

type Folders = NonNullable<LibraryChange['folders']>;

/** `checkedFolders` of those that a change adds. It waits for the storages, so no row may be locked. */
export function checkedAdditions(call: Call, folders: Folders): Promise<NewFolder[]> {
  return checkedFolders(
    call,
    folders.flatMap((folder) => ('id' in folder ? [] : [folder])),
  );
}

/** Compares the requested list with the current folders; `checked` are its additions. Throws 400 for an unknown folder. */
export async function planFolders(
  { db }: Call,
  row: LibraryRow,
  { folders, checked }: { folders: Folders; checked: readonly NewFolder[] },
): Promise<FolderPlan> {
  const present = await listFolders(db, [row.id]);
  const kept = new Set<string>();
  for (const [index, folder] of folders.entries()) {
    if (!('id' in folder)) continue;
    if (present.some((one) => one.id === folder.id)) kept.add(folder.id);
    else throw invalid(['body', 'folders', index, 'id'], 'unknown_folder', 'the library has no such folder');
  }
  const added: NewFolder[] = [];
  for (const folder of checked) {
    const same = present.find((one) => isSame(one, folder));
    if (same) kept.add(same.id);
    else added.push(folder);
  }
  return { present, kept, added };
}

export async function changeFolders(
  { db, who }: Call,
  row: LibraryRow,
  { plan: { present, kept, added }, confirmed }: { plan: FolderPlan; confirmed: boolean },
): Promise<void> {
  const removed = present.filter((one) => !kept.has(one.id)).map((one) => one.id);
  const items = await countFilesIn(db, removed);
  if (items > 0 && !confirmed) {
    throw conflict('removes-items', 'Removing these folders moves their items to the trash', {
      items,
      folders: removed,
    });
  }
  await removeFolders(db, row.id, removed);
  if (removed.length > 0) await withdrawQuestions(db, row.id);
  await refuseUnfit(db, { libraryId: row.id, type: row.type }, added);
  await addFolders({ db, who }, row.id, added);
}

/** Inserts the folders and queues a scan of them. */
async function addFolders(
  { db, who }: Pick<Call, 'db' | 'who'>,
  libraryId: string,
  folders: readonly NewFolder[],
): Promise<void> {
  const byAccountId = who.accountId;
  const rows = await insertFolders(db, libraryId, { folders, by: byAccountId });
  if (rows.length === 0) return;
  const targets = rows.map((folder) => ({ folderId: folder.id }));
  await requestScan(db, { libraryId, mode: 'quick', trigger: 'folder-added', byAccountId, targets });
}

const MEMBER_FOLDERS = 10;
const MOST_FOLDERS = 100;

/** Throws 403 for a caller who may not add folders to a library of this type. */
export function refuseAdder(who: Principal, type?: string): void {
  if (may(who, 'library:manage')) return;
  if (may(who, 'photo:upload') && (type ?? 'photos') === 'photos') return;
  throw new ApiError('FORBIDDEN', 'This needs the permission library:manage', { permission: 'library:manage' });
}

/** Validates folders that the caller adds; members may add those of their own storages. It waits for the storages. */
export async function checkedOwnFolders(call: Call, folders: readonly NewFolder[]): Promise<NewFolder[]> {
  const { who } = call;
  if (!may(who, 'library:manage')) requireAllowed(who, 'personalStorage');
  return checkedFolders(call, folders, ({ ownerId }) => may(who, 'library:manage') || ownerId === who.accountId);
}

/** Adds the validated folders that the library does not have yet. Members may add a few. */
export async function addNewFolders(call: Call, row: LibraryRow, checked: readonly NewFolder[]): Promise<void> {
  const { db, who } = call;
  const manages = may(who, 'library:manage');
  const present = await listFolders(db, [row.id]);
  const added = checked.filter((folder) => !present.some((one) => isSame(one, folder)));
  await refuseUnfit(db, { libraryId: row.id, type: row.type }, added);
  const counted = await countFolders(db, manages ? { library_id: row.id } : { added_by: who.accountId });
  const most = manages ? MOST_FOLDERS : MEMBER_FOLDERS;
  if (counted + added.length > most) throw conflict('folder-limit', `At most ${most} folders`);
  if (added.length > 0) await db('libraries').where({ id: row.id }).increment('revision', 1);
  await addFolders(call, row.id, added);
}
