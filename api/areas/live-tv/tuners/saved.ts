import { requireAllowed } from '#identity/restrictions.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict, invalid, notFound } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { enqueue, startNow } from '#platform/queue.ts';
import { RECORDED_TYPES } from '../recordings/target.ts';
import { findTunerRow, type TunerRow, useOf } from './tuners.store.ts';

/** Throws 403 when live television is closed to the account, and 404 for an unknown tuner. */
export async function getTunerRow(call: Pick<Call, 'db' | 'who'>, id: string): Promise<TunerRow> {
  requireAllowed(call.who, 'liveTv');
  const row = await findTunerRow(call.db, id);
  if (!row) throw notFound();
  return row;
}

/** Only the operator's key may set the owner of a tuner. */
export function refuseForeignManager({ who }: Pick<Call, 'who'>, managedBy: unknown): void {
  if (managedBy === undefined || who.operator) return;
  throw new ApiError('FORBIDDEN', 'Only the operator sets the owner of a tuner', { by: 'operator' });
}

/** Throws 409 for a change of a field that a resource declares; `tuner` is the tuner itself. */
export function refuseManaged({ who }: Pick<Call, 'who'>, row: TunerRow, fields: readonly string[]): void {
  if (!row.managed_by || who.operator) return;
  const owned = fields.filter((field) => field === 'tuner' || row.managed_fields.includes(field));
  if (owned.length === 0) return;
  throw conflict('managed-by-resource', 'A Kubernetes resource owns this', {
    fields: owned,
    managedBy: row.managed_by,
  });
}

/** Throws 409 `tuner-in-use` while anything streams from it. */
export async function refuseInUse({ db }: Pick<Call, 'db'>, id: string): Promise<void> {
  const { streams, viewers, recordings } = await useOf(db, id);
  if (streams > 0) throw conflict('tuner-in-use', 'Channels of this tuner are on', { viewers, recordings });
}

/** Throws 400 unless it is a library of type livetv. */
export async function requireLiveLibrary(db: Db, libraryId: string): Promise<void> {
  const row = await db('libraries').where({ id: libraryId, type: 'livetv' }).whereNull('deleted_at').first('id');
  if (!row) throw invalid(['body', 'libraryId'], 'not_live_tv', 'a library of type livetv');
}

/** Throws 400 unless recordings may go into the library of the folder. */
export async function requireFolder(db: Db, id: string | null | undefined): Promise<void> {
  if (!id) return;
  const libraries = db('libraries').whereIn('type', RECORDED_TYPES).whereNull('deleted_at').select('id');
  const row = await db('library_folders').where({ id }).whereIn('library_id', libraries).first('id');
  if (!row)
    throw invalid(['body', 'recordingsFolderId'], 'unknown_folder', 'a folder of a library that recordings may join');
}

interface ScanRequest {
  deep?: boolean;
  prune?: boolean;
  cause?: 'person' | 'schedule' | 'resource';
  byAccountId?: string;
}

export const scanKey = (tunerId: string): string => `live.scan:${tunerId}`;

/** Queues a scan of the tuner, or finds the one that waits or runs; one that waits for a retry starts now. */
export async function requestScan(
  db: Db,
  { id, name, library_id: libraryId }: Pick<TunerRow, 'id' | 'name' | 'library_id'>,
  { deep, prune, ...options }: ScanRequest,
): Promise<{ jobId: string; known: boolean }> {
  await db.raw('select pg_advisory_xact_lock(hashtext(?))', [scanKey(id)]);
  const open = await db('jobs')
    .where({ key: scanKey(id) })
    .whereIn('state', ['waiting', 'delayed', 'active'])
    .first('id', 'state', 'queue', 'priority');
  if (open) {
    await startNow(db, open);
    return { jobId: open.id, known: true };
  }
  const jobId = await enqueue(db, 'live.scan', {
    payload: { tunerId: id, ...(deep && { deep }), ...(prune && { prune }) },
    options: { key: scanKey(id), maxAttempts: 3, libraryId, target: { kind: 'tuner', id, title: name }, ...options },
  });
  return { jobId, known: false };
}
