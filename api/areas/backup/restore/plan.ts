import { statfs } from 'node:fs/promises';
import { fullVersion } from '#areas/server/public.ts';
import type { Call } from '#kernel/endpoint.ts';
import { iso } from '#kernel/schemas.ts';
import { DestinationUnavailable } from '#platform/backup/destination.ts';
import { BackupFault } from '#platform/backup/faults.ts';
import type { Db } from '#platform/db.ts';
import { migrations } from '#platform/migrations/index.ts';
import { runningBackup, type ShownRow } from '../backups/backups.store.ts';
import { buildOf, isNewer } from '../backups/backups.view.ts';
import { type Opened, openBackup, type Stored, storedAside, storedBackup } from '../backups/stored.ts';
import { within } from '../settings/places.ts';

const MAJORS = 2;
const OPEN_MS = 15_000;
/** Bytes in Postgres for each byte of COPY: tables, their indexes and catalogue entries. */
const SPACE_FACTOR = 3;

export interface Blocker {
  code: string;
  message: string;
}

/** A backup, opened as far as possible, and the blockers of its restore. */
export interface Judged {
  opened: Opened | undefined;
  stored: Stored | undefined;
  blockers: Blocker[];
  freeBytesNeeded: number;
  freeBytes: number | undefined;
}

export async function judge(call: Call, row: ShownRow, passphrase: string | undefined): Promise<Judged> {
  const { db, deps } = call;
  const { opened, stored, blockers } = await found(call, row, passphrase);
  const freeBytesNeeded = SPACE_FACTOR * (stored?.bytes ?? 0);
  const freeBytes = await freeInPostgres(deps.db); // outside the transaction, because Postgres may refuse it
  const isFull = freeBytes !== undefined && freeBytes < freeBytesNeeded;
  const full = { code: 'no-space', message: 'Postgres has too little space to load it next to the present data' };
  const all = [...(await blockersOf(db, row)), ...blockers, ...(isFull ? [full] : [])];
  return { opened, stored, blockers: all, freeBytesNeeded, freeBytes };
}

async function found(
  { db, deps }: Call,
  row: ShownRow,
  passphrase: string | undefined,
): Promise<Pick<Judged, 'opened' | 'stored' | 'blockers'>> {
  if (row.state === 'replaced') return { opened: undefined, stored: storedAside(db, row), blockers: [] };
  try {
    const opened = await within(openBackup({ ...deps, db }, row, passphrase), OPEN_MS);
    return { opened, stored: storedBackup(opened), blockers: [] };
  } catch (error) {
    return { opened: undefined, stored: undefined, blockers: [blockerOf(error)] };
  }
}

/** A fault of the backup or its place as a blocker; other errors are thrown. */
export function blockerOf(error: unknown): Blocker {
  if (error instanceof BackupFault) return { code: error.code, message: error.message };
  if (error instanceof DestinationUnavailable)
    return { code: 'destination-unreachable', message: 'The destination does not answer' };
  throw error;
}

const STATES: Partial<Record<ShownRow['state'], string>> = {
  queued: 'It is not made yet',
  running: 'It is not made yet',
  failed: 'It was not made',
  cancelled: 'It was not made',
  missing: 'The destination no longer has it',
  damaged: 'Verifying found it damaged',
};

async function blockersOf(db: Db, row: ShownRow): Promise<Blocker[]> {
  const build = buildOf(fullVersion);
  const majors = Number(build.version.split('.')[0]) - Number(row.server_version.split('.')[0]);
  const message = STATES[row.state];
  return [
    ...(message ? [{ code: row.state, message }] : []),
    ...(isNewer(row, build) ? [{ code: 'newer-version', message: 'It was made by a newer version' }] : []),
    ...(majors > MAJORS ? [{ code: 'older-version', message: 'It is more than two major versions older' }] : []),
    ...((await runningBackup(db)) ? [{ code: 'backup-running', message: 'A backup is being made' }] : []),
  ];
}

/** Free bytes where Postgres stores its data, if that is on this machine. */
async function freeInPostgres(db: Db): Promise<number | undefined> {
  try {
    const { rows } = await db.raw<{ rows: { here: boolean; directory: string }[] }>(
      `select coalesce(inet_server_addr() <<= '127.0.0.0/8' or inet_server_addr() = '::1', true) as here,
              current_setting('data_directory') as directory`,
    );
    if (!rows[0]?.here) return undefined;
    const { bavail, bsize } = await statfs(rows[0].directory);
    return bavail * bsize;
  } catch {
    return undefined; // refused to this user, or not on this machine
  }
}

/** Number of migrations that bring it to this version. */
export const migrationsSince = (schemaVersion: string): number =>
  Object.keys(migrations).filter((name) => name > schemaVersion).length;

/** A rough estimate for reading, loading and checking the data. */
export function estimateMs(rows: number, bytes: number): number {
  return Math.round(3000 + rows * 0.05 + bytes / 20_000);
}

export const lostSince = (stored: Stored | undefined, row: ShownRow): string =>
  iso(stored?.at ?? row.snapshot_at ?? row.started_at);
