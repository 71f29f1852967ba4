import { librariesOf, lockLibraries } from '#areas/libraries/public.ts';
import type { Db } from '#platform/db.ts';
import { rowsOf } from '#platform/rows.ts';
import type { Draft } from '../group/draft.ts';
import { doubtShows } from '../store/doubts.ts';
import { findKnown, type KnownFile } from '../store/known.ts';
import { withCompanions } from './companions.ts';
import type { Compared } from './compare.ts';
import { noteUnread, writeFaults } from './faults.ts';
import { writeFingerprints } from './fingerprints.ts';
import { type Issue, writeIssues } from './issues.ts';
import { fence } from './lease.ts';
import { withoutFaulty } from './left-out.ts';
import { type Kept, markVanished } from './memory.ts';
import type { Piece } from './parts.ts';
import type { Place } from './place.ts';
import type { Readings } from './read-files.ts';
import type { Scan } from './scan.ts';
import { formerOf, type Part, readTags, writePart } from './write-part.ts';

interface Writable {
  part: readonly Piece[];
  /** Results of the read files of this part; files can still be postponed here. */
  readings: Readings;
  issues: readonly Issue[];
}

/**
 * Writes one checkpoint: items, files, absences, and the rows of directories that end with this part. Throws LeaseLost, and
 * writes nothing, when another worker took the scan.
 *
 * The order matters. `postponeLost` precedes `draftsOf`, which leaves postponed files out. `noteUnread` precedes `keptOf`,
 * which stores its result with the directory.
 */
export async function write(scan: Scan, place: Place, writable: Writable): Promise<void> {
  const { part, readings } = writable;
  const endedDirectories = part.filter(({ whole }) => whole).map(({ compared }) => compared);
  const known = await knownOf(scan, part);
  postponeLost(place, { part, readings, known });
  const drafts = await draftsOf(scan, place, writable);
  const partToWrite: Part = { folder: place.folder, drafts, known, readings };
  await scan.work.db.transaction(async (db) => {
    const held = { scanId: scan.row.id, token: scan.token, counts: scan.counts };
    await lockLibraries(db, [scan.library.id, ...(await librariesOf(db, formerOf(partToWrite)))]); // before the scan's row, as in the API
    await fence(db, held); // holds the scan's row, so that no other worker takes it before the commit
    await markGone(scan, db, { place, ended: endedDirectories });
    if (drafts.length > 0) await writePart(scan, db, partToWrite);
    for (const { compared } of part) noteUnread(compared, readings); // another scan may have taken a file in the meantime
    await writeFaults(db, place.folder, { part, readings });
    await writeIssues(db, scan.row.id, writable.issues);
    await place.memory.keep(db, endedDirectories.map(keptOf));
    await fence(db, held); // the counts including this part, for the worker that resumes
  });
  scan.counts.done += part.reduce((sum, piece) => sum + newIn(piece), 0);
}

/** The number of files that were not counted as unchanged when they were listed. */
function newIn({ compared: { toRead }, drafts }: Piece): number {
  const files = drafts.flatMap((draft) => draft.files);
  return files.filter(({ walked }) => toRead.has(walked.name)).length;
}

/** The items to write, with tags, without faulty and postponed files, and with the items that must be written with them. */
async function draftsOf(scan: Scan, place: Place, { part, readings }: Writable): Promise<Draft[]> {
  const own = part.flatMap(({ compared: { directory }, drafts }) => {
    const sound = withoutFaulty(drafts, readings);
    readTags(sound, readings);
    return sound.map((draft) => ({ folderId: place.folder.id, directory: directory.path, draft }));
  });
  return withCompanions(scan, place, own);
}

/** Current rows of this part's files by path; not of the directory's, because a large one is written in many parts. */
async function knownOf(scan: Scan, part: readonly Piece[]): Promise<Map<string, KnownFile>> {
  const ids = part.flatMap(({ compared, drafts }) =>
    drafts.flatMap((draft) => draft.files.flatMap(({ walked }) => compared.known.get(walked.name)?.id ?? [])),
  );
  const rows = ids.length > 0 ? await findKnown(scan.work.db, ids) : [];
  return new Map(rows.map((row) => [row.path, row]));
}

/** Postpones, in `readings`, files whose rows were moved or deleted since the directory was compared. */
function postponeLost(
  { folder }: Place,
  { part, readings, known }: { part: readonly Piece[]; readings: Readings; known: ReadonlyMap<string, KnownFile> },
): void {
  for (const { compared, drafts } of part)
    for (const { path, walked } of drafts.flatMap(({ files }) => files)) {
      const before = compared.known.get(walked.name);
      const now = known.get(path);
      if (before && (now?.id !== before.id || now.folder_id !== folder.id)) readings.postponed.add(path);
    }
}

/** The row of a directory whose files are all written. Fingerprints stay unless its items were grouped again. */
function keptOf({ directory, unsettled, unread, vanished, regroup, signature, made, show }: Compared): Kept {
  const kept = { directory, unsettled: unsettled || unread, vanished };
  if (!regroup) return kept;
  return { ...kept, written: { signature, drafts: writeFingerprints(made), show_key: show.now } };
}

/** Marks files and directories that are absent, and shows that lost the pictures of a directory. */
async function markGone(
  scan: Scan,
  db: Db,
  { place: { folder, memory }, ended }: { place: Place; ended: readonly Compared[] },
): Promise<void> {
  const at = { scanId: scan.row.id, folderId: folder.id };
  const vanished = memory.within(ended.flatMap((one) => one.vanished));
  await markAbsent(
    db,
    at,
    ended.flatMap(({ absent }) => absent),
  );
  await markVanished(db, at, vanished);
  const lost = ended.flatMap(({ show: { before, now } }) => (before !== null && before !== now ? [before] : []));
  const shows = [...lost, ...(await describedBy(db, folder.id, vanished))];
  scan.doubted.push(...(await doubtShows(db, scan.library.id, shows)));
}

/** Shows that directories without videos describe. */
async function describedBy(db: Db, folderId: string, paths: readonly string[]): Promise<string[]> {
  if (paths.length === 0) return [];
  const rows = await rowsOf<{ show_key: string }>(
    db,
    'select show_key from scan_directories where folder_id = ? and path = any(?::text[]) and show_key is not null',
    [folderId, paths],
  );
  return rows.map((row) => row.show_key);
}

/** Marks files as absent in this scan, except those that another folder or library took in the meantime. */
async function markAbsent(db: Db, at: { scanId: string; folderId: string }, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await rowsOf(
    db,
    'update media_files set absent_scan = ? where id = any(?::uuid[]) and folder_id = ? and absent_scan is null and missing_since is null and not absence_kept',
    [at.scanId, ids, at.folderId],
  );
}
