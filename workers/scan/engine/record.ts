import { breaks, type Db, existing } from '#platform/db.ts';
import { emit } from '#platform/outbox.ts';
import { withoutFail } from '#platform/redis.ts';
import type { Work } from '#workers/work.ts';
import { notifyScanners } from './notice.ts';
import { liveKey } from './progress.ts';
import { LeaseLost, type Scan, type ScanRow } from './scan.ts';

/** The row of a scan: begin, end, and settlement after a lost worker. `lease.ts` keeps it in between. */

/** This many lost workers in a row without a written batch fail the scan. */
const MAX_STALLS = 5;

export interface Begun {
  /** `running`: this worker owns the scan. `over`: it has ended. `waiting`: it stays queued. */
  state: 'running' | 'over' | 'waiting';
  row: ScanRow;
  /** Waits for a slot among the scans of this server, or for a disk that another scan reads. */
  waitsFor?: 'slot' | 'storage';
}

interface Beginning {
  scanId: string;
  /** Identifies this worker as owner of the scan. */
  token: string;
  /** The spinning disk under each folder, by folder id; folders on other disks are absent. */
  spindles: ReadonlyMap<string, string>;
}

/**
 * Takes the scan for this worker: starts a queued one or resumes a running one. It stays queued while it has to wait
 * for another scan. Throws LeaseLost when the scan does not exist.
 */
export async function begin(work: Work, beginning: Beginning): Promise<Begun> {
  try {
    return await work.db.transaction((db) => take(work, db, beginning));
  } catch (error) {
    if (!breaks(error, 'scans_one_running')) throw error; // one running scan of a library
    const row = existing(await work.db('scans').where({ id: beginning.scanId }).first());
    return { state: 'waiting', row, waitsFor: 'slot' };
  }
}

async function take(work: Work, db: Db, { scanId, token, spindles }: Beginning): Promise<Begun> {
  // Serializes the starts of all scans, because crowdedBy counts the running ones.
  await db.raw(`select pg_advisory_xact_lock(hashtext('foyer.scan.begin'))`);
  const row = await db('scans').where({ id: scanId }).forUpdate().first();
  if (!row) throw new LeaseLost('no such scan');
  if (row.state !== 'queued' && row.state !== 'running') return { state: 'over', row };
  const refused = refusalOf(row);
  if (refused) {
    await end(db, { row, ...refused });
    return { state: 'over', row };
  }
  const resumed = row.state === 'running';
  const disks = disksOf(row, spindles);
  const waitsFor = resumed ? undefined : await crowdedBy(work, db, disks);
  if (waitsFor) return { state: 'waiting', row, waitsFor };
  const [taken] = await db('scans')
    .where({ id: scanId })
    .update({
      state: 'running',
      phase: 'listing',
      lease_holder: token,
      lease_until: db.raw(`now() + interval '15 seconds'`),
      started_at: db.raw('coalesce(started_at, now())'),
      spindles: disks,
      ...(resumed ? { resumes: row.resumes + 1, stalls: row.stalls + 1 } : {}),
    })
    .returning('*');
  if (!resumed) await announce(work, db, row);
  return { state: 'running', row: taken ?? row };
}

/** The spinning disks that the scan reads; a scan without targets reads all folders. */
function disksOf({ targets }: ScanRow, spindles: Beginning['spindles']): string[] {
  const disks = [...spindles].filter(([folderId]) => targets?.some((target) => target.folderId === folderId) ?? true);
  return [...new Set(disks.map(([, disk]) => disk))];
}

/**
 * Other scans in the way: the limit of the server is reached, or one reads the same disk. A scan with a lost worker
 * keeps its slot until it is resumed.
 */
async function crowdedBy({ settings }: Work, db: Db, disks: readonly string[]): Promise<Begun['waitsFor']> {
  const running = await db('scans')
    .where({ state: 'running' })
    .where('lease_until', '>', db.fn.now())
    .select('spindles');
  if (running.length >= settings.get('scan.concurrent')) return 'slot';
  return running.some(({ spindles }) => spindles.some((disk) => disks.includes(disk))) ? 'storage' : undefined;
}

/** The end of a scan that must not run: cancelled before it started, or its fifth worker in a row was lost. */
function refusalOf(row: ScanRow): Pick<End, 'state' | 'error'> | undefined {
  if (row.cancel_requested) return { state: 'cancelled', error: null };
  if (row.state !== 'running' || row.stalls + 1 < MAX_STALLS) return undefined;
  return {
    state: 'failed',
    error: { code: 'INTERNAL', reason: 'stalled', message: 'Resumed five times without progress' },
  };
}

async function announce(work: Work, db: Db, row: ScanRow): Promise<void> {
  const payload = { libraryId: row.library_id, scanId: row.id };
  await work.emit(db, 'library.scan.started', { payload, facts: { libraryId: row.library_id } });
}

interface End {
  row: Pick<ScanRow, 'id' | 'library_id' | 'counts' | 'started_at'>;
  state: 'completed' | 'failed' | 'cancelled';
  error: object | null;
}

/** Writes the end of a scan and emits its event. */
async function end(db: Db, { row, state, error }: End): Promise<void> {
  await db('scans')
    .where({ id: row.id })
    .update({ state, error: error && JSON.stringify(error), finished_at: new Date(), phase: null, lease_until: null });
  const [libraryId, scanId] = [row.library_id, row.id];
  const facts = { libraryId };
  if (state === 'completed') {
    const { added = 0, updated = 0, missing = 0 } = row.counts;
    const durationMs = row.started_at ? Date.now() - row.started_at.getTime() : 0;
    await emit(db, 'library.scan.completed', {
      payload: { libraryId, scanId, added, updated, missing, durationMs },
      facts,
    });
  } else {
    const code = state === 'cancelled' ? 'CANCELLED' : 'INTERNAL';
    await emit(db, 'library.scan.failed', { payload: { libraryId, scanId, code }, facts });
    if (state === 'failed') await notifyScanners(db, 'scan-failed', libraryId);
  }
}

const LOST = { code: 'INTERNAL', reason: 'worker-lost', message: 'Its worker ended without finishing it' };

/**
 * Ends scans that no job works on: those of the given job, which has just ended, or without an id those whose job ended
 * or was deleted and whose lease expired.
 */
export async function settleScans(db: Db, jobId?: string): Promise<void> {
  const open = db('scans').whereIn('state', ['queued', 'running']);
  const stuck = jobId
    ? open.where({ job_id: jobId })
    : open
        .whereRaw('(lease_until is null or lease_until < now())')
        .whereRaw(
          `not exists (select from jobs j where j.id = job_id and j.state in ('waiting', 'delayed', 'active'))`,
        );
  for (const row of await stuck.forUpdate().select('*')) {
    const isCancelled = row.cancel_requested || (await wasCancelled(db, row));
    await end(db, { row, ...(isCancelled ? { state: 'cancelled', error: null } : { state: 'failed', error: LOST }) });
  }
}

async function wasCancelled(db: Db, { job_id: id }: Pick<ScanRow, 'job_id'>): Promise<boolean> {
  const job = await db('jobs').where({ id, state: 'cancelled' }).first('id');
  return job !== undefined;
}

interface Ending {
  state: 'completed' | 'failed' | 'cancelled';
  error?: object;
}

/**
 * Ends the scan, if this worker still owns it, and emits the event. Without a `Scan`, the worker failed before it had one:
 * the row then keeps its counts.
 */
export async function finishScan(
  scan: Scan | { work: Work; scanId: string; token: string },
  ending: Ending,
): Promise<void> {
  const { work, token } = scan;
  const scanId = 'row' in scan ? scan.row.id : scan.scanId;
  await work.db.transaction(async (db) => {
    const row = await db('scans').where({ id: scanId, lease_holder: token, state: 'running' }).forUpdate().first();
    if (!row) return;
    if ('row' in scan)
      await db('scans')
        .where({ id: scanId })
        .update({ counts: JSON.stringify(scan.counts), folders: JSON.stringify(scan.states) });
    if ('row' in scan && ending.state === 'completed' && !row.targets) await markFirstScan(db, row.library_id);
    await end(db, {
      row: 'row' in scan ? { ...row, counts: scan.counts } : row,
      state: ending.state,
      error: ending.error ?? null,
    });
    await countFolders(db, row.library_id);
    await trim(db, row.library_id);
  });
  await withoutFail(() => work.redis.del(liveKey(scanId)), 0);
}

/** Records the time of the first complete scan of all folders. */
async function markFirstScan(db: Db, libraryId: string): Promise<void> {
  await db('libraries').where({ id: libraryId }).whereNull('first_scanned_at').update({ first_scanned_at: new Date() });
}

/** Stores the number of items in each folder, which the library shows. */
async function countFolders(db: Db, libraryId: string): Promise<void> {
  await db.raw(
    `update library_folders f set item_count = n.items from (
       select lf.id, (select count(distinct m.item_id) from media_files m where m.folder_id = lf.id)::int as items
       from library_folders lf where lf.library_id = ?) n
     where f.id = n.id and f.item_count <> n.items`,
    [libraryId],
  );
}

const KEPT_SCANS = 200;
const KEPT_ISSUE_LISTS = 20;

/** Keeps the last 200 scans of a library, the issues of the last 20, and a pending confirmation. */
async function trim(db: Db, libraryId: string): Promise<void> {
  await db.raw(
    `with ranked as (select id, guard, state, row_number() over (order by queued_at desc, id desc) as place from scans where library_id = ?)
     delete from scans s using ranked r where s.id = r.id and r.place > ${KEPT_SCANS} and r.guard is null and r.state not in ('queued', 'running')`,
    [libraryId],
  );
  await db.raw(
    `delete from scan_issues i using (select id, row_number() over (order by queued_at desc, id desc) as place from scans where library_id = ?) r
     where i.scan_id = r.id and r.place > ${KEPT_ISSUE_LISTS}`,
    [libraryId],
  );
}
