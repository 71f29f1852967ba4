import type { Db } from '#platform/db.ts';
import type { Probed } from '#workers/probe/probe.ts';
import type { Decoration } from '../group/decorate.ts';
import type { Draft, Grouping } from '../group/draft.ts';
import { groupDirectory } from '../group/index.ts';
import { mergeDrafts } from '../group/merge.ts';
import { extrasFolder } from '../names/extras.ts';
import { kindOf } from '../names/kinds.ts';
import { rowsOf, type ScannedFolder } from '../store/context.ts';
import type { KnownFile } from '../store/known.ts';
import type { WalkBatch } from '../walk/types.ts';
import { type Compared, compare } from './compare.ts';
import { directoryOf, pathIn, writeFaults } from './faults.ts';
import { gathered, type Issue, issueOfFault, writeIssues } from './issues.ts';
import { fence } from './lease.ts';
import { withoutFaulty } from './left-out.ts';
import type { LibraryTops } from './library-tops.ts';
import { type Memory, markVanished } from './memory.ts';
import { type Readings, readFiles, type ToRead } from './read-files.ts';
import type { Scan } from './scan.ts';
import { writePart } from './write-part.ts';

export interface Place {
  folder: ScannedFolder;
  memory: Memory;
  tops: LibraryTops;
  decoration: Decoration;
  /** Folders of extras below directories whose films changed: their extras may belong to another one now. */
  extras: Set<string>;
  /** All that is listed is grouped again. */
  regroup: boolean;
  /** Directories where much could not be read, see `gathered`. */
  lost: string[];
}

interface Grouped {
  compared: Compared;
  drafts: Draft[];
  unrecognised: string[];
  /** These are the last of its files. */
  whole: boolean;
}

/**
 * Compares, groups, reads and writes what was listed, some files at a time. Each transaction is a checkpoint: at most 500 files or 64 that had to
 * be read, so that a kill costs little and a new film shows soon; the directory's own row comes with its last files.
 */
export async function takeBatch(scan: Scan, place: Place, batch: WalkBatch): Promise<void> {
  const listed = batch.directories.filter((directory) => directory.state === 'listed');
  const all = await compare(scan, place, listed);
  countListed(scan, batch, all);
  const grouped: Grouped[] = [];
  for (const compared of all) grouped.push(await group(scan, place, compared));
  await tellOfWalk(scan, place.folder, batch);
  await keepTimes(scan, place, batch);
  await takeGone(scan, place, batch);
  for (const part of inParts(grouped)) {
    const readings = await readFiles(scan, place, part.flatMap(toRead));
    for (const { compared } of part) noteUnread(compared, readings);
    const issues = gathered(issuesOf(place, { part, readings }), place.lost);
    await write(scan, place, { part, readings, issues });
    for (const { compared } of part) {
      noteExtras(place, compared);
      if (compared.unsettled) scan.unsettled.push({ folder: place.folder, directory: compared.directory.path });
    }
  }
}

/** Directories with the content they had and another time. */
async function keepTimes(scan: Scan, { memory }: Place, { directories }: WalkBatch): Promise<void> {
  const same = directories.filter((directory) => directory.state === 'same');
  const seen = same.map((directory) => ({ directory, unsettled: false, vanished: [] }));
  if (seen.length > 0) await memory.keep(scan.work.db, seen);
}

/** A directory that is gone says nothing itself: what it lay in is listed next time, whatever its time says. */
async function takeGone(scan: Scan, { memory }: Place, { directories }: WalkBatch): Promise<void> {
  const gone = directories.filter((directory) => directory.state === 'gone').map((directory) => directory.path);
  if (gone.length > 0) await memory.doubtParents(scan.work.db, gone);
}

async function tellOfWalk(scan: Scan, folder: ScannedFolder, batch: WalkBatch): Promise<void> {
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
  const asTheyWere = same.videos - same.faults;
  counts.unreadable += same.faults;
  for (const { files, unchanged, returned } of all) {
    counts.found += files.filter((file) => kindOf(file.name) === 'video').length;
    counts.done += unchanged;
    counts.unchanged += unchanged;
    counts.returned += returned;
  }
  counts.found += asTheyWere;
  counts.done += asTheyWere;
  counts.unchanged += asTheyWere;
}

async function group(scan: Scan, { folder, decoration }: Place, compared: Compared): Promise<Grouped> {
  if (!compared.regroup) return { compared, drafts: [], unrecognised: [], whole: true };
  const grouping: Grouping = {
    directory: compared.directory.path,
    within: withinOf(folder, compared.directory.path),
    files: compared.files,
    library: { type: scan.library.type, mergeVersions: scan.library.settings.mergeVersions },
  };
  const { drafts, unrecognised } = groupDirectory(grouping);
  await decoration.decorate(drafts, grouping);
  return { compared, drafts, unrecognised, whole: true };
}

function withinOf(folder: ScannedFolder, path: string): string[] {
  if (path === folder.path) return [];
  return path.slice(folder.path === '' ? 0 : folder.path.length + 1).split('/');
}

/** Only files that have a place are opened. */
function toRead({ compared, drafts }: Grouped): ToRead[] {
  return drafts.flatMap((draft) =>
    draft.files.flatMap(({ path, walked }) =>
      compared.toRead.has(walked.name) ? [{ path, walked, known: compared.known.get(path) }] : [],
    ),
  );
}

function noteExtras({ memory, extras }: Place, { directory: { path }, toRead, absent, returned }: Compared): void {
  if (toRead.size + absent.length + returned === 0) return;
  const folders = [...(memory.expected.get(path) ?? [])].filter((name) => extrasFolder(name) !== undefined);
  const paths = folders.map((name) => (path === '' ? name : `${path}/${name}`));
  for (const below of memory.within(paths)) extras.add(below);
}

/** What changed while it was read, or could not be read now, has to be looked at again. */
function noteUnread(compared: Compared, readings: Readings): void {
  const { path } = compared.directory;
  const unreadable = [...readings.faults].filter(([, { fault }]) => fault === 'unreadable');
  if ([...readings.postponed].some((file) => directoryOf(file) === path)) compared.unsettled = true;
  if (unreadable.some(([file]) => directoryOf(file) === path)) compared.unread = true;
}

function issuesOf(
  { folder: { id: folderId }, decoration }: Place,
  { part, readings }: { part: readonly Grouped[]; readings: Readings },
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

/** What is wrong with a file that plays for a while. */
function damageOf({ truncated, hollow }: Probed): string | undefined {
  if (truncated) return 'truncated: the file ends before its index says';
  return hollow ? 'unfinished: parts of the file were never written' : undefined;
}

/** Directories together until they have enough files; one with more is cut between its items. */
function* inParts(grouped: readonly Grouped[]): Generator<Grouped[]> {
  let part: Grouped[] = [];
  let weight = 0;
  for (const one of grouped.flatMap(cut)) {
    const more = weightOf(one);
    if (weight > 0 && weight + more > FULL) {
      yield part;
      part = [];
      weight = 0;
    }
    part.push(one);
    weight += more;
  }
  if (part.length > 0) yield part;
}

/** A full part is 500 files, or 64 that have to be read. */
const FULL = 1;
const FILES = 500;
const READS = 64;

function weightOf(one: Grouped): number {
  const files = one.drafts.reduce((sum, draft) => sum + draft.files.length, 0);
  return Math.max(files / FILES, toRead(one).length / READS);
}

/** Shows and seasons go with every piece, since what lies in them needs their ids. */
function cut(one: Grouped): Grouped[] {
  const weight = weightOf(one);
  if (weight <= FULL) return [one];
  const containers = one.drafts.filter((draft) => draft.files.length === 0);
  const leaves = one.drafts.filter((draft) => draft.files.length > 0);
  const size = Math.max(1, Math.floor(leaves.length / weight));
  const count = Math.ceil(leaves.length / size);
  return Array.from({ length: count }, (_, i) => {
    const whole = i === count - 1;
    const drafts = [...containers, ...leaves.slice(i * size, (i + 1) * size)];
    return { ...one, drafts, whole, unrecognised: whole ? one.unrecognised : [] };
  });
}

interface Writable {
  part: readonly Grouped[];
  readings: Readings;
  issues: readonly Issue[];
}

async function write(scan: Scan, { folder, memory }: Place, { part, readings, issues }: Writable): Promise<void> {
  const drafts = mergeDrafts(part.flatMap(({ drafts: own }) => withoutFaulty(own, readings)));
  const known = knownOf(part);
  const ended = part.filter(({ whole }) => whole).map(({ compared }) => compared);
  const absent = ended.flatMap((compared) => compared.absent.map((row) => row.id));
  const vanished = ended.flatMap((compared) => compared.vanished);
  const quiet =
    drafts.length === 0 &&
    absent.length === 0 &&
    vanished.length === 0 &&
    issues.length === 0 &&
    readings.faults.size === 0;
  const seen = () => ended.map((compared) => ({ ...compared, unsettled: compared.unsettled || compared.unread }));
  if (quiet) {
    await memory.keep(scan.work.db, seen());
    return;
  }
  await scan.work.db.transaction(async (db) => {
    const held = { scanId: scan.row.id, token: scan.token, counts: scan.counts };
    await fence(db, held);
    await markAbsent(db, { scanId: scan.row.id, folderId: folder.id }, absent);
    await markVanished(db, { folderId: folder.id, scanId: scan.row.id }, memory.within(vanished));
    if (drafts.length > 0) await writePart(scan, db, { folder, drafts, known, readings });
    for (const { compared } of part) noteUnread(compared, readings); // another scan may have taken a file meanwhile
    await writeFaults(db, folder, { part, readings });
    await writeIssues(db, scan.row.id, issues);
    await memory.keep(db, seen());
    await fence(db, held); // the counts with what this part added, for who goes on after a kill
  });
  scan.counts.done += drafts.reduce((sum, draft) => sum + draft.files.length, 0);
}

/** Of the files of this part alone: a directory of many is written in many parts. */
function knownOf(part: readonly Grouped[]): Map<string, KnownFile> {
  const known = new Map<string, KnownFile>();
  for (const { compared, drafts } of part)
    for (const { path } of drafts.flatMap((draft) => draft.files)) {
      const row = compared.known.get(path);
      if (row) known.set(path, row);
    }
  return known;
}

/** Not those that another library took meanwhile. */
async function markAbsent(db: Db, at: { scanId: string; folderId: string }, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await rowsOf(
    db,
    'update media_files set absent_scan = ? where id = any(?::uuid[]) and folder_id = ? and absent_scan is null and missing_since is null and not absence_kept',
    [at.scanId, ids, at.folderId],
  );
}
