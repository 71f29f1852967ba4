// Pictures next to media files, as the scan listed them, and covers inside the files.
import { type ArtworkKind, type FoundRow, fittingKind } from '#areas/artwork/public.ts';
import { isSavedContent } from '#areas/libraries/public.ts';
import { openMedia } from '#areas/storage/public.ts';
import { ARTWORK_BYTES } from '#kernel/images.ts';
import type { ProbedStream } from '#platform/media.ts';
import { streamMedia } from '#platform/media-bytes.ts';
import { rawExtensions } from '#platform/media-extensions.ts';
import { sha256Of } from '#platform/place-file.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Row } from '#platform/typed-query.ts';
import { readContent } from '../probe/content/pool.ts';
import { ProbeError } from '../probe/probe.ts';
import { splitName } from '../scan/names/kinds.ts';
import type { Work } from '../work.ts';
import { embeddedPicture } from './still.ts';

/** The item whose pictures are looked for. */
export interface PicturedItem {
  id: string;
  library_id: string;
  type: string;
  title: string;
  parent_id: string | null;
  local_artwork: Record<string, { path: string; mtimeMs: number }>;
}

/** A place where a picture is, by which a later scan finds it unchanged. */
export interface PicturePlace {
  source: 'local' | 'embedded' | 'agent';
  kind: ArtworkKind;
  origin: Record<string, unknown>;
  /** Of a picture of a catalogue. */
  sourceUrl?: string;
  language?: string;
  /** Keeps a smaller picture instead of these bytes: of a photo, which lies in its folder, or of one without compression. */
  reduced?: true;
  /** Undefined when there is no picture; throws `StorageGone` when that cannot be known now. */
  read: () => Promise<Buffer | undefined>;
}

/** The storage of the picture is unavailable. */
export class StorageGone extends Error {}

export const samePlace = (row: FoundRow, place: PicturePlace): boolean =>
  row.source === place.source && isPart(row.origin ?? {}, place.origin);

/** The same file or stream, perhaps with other content. */
export function sameOrigin(row: FoundRow, { source, origin }: PicturePlace): boolean {
  const name = { local: 'path', embedded: 'index', agent: 'url' }[source];
  return row.source === source && row.origin?.[name] === origin[name];
}

const isPart = (whole: Record<string, unknown>, part: Record<string, unknown>): boolean =>
  Object.entries(part).every(([name, value]) => name === 'place' || whole[name] === value);

/** Pictures that the scan found next to the item, at most one of each kind but backdrops. */
export function localPlaces(work: Work, item: PicturedItem): PicturePlace[] {
  const places: PicturePlace[] = [];
  const reduced = item.type === 'photo' ? ({ reduced: true } as const) : {};
  const names = Object.keys(item.local_artwork).sort(
    (a, b) => exactness(item, a) - exactness(item, b) || (a < b ? -1 : 1),
  );
  for (const name of names) {
    const [word = ''] = name.split(':');
    const kind = fittingKind(item.type, word);
    const found = item.local_artwork[name];
    if (!kind || !found || (kind !== 'backdrop' && places.some((one) => one.kind === kind))) continue;
    const { path, mtimeMs } = found;
    const place = String(places.length).padStart(3, '0');
    places.push({
      source: 'local',
      kind,
      origin: { path, mtimeMs, place },
      ...reduced,
      read: () => readLocal(work, item, found),
    });
  }
  return places;
}

/** 0 for a name that is a kind of the item's type, 1 for one that stands for another. */
const exactness = ({ type }: PicturedItem, name: string): number => {
  const [word = ''] = name.split(':');
  return fittingKind(type, word) === word ? 0 : word === 'thumb' ? 1 : 2;
};

/** Pictures of these extensions are decoded here, because libvips does not read them. */
const PREVIEWED = new Set(['heic', 'heif', ...rawExtensions]);

async function readLocal(
  work: Work,
  { library_id: libraryId }: PicturedItem,
  { path, mtimeMs }: { path: string; mtimeMs: number },
): Promise<Buffer | undefined> {
  const folders = await rowsOf<{ id: string; storage_id: string }>(
    work.db,
    `select f.id, f.storage_id from library_folders f where f.library_id = ?
       and (f.path = '' or starts_with(?, f.path || '/')) order by length(f.path) desc, f.id`,
    [libraryId, path],
  );
  let gone = false;
  for (const { id: folderId, storage_id: storageId } of folders) {
    const found = await openMedia(work, { storageId, folderId, path, sizeBytes: -1, modifiedMs: mtimeMs });
    if (found.kind === 'unavailable') gone = true;
    if (found.kind !== 'there' || Math.abs(found.modifiedAt.getTime() - mtimeMs) > 1000) continue;
    if (PREVIEWED.has(splitName(path).extension)) return pictureIn('preview', found.absolute, work.signal);
    const bytes = found.size <= ARTWORK_BYTES ? await readWhole(found.absolute) : undefined;
    return bytes && (await isOwn(work, libraryId, { bytes, path })) ? undefined : bytes;
  }
  if (gone) throw new StorageGone(path);
  return undefined;
}

/** Whether Foyer wrote the picture itself: a copy that lost its times is no choice of the household. */
async function isOwn(
  { db }: Work,
  libraryId: string,
  { bytes, path }: { bytes: Buffer; path: string },
): Promise<boolean> {
  return isSavedContent(db, libraryId, { sha256: sha256Of(bytes), name: path.slice(path.lastIndexOf('/') + 1) });
}

/** At most the bytes that a picture may have, even of a file that grows. */
async function readWhole(path: string): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of streamMedia(path) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > ARTWORK_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const FILE = ['id', 'storage_id', 'folder_id', 'path', 'size_bytes', 'modified_ms', 'probe'] as const;
type FileRow = Pick<Row<'media_files'>, (typeof FILE)[number]>;

/** The first file of an item that is there. */
export async function firstFile({ db }: Work, itemId: string): Promise<FileRow | undefined> {
  const [row] = await rowsOf<FileRow>(
    db,
    `select ${FILE.join()} from media_files
     where item_id = ? and missing_since is null and not ignored order by edition_rank, part nulls first, id limit 1`,
    [itemId],
  );
  return row;
}

/** Opens a file for ffmpeg. Throws `StorageGone`; undefined for a file that is gone. */
export async function openFile(work: Work, row: FileRow): Promise<string | undefined> {
  const found = await openMedia(work, {
    ...{ storageId: row.storage_id, folderId: row.folder_id, path: row.path },
    ...{ sizeBytes: row.size_bytes, modifiedMs: row.modified_ms },
  });
  if (found.kind === 'unavailable') throw new StorageGone(row.path);
  return found.kind === 'there' ? found.absolute : undefined;
}

/** Covers inside the item's first file: one that is upright and one that lies. */
export function embeddedPlaces(work: Work, item: PicturedItem, file: FileRow | undefined): PicturePlace[] {
  const { probe } = file ?? {};
  if (!file || !probe) return [];
  if (probe.book && probe.streams.length === 0) return [coverPlace(work, file)];
  const places: PicturePlace[] = [];
  for (const stream of probe.streams.filter(({ attachedPicture }) => attachedPicture)) {
    const kind = fittingKind(item.type, wordOf(stream));
    if (!kind || places.some((one) => one.kind === kind)) continue;
    const origin = { fileId: file.id, modifiedMs: file.modified_ms, index: stream.index };
    places.push({
      ...{ source: 'embedded', kind, origin },
      read: async () => {
        const absolute = await openFile(work, file);
        return absolute === undefined
          ? undefined
          : embeddedPicture({ file: absolute, probe }, stream.index, work.signal);
      },
    });
  }
  return places;
}

/** The front of a book or comic. */
function coverPlace(work: Work, file: FileRow): PicturePlace {
  const origin = { fileId: file.id, modifiedMs: file.modified_ms, index: FRONT };
  return {
    ...{ source: 'embedded', kind: 'cover', origin, reduced: true },
    read: async () => {
      const absolute = await openFile(work, file);
      return absolute === undefined ? undefined : pictureIn('cover', absolute, work.signal);
    },
  };
}

/** Stands for the index of a stream. */
const FRONT = -1;

/** Undefined for a file without such a picture, or one that cannot be read. */
async function pictureIn(kind: 'cover' | 'preview', path: string, signal: AbortSignal): Promise<Buffer | undefined> {
  try {
    const bytes = await readContent(kind, path, signal);
    return bytes && Buffer.from(bytes);
  } catch (error) {
    if (error instanceof ProbeError) return undefined;
    throw error;
  }
}

/** Matroska's names of attached pictures: `cover.jpg`, `cover_land.jpg`, `small_cover.jpg`. */
function wordOf({ fileName = '' }: ProbedStream): string {
  return /_land\b/i.test(fileName) ? 'thumb' : 'poster';
}
