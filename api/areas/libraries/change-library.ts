import { isDeepStrictEqual } from 'node:util';
import { requestScan, withdrawQuestions } from '#areas/scanning/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import {
  countFilesIn,
  type FolderRow,
  insertFolders,
  listFolders,
  refuseUnfit,
  removeFolders,
} from './folders.store.ts';
import { checkedFolders } from './folders.ts';
import type { LibraryChange, NewFolder } from './libraries.schemas.ts';
import { changeLibraryRow, type LibraryRow, setAccess } from './libraries.store.ts';
import { refuseManagedChange } from './managed.ts';
import { dropFormerPosters, keepPoster, type NewPoster, refuseUnknownPoster } from './poster.ts';
import { refuseStale } from './revision.ts';
import { mergeSettings } from './settings.ts';

/** Applies a PATCH to the locked row, all of it or nothing. What is wrong with it is told before the state that stands against it. */
export async function changeLibrary(
  call: Call,
  row: LibraryRow,
  { change, poster }: { change: LibraryChange; poster: NewPoster | undefined },
): Promise<void> {
  const plan = change.folders && (await planFolders(call, row, change.folders));
  await refuseUnknownPoster(call, row, change);
  refuseStale(call, row);
  refuseManagedChange(call.who, row, change);
  if (change.type !== undefined && change.type !== row.type) {
    throw conflict('type-fixed', 'The type of a library cannot be changed');
  }
  const posterImageId = poster ? await keepPoster(call, row, poster) : change.posterImageId;
  await changeLibraryRow(call.db, row.id, columnsOf(row, { ...change, posterImageId }));
  if (posterImageId !== undefined) await dropFormerPosters(call, row, posterImageId);
  if (change.access) await setAccess(call, row.id, { access: change.access, isNew: false });
  if (plan) await changeFolders(call, row, { plan, confirmed: change.confirmRemoval });
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

interface FolderPlan {
  there: readonly FolderRow[];
  kept: ReadonlySet<string>;
  added: NewFolder[];
}

/** Which folders stay, and which come; 400 for what is no folder of the library or the storage. */
async function planFolders(
  call: Call,
  row: LibraryRow,
  folders: NonNullable<LibraryChange['folders']>,
): Promise<FolderPlan> {
  const there = await listFolders(call.db, [row.id]);
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
  return { there, kept, added };
}

async function changeFolders(
  { db, who }: Call,
  row: LibraryRow,
  { plan: { there, kept, added }, confirmed }: { plan: FolderPlan; confirmed: boolean },
): Promise<void> {
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
