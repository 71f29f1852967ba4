import { lockLibraries } from '#areas/libraries/public.ts';
import type { Probed } from '#workers/probe/probe.ts';
import { isByContent } from '../group/index.ts';
import { extrasFolder } from '../names/extras.ts';
import { isMedia } from '../names/media.ts';
import type { ScannedFolder } from '../store/context.ts';
import type { WalkBatch } from '../walk/types.ts';
import { type Compared, compare } from './compare.ts';
import { earlyFor } from './early.ts';
import { noteUnread, pathIn } from './faults.ts';
import { gathered, type Issue, issueOfFault, writeIssues } from './issues.ts';
import { type Piece, partsOf } from './parts.ts';
import type { Place } from './place.ts';
import { type Readings, readFiles, type ToRead } from './read-files.ts';
import type { Scan } from './scan.ts';
import { write } from './write.ts';

/**
 * Compares, groups, reads and writes the listed files in parts. Each transaction is a checkpoint: at most 500 files, or
 * 64 that were read (500 of local music), so that a kill costs little and new films appear soon. The row of a directory is written with its
 * last files.
 */
export async function takeBatch(scan: Scan, place: Place, batch: WalkBatch): Promise<void> {
  const listed = batch.directories.filter((directory) => directory.state === 'listed');
  await scan.saved.leaveOut(place.folder.storageId, listed);
  const all = await compare(scan, place, listed);
  if (!place.regroup) countListed(scan, batch, all);
  await reportWalk(scan, place.folder, batch);
  await keepOthers(scan, place, batch);
  for await (const part of partsOf(scan, place, all)) {
    const readings = await readingsOf(scan, place, part);
    scan.signal.throwIfAborted(); // the folder may have been given up meanwhile
    for (const { compared } of part) noteUnread(compared, readings);
    const issues = gathered(issuesOf(place, { part, readings }), place.lost);
    await write(scan, place, { part, readings, issues });
  }
  for (const compared of all) {
    noteDependent(scan, place, compared);
    if (compared.unsettled) scan.unsettled.push({ folder: place.folder, directory: compared.directory.path });
  }
}

/** What files contain, unless the grouping of their type has read them already. */
async function readingsOf(scan: Scan, { folder }: Place, part: readonly Piece[]): Promise<Readings> {
  const files = part.flatMap(toRead);
  if (!isByContent(scan.library)) return readFiles(scan, folder, files);
  return earlyFor(
    part.map(({ compared }) => compared.early),
    files.map(({ path }) => path),
  );
}

/**
 * Directories with the same content but another time. A directory that vanished proves nothing itself: its parent is
 * listed by the next scan, whatever its time is.
 */
async function keepOthers(scan: Scan, { memory }: Place, { directories }: WalkBatch): Promise<void> {
  const same = directories.filter((directory) => directory.state === 'same');
  const gone = directories.filter((directory) => directory.state === 'gone').map((directory) => directory.path);
  if (same.length + gone.length === 0) return;
  await scan.work.db.transaction(async (db) => {
    await lockLibraries(db, [scan.library.id]);
    if (gone.length > 0) await memory.doubtParents(db, gone);
    const kept = same.map((directory) => ({ directory, unsettled: false, vanished: [] }));
    if (kept.length > 0) await memory.keep(db, kept);
  });
}

async function reportWalk(scan: Scan, folder: ScannedFolder, batch: WalkBatch): Promise<void> {
  const issues = batch.directories.flatMap((directory) =>
    directory.issues.map((issue): Issue => ({ ...issue, folderId: folder.id })),
  );
  if (issues.length > 0) await scan.work.db.transaction((db) => writeIssues(db, scan.row.id, issues));
}

function countListed(scan: Scan, { directories, same }: WalkBatch, all: readonly Compared[]): void {
  const { counts } = scan;
  const listed = directories.filter((directory) => directory.state !== 'same');
  counts.directories += listed.length + same.directories;
  counts.directoriesSkipped += same.passed;
  counts.ignored += listed.reduce((sum, directory) => sum + directory.ignored, 0);
  const asTheyWere = same.media - same.faults;
  counts.unreadable += same.faults;
  for (const { files, unchanged, returned } of all) {
    counts.found += files.filter((file) => isMedia(scan.library.type, file.name)).length;
    counts.done += unchanged;
    counts.unchanged += unchanged;
    counts.returned += returned;
  }
  counts.found += asTheyWere;
  counts.done += asTheyWere;
  counts.unchanged += asTheyWere;
}

/** Only files with a place in the library are opened. */
function toRead({ compared, drafts }: Piece): ToRead[] {
  return drafts.flatMap((draft) =>
    draft.files.flatMap(({ path, walked }) =>
      compared.toRead.has(walked.name) ? [{ path, walked, isKnown: compared.known.has(walked.name) }] : [],
    ),
  );
}

/** Episodes this many levels below a show's folder use its pictures, and discs those of album and artist. */
const LEVELS = 2;

/** Unchanged directories whose items changed: extras whose films changed, and episodes below a show's pictures. */
function noteDependent({ library }: Scan, { memory, again, regroup }: Place, compared: Compared): void {
  if (regroup || !compared.regroup) return;
  const { path } = compared.directory;
  const folders = [...(memory.expected.get(path) ?? [])];
  const inside = (name: string): string => (path === '' ? name : `${path}/${name}`);
  const extras = folders.filter((name) => extrasFolder(name) !== undefined).map(inside);
  for (const below of memory.within(extras)) again.add(below);
  if (!['shows', 'music'].includes(library.type) || !compared.sidecars) return;
  const level = path.split('/').length;
  for (const below of memory.within(folders.map(inside)))
    if (below.split('/').length - level <= LEVELS) again.add(below);
}

function issuesOf(
  { folder: { id: folderId }, decoration }: Place,
  { part, readings }: { part: readonly Piece[]; readings: Readings },
): Issue[] {
  const names = part.flatMap(({ compared, unrecognised }) =>
    unrecognised.map((name): Issue => ({ kind: 'unrecognised-name', folderId, path: pathIn(compared, name) })),
  );
  const faults = [...readings.faults].map(
    ([path, { fault, detail }]): Issue => ({ kind: issueOfFault(fault), folderId, path, detail }),
  );
  const damaged = [...readings.read].flatMap(([path, read]): Issue[] => {
    const detail = 'probed' in read ? damageOf(read.probed) : undefined;
    return detail === undefined ? [] : [{ kind: 'corrupt', folderId, path, detail }];
  });
  const sidecars = decoration.issues.splice(0).map((issue): Issue => ({ kind: 'bad-sidecar', folderId, ...issue }));
  return [...names, ...faults, ...damaged, ...sidecars];
}

/** The damage of a file that is still partly playable. */
function damageOf({ truncated, hollow }: Probed): string | undefined {
  if (truncated) return 'truncated: the file ends before its index says';
  return hollow ? 'unfinished: parts of the file were never written' : undefined;
}
