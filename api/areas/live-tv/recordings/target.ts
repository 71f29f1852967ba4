// Where the file of a recording goes.
import { listVisibleLibraries } from '#areas/items/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict, invalid } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';

/** Types of libraries that recordings may join. */
export const RECORDED_TYPES = ['livetv', 'movies', 'shows', 'videos'] as const;

export interface Target {
  libraryId: string;
  folderId: string;
}

interface Folder {
  id: string;
  library_id: string;
  writable: boolean;
  /** Bytes, as the last check of the storage counted them. */
  free: number | null;
  /** Bytes of old recordings in its trash, which the recorder deletes when it needs their space. */
  spare: number;
}

const SPARE = `(select coalesce(sum(t.size_bytes), 0)::float8 from recordings r
  join items i on i.id = r.item_id and i.trashed_at = r.expired_at join media_files m on m.item_id = i.id
  join trashed_files t on t.file_id = m.id where t.storage_id = s.id and r.expired_at is not null)`;

/** Folders of libraries in the order in which they were added. */
async function foldersOf(db: Db, libraryIds: readonly string[]): Promise<Folder[]> {
  return rowsOf<Folder>(
    db,
    `select f.id, f.library_id, s.enabled and not s.read_only as writable, (s.capacity ->> 'freeBytes')::float8 as free,
            ${SPARE} as spare
       from library_folders f join storages s on s.id = f.storage_id
      where f.library_id = any(?::uuid[]) order by f.added_at, f.id`,
    [[...libraryIds]],
  );
}

export interface Choice {
  libraryId?: string | undefined;
  folderId?: string | undefined;
  channelId: string | null;
}

/**
 * The library and the folder of a recording: those that it names, else those of the settings, else those of the folder of its
 * tuner, else the first library of live television with a folder that may be written. Throws 400, and 409 `no-folder` and `disk-full`.
 */
export async function chooseTarget(call: Call, choice: Choice): Promise<Target> {
  const libraries = (await listVisibleLibraries(call.db, call.who)).filter(({ type }) =>
    RECORDED_TYPES.some((one) => one === type),
  );
  const known = new Set(libraries.map(({ id }) => id));
  if (choice.libraryId !== undefined && !known.has(choice.libraryId))
    throw invalid(['body', 'libraryId'], 'unknown_library', 'a library of type livetv, movies, shows or videos');
  const set = call.deps.settings.get('dvr.libraryId');
  const folders = await foldersOf(call.db, [...known, ...(set === null ? [] : [set])]);
  const own = await tunerFolder(call.db, choice.channelId);
  const live = libraries.flatMap(({ id, type }) => (type === 'livetv' ? [id] : []));
  const folder =
    choice.folderId === undefined
      ? defaultFolder(folders, { libraries: librariesInOrder({ choice, set, folders, own, live }), own })
      : namedFolder(
          folders.filter((one) => known.has(one.library_id)),
          choice,
        );
  if (!folder) throw conflict('no-folder', 'No library has a folder that recordings may be written to');
  requireFree(call, folder);
  return { libraryId: folder.library_id, folderId: folder.id };
}

interface Choices {
  choice: Choice;
  /** Of the settings. */
  set: string | null;
  folders: readonly Folder[];
  own: string | undefined;
  live: readonly string[];
}

function librariesInOrder({ choice, set, folders, own, live }: Choices): string[] {
  if (choice.libraryId !== undefined) return [choice.libraryId];
  if (set !== null) return [set];
  const ofTuner = folders.find(({ id }) => id === own)?.library_id;
  return [...(ofTuner === undefined ? [] : [ofTuner]), ...live];
}

/** Throws 400 for a folder of another library and for one that may not be written. */
function namedFolder(folders: readonly Folder[], { libraryId, folderId }: Choice): Folder {
  const folder = folders.find(({ id, library_id: of }) => id === folderId && (libraryId ?? of) === of);
  if (!folder) throw invalid(['body', 'folderId'], 'unknown_folder', 'a folder of the library');
  if (!folder.writable) throw invalid(['body', 'folderId'], 'read_only', 'a folder that may be written');
  return folder;
}

/** The folder of the tuner where it lies in the library, else the first that may be written. */
function defaultFolder(
  folders: readonly Folder[],
  { libraries, own }: { libraries: readonly string[]; own: string | undefined },
): Folder | undefined {
  for (const id of libraries) {
    const writable = folders.filter((one) => one.library_id === id && one.writable);
    const found = writable.find((one) => one.id === own) ?? writable[0];
    if (found) return found;
  }
  return undefined;
}

/** The folder that the first tuner of the channel names for its recordings. */
async function tunerFolder(db: Db, channelId: string | null): Promise<string | undefined> {
  const [row] = await rowsOf<{ id: string }>(
    db,
    `select t.recordings_folder_id as id from live_sources s join live_tuners t on t.id = s.tuner_id
      where s.channel_id = ? and s.enabled and t.enabled and t.recordings_folder_id is not null
      order by s.position, t.priority desc, s.id limit 1`,
    [channelId],
  );
  return row?.id;
}

function requireFree({ deps }: Call, { free, spare }: Folder): void {
  if (free !== null && free + spare < deps.settings.get('dvr.keepFreeBytes'))
    throw conflict('disk-full', 'The storage of the recordings has too little free space');
}

/** Throws 409 `disk-full` once recordings use up their quota. */
export async function requireQuota({ db, deps }: Call): Promise<void> {
  const quota = deps.settings.get('dvr.quotaBytes');
  if (quota === null || (await usedBytes(db)) < quota) return;
  throw conflict('disk-full', 'Recordings have used up their quota', { quotaBytes: quota });
}

/** Bytes of all recordings that are listed. */
export async function usedBytes(db: Db): Promise<number> {
  const [row] = await rowsOf<{ bytes: number }>(
    db,
    `select coalesce(sum(size_bytes), 0)::float8 as bytes from recordings where removed_at is null and state <> 'cancelled'`,
    [],
  );
  return row?.bytes ?? 0;
}

/** Free bytes where recordings go by default; undefined when they are not known. */
export async function freeBytes(call: Call, libraries: readonly string[]): Promise<number | undefined> {
  const set = call.deps.settings.get('dvr.libraryId');
  const wanted = set === null ? libraries : [set];
  const folder = defaultFolder(await foldersOf(call.db, wanted), { libraries: wanted, own: undefined });
  return folder?.free ?? undefined;
}
