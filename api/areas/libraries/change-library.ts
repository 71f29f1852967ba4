import { isDeepStrictEqual } from 'node:util';
import { requireIcon } from '#areas/icons/public.ts';
import type { Principal } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid } from '#kernel/errors.ts';
import { artworkRules, dropImages, insertImage, keepOriginal, seesArtwork } from '#kernel/images.ts';
import { pictureOf } from '#kernel/pictures.ts';
import type { Upload } from '#kernel/uploads.ts';
import type { Pictures } from '#platform/pictures.ts';
import { changeFolders, checkedFolders, planFolders } from './folders.ts';
import type { LibraryChange, LibraryDraft, LibrarySettings, NewFolder } from './libraries.schemas.ts';
import { changeLibraryRow, findManagedLibraryId, type LibraryRow, setAccess } from './libraries.store.ts';
import { queueSaves } from './saving/saves.store.ts';

interface Change {
  change: LibraryChange;
  poster: UploadedPoster | undefined;
  /** The new folders of the change, validated. */
  added: readonly NewFolder[];
}

/**
 * Applies a PATCH to the locked row, completely or not at all. Invalid input is reported before conflicts with the
 * current state.
 */
export async function changeLibrary(call: Call, row: LibraryRow, { change, poster, added }: Change): Promise<void> {
  const plan = change.folders && (await planFolders(call, row, { folders: change.folders, checked: added }));
  await refuseUnknownPoster(call, row, change);
  if (change.icon !== row.icon) await requireIcon(call.db, 'icon', change.icon);
  refuseStale(call, row);
  refuseManagedChange(call.who, row, change);
  refuseOtherType(row, change);
  const posterImageId = poster ? await keepPoster(call, row, poster) : change.posterImageId;
  await changeLibraryRow(call.db, row.id, columnsOf(row, { ...change, posterImageId }));
  if (posterImageId !== undefined) await dropFormerPosters(call, row, posterImageId);
  if (change.access) await setAccess(call, row.id, { access: change.access, isNew: false });
  if (plan) await changeFolders(call, row, { plan, confirmed: change.confirmRemoval });
  const all = newlySaved(row, change);
  if (all.length > 0) await queueSaves(call.db, row.id, { all, runAt: new Date() });
  if (isRefreshed(row, change)) call.reply.header('X-Refresh-Suggested', 'true');
}

function refuseOtherType(row: LibraryRow, { type }: LibraryChange): void {
  if (type === undefined || type === row.type) return;
  throw conflict('type-fixed', 'The type of a library cannot be changed');
}

/** True when agents would return other metadata. */
function isRefreshed({ settings: before }: LibraryRow, { settings }: LibraryChange): boolean {
  const after = settings ? mergeSettings(before, settings) : before;
  return (['agents', 'language', 'country'] as const).some((key) => !isDeepStrictEqual(before[key], after[key]));
}

/** What the change has written next to media from now on; the items that are there already are written too. */
function newlySaved({ settings: before }: LibraryRow, { settings }: LibraryChange): ('nfo' | 'artwork')[] {
  const turnsOn = (key: 'saveNfo' | 'saveArtwork'): boolean => settings?.[key] === true && before[key] !== true;
  return [...(turnsOn('saveNfo') ? ['nfo' as const] : []), ...(turnsOn('saveArtwork') ? ['artwork' as const] : [])];
}

/** Columns of the fields in the change. Absent fields keep their value. */
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

/** Absent keys keep their value; null returns to the default. */
function mergeSettings(stored: Partial<LibrarySettings>, change: Record<string, unknown>): Partial<LibrarySettings> {
  const merged: Record<string, unknown> = { ...stored, ...change };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null && value !== undefined));
}

export function etagOf(row: { revision: number }): string {
  return `"${row.revision}"`;
}

/** Throws 409 `revision` when `If-Match` names another revision. Without the header the last writer wins. */
export function refuseStale({ headers }: Call, row: { revision: number }): void {
  const wanted = headers['if-match'];
  if (wanted === undefined || wanted === '*' || wanted === etagOf(row)) return;
  throw conflict('revision', 'The library has changed since this revision', { revision: row.revision });
}

/** Only the operator's key may set the owner of a library. */
export function refuseForeignManager(who: Principal, body: { managedBy?: unknown; managedFields?: unknown }): void {
  if (who.operator || (body.managedBy === undefined && body.managedFields === undefined)) return;
  throw new ApiError('FORBIDDEN', 'Only the operator sets the owner of a library', { by: 'operator' });
}

/** Validates a draft and its folders, which may lie on machines of others: before the transaction (hack/decisions/301). */
export async function checkNewLibrary(call: Call, draft: LibraryDraft): Promise<void> {
  refuseForeignManager(call.who, draft);
  const isMade = draft.managedBy && (await findManagedLibraryId(call.db, draft.managedBy.uid));
  if (!isMade) await checkedFolders(call, draft.folders);
}

/** Names of the changed fields, as in `managedFields`. */
function touched(change: LibraryChange): string[] {
  const { settings, poster, confirmRemoval: _confirm, managedBy: _by, managedFields: _fields, ...rest } = change;
  const own = Object.entries({ ...rest, ...(poster && { posterImageId: true }) }).filter(
    ([, value]) => value !== undefined,
  );
  return [...own.map(([name]) => name), ...Object.keys(settings ?? {}).map((name) => `settings.${name}`)];
}

/** Throws 409 `managed-by-resource` when a user changes a field that the resource owns. */
export function refuseManaged(who: Principal, row: LibraryRow, fields: readonly string[]): void {
  if (who.operator || !row.managed_by) return;
  const owned = fields.filter((field) => row.managed_fields.includes(field));
  if (owned.length === 0) return;
  throw conflict('managed-by-resource', 'A Kubernetes resource owns this', {
    fields: owned,
    managedBy: row.managed_by,
  });
}

function refuseManagedChange(who: Principal, row: LibraryRow, change: LibraryChange): void {
  refuseManaged(who, row, touched(change));
}

/** An uploaded poster, decoded and not stored yet. */
interface UploadedPoster {
  upload: Upload;
  picture: Awaited<ReturnType<typeof pictureOf>>;
}

/** Runs outside a transaction, because decoding is slow. Throws 400 and 415 for an invalid picture. */
export async function openPoster(pictures: Pictures, upload: Upload): Promise<UploadedPoster> {
  return { upload, picture: await pictureOf(pictures, upload, { rules: artworkRules, path: ['body', 'poster'] }) };
}

/** Stores the picture as an image of the library and returns its id. */
async function keepPoster(call: Call, row: LibraryRow, { upload, picture }: UploadedPoster): Promise<string> {
  const sha256 = await keepOriginal({ objects: call.deps.objects, log: call.log }, upload.bytes);
  return insertImage(call.db, {
    ...{ kind: 'poster', owner: { kind: 'library', id: row.id }, sha256, picture },
    ...{ mime: picture.type, sizeBytes: upload.bytes.length, byAccountId: call.who.accountId },
  });
}

/** Throws 400 for a picture together with an id, and for an image that the caller may not see. */
async function refuseUnknownPoster(
  { db, who }: Call,
  row: LibraryRow,
  { posterImageId, poster }: LibraryChange,
): Promise<void> {
  const path = ['body', 'posterImageId'];
  if (poster && posterImageId !== undefined) throw invalid(path, 'both', 'a picture or the id of an image, not both');
  if (!posterImageId || posterImageId === row.poster_image_id || (await seesArtwork(db, who, posterImageId))) return;
  throw invalid(path, 'unknown_image', 'there is no such image');
}

/** Deletes uploaded posters that the library no longer shows. */
async function dropFormerPosters({ db }: Call, row: LibraryRow, shown: string | null): Promise<void> {
  if (row.poster_image_id !== shown) await dropImages(db, { kind: 'library', id: row.id }, shown);
}
