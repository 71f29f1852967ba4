import { findStorages } from '#areas/storage/public.ts';
import { onlyVisibleLibraries } from '#identity/visibility.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, type Issue, invalidAll, notFound } from '#kernel/errors.ts';
import type { Row } from '#platform/typed-query.ts';
import { requestScan, triggerOf } from './request-scan.ts';
import type { StartScan } from './scanning.schemas.ts';

type Folder = Pick<Row<'library_folders'>, 'id' | 'storage_id'>;

const UNAVAILABLE = new Set(['unavailable', 'suspect', 'disabled']);

/** Queues a scan, or returns one that covers the request. Throws 423 when all requested folders are unavailable. */
export async function startScanOf(
  call: Call,
  libraryId: string,
  body: StartScan,
): Promise<{ id: string; covered: boolean }> {
  const { db, who } = call;
  const library = await db('libraries')
    .where('libraries.id', libraryId)
    .modify((query) => onlyVisibleLibraries(query, who))
    .first('libraries.id');
  if (!library) throw notFound();
  const folders = await db('library_folders').where({ library_id: libraryId }).select('id', 'storage_id');
  refuseUnknown(body, folders);
  if (folders.length === 0) throw conflict('no-folders', 'The library has no folders');
  const requested = body.folders?.map((target) => target.folderId);
  await refuseUnavailable(
    call,
    folders.filter((folder) => requested?.includes(folder.id) ?? true).map((folder) => folder.storage_id),
  );
  const found = await requestScan(db, {
    libraryId,
    mode: body.mode,
    trigger: triggerOf(call),
    byAccountId: who.accountId,
    targets: body.folders,
    includeIgnored: body.includeIgnored,
  });
  return { id: found.id, covered: found.covered };
}

function refuseUnknown(body: StartScan, folders: readonly Folder[]): void {
  const issues = (body.folders ?? []).flatMap((target, i): Issue[] =>
    folders.some((folder) => folder.id === target.folderId)
      ? []
      : [{ path: ['body', 'folders', i, 'folderId'], code: 'unknown_folder', message: 'not a folder of this library' }],
  );
  if (issues.length > 0) throw invalidAll(issues);
}

/** Throws 423 when every storage is unavailable. A scan skips single unavailable storages. */
export async function refuseUnavailable({ db }: Pick<Call, 'db'>, storageIds: readonly string[]): Promise<void> {
  const storages = await findStorages(db, storageIds);
  const unavailable = [...storages.values()].filter((storage) => UNAVAILABLE.has(storage.state));
  const [first] = unavailable;
  if (!first || unavailable.length < storages.size) return;
  throw new ApiError('STORAGE_UNAVAILABLE', 'The storage is unavailable', { storageId: first.id, reason: first.state });
}
