import type { Db } from '#platform/db.ts';
import type { ProbedFile } from '#platform/media.ts';
import { rowsOf } from '#platform/rows.ts';
import { isByContent } from '../group/index.ts';
import type { Compared } from './compare.ts';
import { pathIn } from './faults.ts';
import type { Place } from './place.ts';
import { type Readings, readFiles, type ToRead } from './read-files.ts';
import type { Scan } from './scan.ts';

/** What the media of a directory contain, by name. */
export type Inside = ReadonlyMap<string, ProbedFile>;

/**
 * Reads the new files of directories before these are grouped, for types whose items depend on the content of their files, and
 * keeps the results in `compared.early`. Many small directories cost as few queries as one. Empty for all other types.
 */
export async function readEarly(
  scan: Scan,
  { folder }: Place,
  all: readonly Compared[],
): Promise<ReadonlyMap<Compared, Inside>> {
  if (!isByContent(scan.library)) return new Map();
  const early = await readFiles(scan, folder, all.flatMap(wantedIn));
  for (const compared of all) compared.early = early;
  const idOf = ({ toRead, known }: Compared, name: string, path: string): string | undefined =>
    early.moved.get(path)?.id ?? (toRead.has(name) ? undefined : known.get(name)?.id);
  const stored = await storedIn(
    scan.work.db,
    all.flatMap((compared) => compared.files.flatMap(({ name }) => idOf(compared, name, pathIn(compared, name)) ?? [])),
  );
  return new Map(
    all.map((compared) => {
      const found = new Map<string, ProbedFile>();
      for (const { name } of compared.files) {
        const path = pathIn(compared, name);
        const read = early.read.get(path);
        const file = read && 'probed' in read ? read.probed.file : stored.get(idOf(compared, name, path) ?? '');
        if (file) found.set(name, file);
      }
      return [compared, found];
    }),
  );
}

function wantedIn(compared: Compared): ToRead[] {
  return compared.files.flatMap((walked) => {
    const { name } = walked;
    if (!compared.toRead.has(name)) return [];
    return [{ path: pathIn(compared, name), walked, isKnown: compared.known.has(name) }];
  });
}

async function storedIn(db: Db, ids: readonly string[]): Promise<Map<string, ProbedFile>> {
  if (ids.length === 0) return new Map();
  const rows = await db('media_files').whereIn('id', ids).whereNotNull('probe').select('id', 'probe');
  return new Map(rows.flatMap(({ id, probe }) => (probe ? [[id, probe] as const] : [])));
}

/** What the known media of a directory contain; undefined for types whose items depend on names alone. */
export async function insideOf(scan: Scan, folderId: string, directory: string): Promise<Inside | undefined> {
  if (!isByContent(scan.library)) return undefined;
  const rows = await rowsOf<{ path: string; probe: ProbedFile }>(
    scan.work.db,
    'select path, probe from media_files where folder_id = ? and directory = ? and probe is not null',
    [folderId, directory],
  );
  return new Map(rows.map(({ path, probe }) => [path.slice(path.lastIndexOf('/') + 1), probe]));
}

/** The results for these paths of files that were read early. */
export function earlyFor(all: readonly (Readings | undefined)[], paths: readonly string[]): Readings {
  const readings = [...new Set(all)].filter((one) => one !== undefined);
  const own = <V>(of: (readings: Readings) => ReadonlyMap<string, V>): Map<string, V> =>
    new Map(
      readings.flatMap((one) =>
        paths.flatMap((path) => {
          const found = of(one).get(path);
          return found === undefined ? [] : [[path, found] as const];
        }),
      ),
    );
  return {
    read: own((one) => one.read),
    moved: own((one) => one.moved),
    faults: own((one) => one.faults),
    postponed: new Set(paths.filter((path) => readings.some(({ postponed }) => postponed.has(path)))),
  };
}
