import type { Db } from '#platform/db.ts';
import type { ProbedFile } from '#platform/media.ts';
import { rowsOf } from '#platform/rows.ts';
import { rulesOf } from '../group/index.ts';
import type { Compared } from './compare.ts';
import type { Place } from './place.ts';
import { type Readings, readFiles } from './read-files.ts';
import type { Scan } from './scan.ts';

/** What the media of a directory contain, by name. */
export type Inside = ReadonlyMap<string, ProbedFile>;

/**
 * Reads the new files of a directory before it is grouped, for types whose items depend on the content of their files, and
 * keeps the results in `compared.early`. Undefined for all other types.
 */
export async function readEarly(scan: Scan, { folder }: Place, compared: Compared): Promise<Inside | undefined> {
  if (!rulesOf(scan.library.type)?.byContent) return undefined;
  const { path } = compared.directory;
  const pathOf = (name: string): string => (path === '' ? name : `${path}/${name}`);
  const wanted = compared.files.filter(({ name }) => compared.toRead.has(name));
  const early = await readFiles(
    scan,
    folder,
    wanted.map((walked) => ({ path: pathOf(walked.name), walked, isKnown: compared.known.has(walked.name) })),
  );
  compared.early = early;
  const idOf = (name: string): string | undefined =>
    early.moved.get(pathOf(name))?.id ?? (compared.toRead.has(name) ? undefined : compared.known.get(name)?.id);
  const stored = await storedIn(
    scan.work.db,
    compared.files.flatMap(({ name }) => idOf(name) ?? []),
  );
  const found = new Map<string, ProbedFile>();
  for (const { name } of compared.files) {
    const read = early.read.get(pathOf(name));
    const file = read && 'probed' in read ? read.probed.file : stored.get(idOf(name) ?? '');
    if (file) found.set(name, file);
  }
  return found;
}

async function storedIn(db: Db, ids: readonly string[]): Promise<Map<string, ProbedFile>> {
  if (ids.length === 0) return new Map();
  const rows = await db('media_files').whereIn('id', ids).whereNotNull('probe').select('id', 'probe');
  return new Map(rows.flatMap(({ id, probe }) => (probe ? [[id, probe] as const] : [])));
}

/** What the known media of a directory contain; undefined for types whose items depend on names alone. */
export async function insideOf(scan: Scan, folderId: string, directory: string): Promise<Inside | undefined> {
  if (!rulesOf(scan.library.type)?.byContent) return undefined;
  const rows = await rowsOf<{ path: string; probe: ProbedFile }>(
    scan.work.db,
    'select path, probe from media_files where folder_id = ? and directory = ? and probe is not null',
    [folderId, directory],
  );
  return new Map(rows.map(({ path, probe }) => [path.slice(path.lastIndexOf('/') + 1), probe]));
}

/** The results for these paths of files that were read early. */
export function earlyFor(all: readonly (Readings | undefined)[], paths: readonly string[]): Readings {
  const wanted = new Set(paths);
  const own = <V>(of: (readings: Readings) => ReadonlyMap<string, V>): Map<string, V> =>
    new Map(all.flatMap((one) => (one ? [...of(one)].filter(([path]) => wanted.has(path)) : [])));
  return {
    read: own((one) => one.read),
    moved: own((one) => one.moved),
    faults: own((one) => one.faults),
    postponed: new Set(all.flatMap((one) => [...(one?.postponed ?? [])].filter((path) => wanted.has(path)))),
  };
}
