import { isDeepStrictEqual } from 'node:util';
import { setLibraryAccess } from '#areas/accounts/public.ts';
import { requestScan, withdrawQuestions } from '#areas/scanning/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import { countFilesIn, insertFolders, listFolders, refuseUnfit, removeFolders } from './folders.store.ts';
import { checkedFolders } from './folders.ts';
import type { LibraryChange, NewFolder } from './libraries.schemas.ts';
import { changeLibraryRow, type LibraryRow } from './libraries.store.ts';
import { refuseManagedChange } from './managed.ts';
import { dropFormerPosters, keepPoster, type NewPoster, refuseUnknownPoster } from './poster.ts';
import { mergeSettings } from './settings.ts';

/** Applies a PATCH to the locked row, all of it or nothing. */
export async function changeLibrary(
  call: Call,
  row: LibraryRow,
  { change, poster }: { change: LibraryChange; poster: NewPoster | undefined },
): Promise<void> {
  refuseManagedChange(call.who, row, change);
  if (change.type !== undefined && change.type !== row.type) {
    throw conflict('type-fixed', 'The type of a library cannot be changed');
  }
  await refuseUnknownPoster(call, row, change);
  const posterImageId = poster ? await keepPoster(call, row, poster) : change.posterImageId;
  await changeLibraryRow(call.db, row.id, columnsOf(row, { ...change, posterImageId }));
  if (posterImageId !== undefined) await dropFormerPosters(call, row, posterImageId);
  if (change.access) await setLibraryAccess(call, row.id, { access: change.access, isNew: false });
  if (change.folders) await changeFolders(call, row, { folders: change.folders, confirmed: change.confirmRemoval });
  if (isRefreshed(row, change)) call.reply.header('X-Refresh-Suggested', 'true');
}

/** Whether agents would find other things than they did. */
function isRefreshed({ settings: before }: LibraryRow, { settings }: LibraryChange): boolean {
  const after = settings ? mergeSettings(before, settings) : before;
  return (['agents', 'language', 'country'] as const).some((key) => !isDeepStrictEqual(before[key], after[key]));
}

/** Absent fields keep what is there, so they are no columns. */
function columnsOf(row: LibraryRow, change: LibraryChange): Record<string, unknown> {
  const settings = change.settings && mergeSettings(row.settings, change.settings);
  const columns = {
    name: change.name,
    icon: change.icon,
    position: change.order,
    poster_image_id: change.posterImageId,
    settings: settings && JSON.stringify(settings),
    age_limit: settings && (settings.ageLimit ?? null),
    managed_by: change.managedBy && JSON.stringify(change.managedBy),
    managed_fields: change.managedFields,
  };
  const given = Object.fromEntries(Object.entries(columns).filter(([, value]) => value !== undefined));
  return change.managedBy === null ? { ...given, managed_by: null, managed_fields: [] } : given;
}

interface Wanted {
  folders: NonNullable<LibraryChange['folders']>;
  confirmed: boolean;
}

async function changeFolders(call: Call, row: LibraryRow, { folders, confirmed }: Wanted): Promise<void> {
  const { db, who } = call;
  const there = await listFolders(db, [row.id]);
  const kept = new Set<string>();
  const wishes: NewFolder[] = [];
  for (const [index, folder] of folders.entries()) {
    if (!('id' in folder)) wishes.push(folder);
    else if (there.some((one) => one.id === folder.id)) kept.add(folder.id);
    else throw invalid(['body', 'folders', index, 'id'], 'unknown_folder', 'the library has no such folder');
  }
  const added: NewFolder[] = [];
  for (const folder of await checkedFolders(call, wishes)) {
    const same = there.find((one) => one.storage_id === folder.storageId && one.path === folder.path);
    if (same) kept.add(same.id);
    else added.push(folder);
  }
  const removed = there.filter((one) => !kept.has(one.id)).map((one) => one.id);
  const items = await countFilesIn(db, removed);
  if (items > 0 && !confirmed) {
    throw conflict('removes-items', 'Removing these folders trashes what they hold', { items, folders: removed });
  }
  await removeFolders(db, row.id, removed);
  if (removed.length > 0) await withdrawQuestions(db, row.id);
  await refuseUnfit(db, { libraryId: row.id, type: row.type }, added);
  await addFolders({ db, who }, row.id, added);
}

/** Those that are new to the library, and a scan of just them. */
export async function addFolders(
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
