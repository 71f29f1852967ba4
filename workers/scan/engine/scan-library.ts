import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { settingsOf } from '#areas/libraries/public.ts';
import { requestScan } from '#areas/scanning/public.ts';
import { findStorages, Looks } from '#areas/storage/public.ts';
import { databaseUnavailable } from '#platform/db.ts';
import type { JobPayload } from '#platform/jobs.ts';
import { baseOf } from '#platform/own-types.ts';
import { FinalFailure, Postponed, type Work } from '#workers/work.ts';
import { rulesOf } from '../group/index.ts';
import { ownRules } from '../own/load.ts';
import { enterRemote } from '../remote-roots.ts';
import type { ScannedFolder } from '../store/context.ts';
import { SavedFiles } from '../store/saved-files.ts';
import { makeTitleIndexes } from '../store/title-indexes.ts';
import { isFolderAt } from './folder-at.ts';
import { reasonOf, scanFolder, takeDoubted, takeUnsettled } from './folder-scan.ts';
import { versionOf } from './grouping-version.ts';
import { keepLease } from './lease.ts';
import { LibraryTops } from './library-tops.ts';
import { trashOverdue } from './missing.ts';
import { emitProgress, unitsOf } from './progress.ts';
import { type Begun, begin, finishScan } from './record.ts';
import { Cancelled, LeaseLost, newCounts, type Scan, type ScanOptions } from './scan.ts';
import { spindlesOf } from './spindles.ts';

/** Another running scan blocks this one. */
const WAIT_MS = 3000;
const defaults: ScanOptions = { settleMs: 10_000, concurrency: availableParallelism() };

/**
 * Handler of job `library.scan`. It may be stopped or killed at any time: another worker resumes after the last written
 * batch.
 */
export async function scanLibrary(
  { libraryId, scanId }: JobPayload<'library.scan'>,
  work: Work,
  options: Partial<ScanOptions> = {},
): Promise<void> {
  const token = randomUUID();
  const spindles = await spindlesOf(await foldersOf(work, libraryId), work.config);
  const begun = await begin(work, { scanId, token, spindles });
  if (begun.state === 'waiting') throw new Postponed(new Date(Date.now() + WAIT_MS), begun.waitsFor);
  if (begun.state !== 'running') return;
  const lease = keepLease({ db: work.db, scanId, token });
  try {
    const signal = AbortSignal.any([work.signal, lease.signal]);
    await run(await prepare(work, { begun, libraryId, token, signal, options: { ...defaults, ...options } }));
  } catch (error) {
    await afterFault(work, { scanId, token, error: reasonOf(lease.signal, error), began: begun.row.started_at });
  } finally {
    lease.stop();
  }
}

interface Preparing {
  begun: Begun;
  libraryId: string;
  token: string;
  signal: AbortSignal;
  options: ScanOptions;
}

async function prepare(work: Work, { begun, libraryId, token, signal, options }: Preparing): Promise<Scan> {
  const { db, settings } = work;
  const library = await db('libraries').where({ id: libraryId }).whereNull('deleted_at').first();
  if (!library) throw new Cancelled('the library is gone');
  const place = {
    language: settings.get('metadata.language') ?? settings.get('server.language'),
    country: settings.get('server.country'),
  };
  if (begun.row.include_ignored) await db('ignored_files').where({ library_id: libraryId }).delete();
  const marks = await db('ignored_files').where({ library_id: libraryId }).select('storage_id', 'path');
  const folders = await foldersOf(work, libraryId);
  const own = await ownRules(db, library, begun.row);
  const type = baseOf(library);
  const chosen = settingsOf(library, place);
  const saved = new SavedFiles(db, {
    ...{ id: libraryId, type, storageIds: folders.map(({ storageId }) => storageId) },
    ...{ version: versionOf({ own }), saves: chosen.saveNfo || chosen.saveArtwork },
  });
  return {
    row: begun.row,
    work,
    library: {
      id: library.id,
      type,
      key: library.type,
      own,
      settings: chosen,
      first: library.first_scanned_at === null,
    },
    folders,
    token,
    signal,
    counts: newCounts(begun.row.counts),
    states: [],
    passedOver: new Set(marks.map((mark) => `${mark.storage_id} ${mark.path}`)),
    options,
    unsettled: [],
    looks: new Looks(),
    tops: new LibraryTops(folders),
    together: { isSlow: false },
    saved,
    doubted: [],
  };
}

async function foldersOf(work: Work, libraryId: string): Promise<ScannedFolder[]> {
  const { db, config } = work;
  const rows = await db('library_folders')
    .where({ library_id: libraryId })
    .orderBy(['added_at', 'id'])
    .select('id', 'storage_id', 'path');
  const storages = await findStorages(
    db,
    rows.map((row) => row.storage_id),
  );
  return rows.map((row) => {
    const storage = storages.get(row.storage_id);
    const root = config.mediaRoots.find((one) => one.name === storage?.rootName);
    return {
      id: row.id,
      storageId: row.storage_id,
      path: row.path,
      root:
        storage && storage.kind !== 'mount'
          ? enterRemote(work, storage.id)
          : root && storage
            ? join(root.path, storage.path)
            : '',
    };
  });
}

async function run(scan: Scan): Promise<void> {
  const progress = emitProgress(scan);
  try {
    await makeTitleIndexes(scan.work, scan.library.settings.language);
    if (rulesOf(scan.library.type)) await listAll(scan);
    await takeDoubted(scan);
    const rest = await takeUnsettled(scan);
    await takeDoubted(scan);
    const listed = scan.states.filter((state) => state.state === 'listed').map((state) => state.folderId);
    if (!scan.row.targets) await trashOverdue(scan, listed);
    scan.counts.total = scan.counts.found;
    await scan.work.report(scan.work.db, unitsOf(scan));
    await finishScan(scan, { state: 'completed' });
    if (rest.length > 0) await comeBack(scan, rest);
  } finally {
    progress.stop();
  }
}

async function listAll(scan: Scan): Promise<void> {
  const { targets } = scan.row;
  for (const folder of scan.folders) {
    if (!targets) await scanFolder(scan, folder, [folder.path]);
    const mine = targets?.filter((target) => target.folderId === folder.id) ?? [];
    if (mine.length > 0) await scanFolder(scan, folder, await startsOf(folder, mine));
  }
}

/**
 * The directories to start in; a missing path is replaced by its nearest existing parent, and nested targets are listed
 * once.
 */
async function startsOf(folder: ScannedFolder, targets: readonly { path?: string | undefined }[]): Promise<string[]> {
  const starts = new Set<string>();
  for (const { path = '' } of targets) {
    const below = path
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .join('/');
    starts.add(await nearest(folder, [folder.path, below].filter((part) => part !== '').join('/')));
  }
  const covers = (outer: string, inner: string): boolean =>
    outer !== inner && (outer === '' || inner.startsWith(`${outer}/`));
  return [...starts].filter((one) => ![...starts].some((other) => covers(other, one)));
}

async function nearest(folder: ScannedFolder, path: string): Promise<string> {
  let at = path;
  while (at !== folder.path) {
    if (await isFolderAt(folder, at)) return at;
    at = dirname(at) === '.' ? '' : dirname(at);
  }
  return at;
}

const LATER_MS = 15_000;
/** The same as the job's. */
const ATTEMPTS = 5;

/** Requests a scan of the directories whose files were still being written. */
async function comeBack(scan: Scan, rest: readonly { folderId: string; path: string }[]): Promise<void> {
  const targets = rest.map(({ folderId, path }) => {
    const folder = scan.folders.find((one) => one.id === folderId);
    return { folderId, path: folder?.path ? path.slice(folder.path.length + 1) : path };
  });
  await scan.work.db.transaction((db) =>
    requestScan(db, {
      libraryId: scan.library.id,
      mode: 'full',
      trigger: 'watch',
      targets,
      runAt: new Date(Date.now() + LATER_MS),
    }),
  );
}

interface Fault {
  scanId: string;
  token: string;
  error: unknown;
  began: Date | null;
}

/** After a stopped or failed attempt the scan stays running for the next one, unless retrying cannot help. */
async function afterFault(work: Work, fault: Fault): Promise<void> {
  const { error } = fault;
  if (error instanceof LeaseLost) return;
  if (error instanceof Cancelled || String(work.signal.reason) === 'cancelled') {
    await finishScan({ work, ...fault }, { state: 'cancelled' });
    return;
  }
  if (isLast(work, error)) {
    const reason = error instanceof FinalFailure ? error.code : 'failed';
    const message = error instanceof Error ? error.message.slice(0, 300) : 'unknown';
    await finishScan({ work, ...fault }, { state: 'failed', error: { code: 'INTERNAL', reason, message } });
  }
  throw error;
}

function isLast(work: Work, error: unknown): boolean {
  if (work.signal.aborted || databaseUnavailable(error)) return false;
  return work.attempt >= ATTEMPTS || error instanceof FinalFailure;
}
