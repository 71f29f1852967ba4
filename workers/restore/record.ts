import type pg from 'pg';
import type { BackupObject } from '#platform/backup-manifest.ts';

export type RestorePhase = 'fetching' | 'loading' | 'migrating' | 'checking' | 'objects' | 'switching' | 'reopening';

export interface RestoreRecord {
  id: string;
  backup_id: string;
  job_id: string;
  account_id: string | null;
  manifest_sha256: string | null;
  passphrase_sealed: string | null;
  state: 'preparing' | 'switching' | 'completed' | 'failed';
  phase: RestorePhase;
  attempts: number;
  started_at: Date;
  switched_at: Date | null;
  replaced_backup_id: string | null;
  objects: BackupObject[];
}

/** The open restore. */
export async function openRecord(client: pg.Client): Promise<RestoreRecord | undefined> {
  const { rows } = await client.query<RestoreRecord>(
    `select * from foyer_restore.restores where state in ('preparing', 'switching')`,
  );
  return rows[0];
}

/** Where each phase begins and ends in the total progress. */
const spans: Record<RestorePhase, [number, number]> = {
  fetching: [0, 0.25],
  loading: [0.25, 0.7],
  migrating: [0.7, 0.75],
  checking: [0.75, 0.8],
  objects: [0.8, 0.95],
  switching: [0.95, 0.97],
  reopening: [0.97, 1],
};

/** Records the progress: in the record, in the fence for blocked processes, and in the job that users see. */
export async function advance(client: pg.Client, record: RestoreRecord, at: At): Promise<void> {
  const [from, to] = spans[at.phase];
  const progress = from + (to - from) * Math.min(1, at.share ?? 0);
  await client.query('update foyer_restore.restores set phase = $2, progress = $3 where id = $1', [
    record.id,
    at.phase,
    progress,
  ]);
  await client.query('update foyer_restore.epoch set progress = $1', [progress]);
  await client.query(
    `update public.jobs set state = 'active', progress = $2, phase = $3, started_at = coalesce(started_at, now()),
       updated_at = now() where id = $1 and state in ('waiting', 'active')`,
    [record.job_id, progress, at.phase],
  );
}

interface At {
  phase: RestorePhase;
  /** Share of the phase, 0-1. */
  share?: number;
}

/** Whether the job was cancelled or deleted. */
export async function isCancelled(client: pg.Client, { job_id: id }: RestoreRecord): Promise<boolean> {
  const { rows } = await client.query<{ wanted: boolean }>(
    `select not cancel_requested and state in ('waiting', 'active') as wanted from public.jobs where id = $1`,
    [id],
  );
  return !rows[0]?.wanted;
}

export interface RestoreFailure {
  code: string;
  reason?: string;
  message: string;
}

export async function endFailed(client: pg.Client, record: RestoreRecord, error: RestoreFailure): Promise<void> {
  await client.query(
    `update foyer_restore.restores set state = 'failed', error = $2, finished_at = now(), passphrase_sealed = null where id = $1`,
    [record.id, JSON.stringify(error)],
  );
  const state = error.reason === 'cancelled' ? 'cancelled' : 'failed';
  await client.query(
    `update public.jobs set state = $2, error = $3, finished_at = now(), updated_at = now()
      where id = $1 and state in ('waiting', 'active')`,
    [record.job_id, state, JSON.stringify(error)],
  );
}
