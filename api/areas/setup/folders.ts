import { access, constants, opendir, statfs } from 'node:fs/promises';
import { basename, extname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { z } from 'zod';
import { placeInStorage } from '#areas/storage/public.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import type { Config, MediaRoot } from '#platform/config.ts';
import type { FileKind, SetupFolder, SetupFolders, SetupRoot } from './setup.schemas.ts';

const MOST_FOLDERS = 500;
const MOST_ENTRIES = 5000;
const LIMIT_MS = 5000;

const KINDS: [FileKind, string][] = [
  ['video', 'mkv mp4 m4v avi mov ts m2ts webm mpg mpeg wmv flv'],
  ['audio', 'mp3 flac m4a ogg opus wav aac wma m4b'],
  ['image', 'jpg jpeg png heic webp tif tiff raw dng cr2 nef'],
  ['book', 'epub pdf mobi azw3'],
  ['comic', 'cbz cbr cb7'],
  ['game', 'nes sfc smc gba gb gbc n64 z64 nds iso ch8'],
];
const kindOf = new Map(KINDS.flatMap(([kind, list]) => list.split(' ').map((ext) => [ext, kind] as const)));

const NAMED: [RegExp, NonNullable<SetupFolder['suggestedType']>][] = [
  [/^(movies?|films?|cinema)$/i, 'movies'],
  [/^(shows?|tv|series|tv.?shows?)$/i, 'shows'],
  [/^(music|audio)$/i, 'music'],
  [/^(photos?|pictures|images)$/i, 'photos'],
  [/^(books?|ebooks?)$/i, 'books'],
  [/^(comics?|manga)$/i, 'comics'],
  [/^(games?|roms?)$/i, 'games'],
  [/^courses?$/i, 'courses'],
];

interface Listed {
  folders: string[];
  files: Record<FileKind, number>;
  /** The folder has more entries than were read. */
  cut: boolean;
}

const inOrder = (names: string[]): string[] => names.sort((a, b) => a.localeCompare(b));

async function list(absolute: string): Promise<Listed> {
  const { files, folders } = nothing();
  const end = Date.now() + LIMIT_MS;
  let seen = 0;
  for await (const entry of await opendir(absolute)) {
    seen += 1;
    if (seen > MOST_ENTRIES || Date.now() > end) return { folders: inOrder(folders), files, cut: true };
    if (entry.name.startsWith('.')) continue;
    if (entry.isDirectory()) folders.push(entry.name);
    else if (entry.isFile()) files[kindOf.get(extname(entry.name).slice(1).toLowerCase()) ?? 'other'] += 1;
  }
  return { folders: inOrder(folders), files, cut: false };
}

function suggestion(name: string, { files }: Listed): Pick<SetupFolder, 'suggestedType' | 'confidence'> {
  const named = NAMED.find(([shape]) => shape.test(name));
  if (named) return { suggestedType: named[1], confidence: 0.9 };
  const types: Partial<Record<FileKind, NonNullable<SetupFolder['suggestedType']>>> = {
    video: 'videos',
    audio: 'music',
    image: 'photos',
    book: 'books',
    comic: 'comics',
    game: 'games',
  };
  const [most] = Object.entries(files).sort(([, a], [, b]) => b - a) as [FileKind, number][];
  const all = Object.values(files).reduce((sum, n) => sum + n, 0);
  const type = most && types[most[0]];
  return type && all > 0
    ? { suggestedType: type, confidence: Math.round((most[1] / all) * 50) / 100 }
    : { confidence: 0 };
}

function toFolder(rootId: string, path: string, listed: Listed): SetupFolder {
  const name = basename(path);
  return { rootId, path, name, folders: listed.folders.length, files: listed.files, ...suggestion(name, listed) };
}

/** Lists a folder below a root. Throws 404 for a path that is not below the root, 423 when the root is unavailable. */
export async function listRoot(config: Config, rootId: string, path: string): Promise<z.input<typeof SetupFolders>> {
  const root = config.mediaRoots.find((one) => one.id === rootId);
  if (!root) throw notFound();
  const place = await placeInStorage(config, { rootName: root.name, path: '' }, path);
  if (place.kind === 'unavailable')
    throw new ApiError('STORAGE_UNAVAILABLE', 'The folder is unavailable', { storageId: root.id });
  if (place.kind !== 'there') throw notFound();
  const read = readerOf(root);
  const listed = await read(place.absolute);
  const shown = listed.folders.slice(0, MOST_FOLDERS);
  const items = await Promise.all(
    shown.map(async (name) => toFolder(rootId, join(path, name), await read(join(place.absolute, name)))),
  );
  const folder = { ...toFolder(rootId, path, listed), ...(path === '' && { name: root.name }) };
  return { folder, items, truncated: listed.cut || listed.folders.length > MOST_FOLDERS };
}

const READERS = 2;
/** Requests that wait for one of the readers of a root. */
const waiting = new Map<string, { reading: number; next: (() => void)[] }>();

/** Limits each root to two concurrent readers. Throws 423 when a folder takes too long; an unreadable one is empty. */
function readerOf({ id }: MediaRoot): (absolute: string) => Promise<Listed> {
  const line = waiting.get(id) ?? { reading: 0, next: [] };
  waiting.set(id, line);
  return async (absolute) => {
    if (line.reading >= READERS) await new Promise<void>((resolve) => line.next.push(resolve));
    line.reading += 1;
    try {
      const late = sleep(LIMIT_MS + 500, undefined, { ref: false });
      const listed = await Promise.race([list(absolute).catch(nothing), late]);
      if (!listed) throw new ApiError('STORAGE_UNAVAILABLE', 'The folder does not respond', { storageId: id });
      return listed;
    } finally {
      line.reading -= 1;
      line.next.shift()?.();
    }
  };
}

const nothing = (): Listed => ({
  folders: [],
  files: { video: 0, audio: 0, image: 0, book: 0, comic: 0, game: 0, other: 0 },
  cut: false,
});

/** A mounted root with its free space. A root that does not respond in time is not readable. */
export async function describeRoot(root: MediaRoot): Promise<z.input<typeof SetupRoot>> {
  const [found, readable, writable] = await Promise.race([
    lookAt(root.path),
    sleep(LIMIT_MS, UNREACHABLE, { ref: false }),
  ]);
  return {
    id: root.id,
    name: root.name,
    kind: 'mount',
    readable,
    writable: writable && !root.readOnly,
    ...(found && { freeBytes: found.bavail * found.bsize, sizeBytes: found.blocks * found.bsize }),
  };
}

const UNREACHABLE = [undefined, false, false] as const;

/** Free space, and whether the folder can be read and written. */
function lookAt(path: string) {
  const allows = (mode: number): Promise<boolean> =>
    access(path, mode).then(
      () => true,
      () => false,
    );
  return Promise.all([statfs(path).catch(() => undefined), allows(READ), allows(WRITE)]);
}

const READ = constants.R_OK | constants.X_OK;
const WRITE = constants.W_OK | constants.X_OK;
