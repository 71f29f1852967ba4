import type pg from 'pg';
import type { BackupRow, Phase, PlaceDeps } from '#areas/backup/public.ts';
import { updateBackup } from '#areas/backup/public.ts';
import type { Destination } from '#platform/backup/destination.ts';
import type { BackupKey } from '#platform/backup/sealing.ts';
import type { BackupEncryption } from '#platform/backup-manifest.ts';
import { recordProgress } from '#platform/queue.ts';
import type { Work, WorkerDeps } from '#workers/work.ts';
import type { Pace } from './pace.ts';

/** What of a job's attempt is used: the backup before an upgrade has none. */
export type Making = WorkerDeps & Pick<Work, 'jobId' | 'signal' | 'checkpoint' | 'keep' | 'report'>;

/** One making of a backup, as its steps share it. */
export interface Run {
  work: Making;
  deps: PlaceDeps;
  row: BackupRow;
  /** Of the server that it is of. */
  version: string;
  /** Holds the lock of the one that makes a backup, and the snapshot while there is one. */
  client: pg.Client;
  destination: Destination;
  encryption: BackupEncryption | null;
  key: BackupKey | undefined;
  pace: Pace;
  /** Aborted with the job, and when the client's connection is gone. */
  signal: AbortSignal;
}

/** Share of the whole at which each phase begins. */
const BEGINS: Record<Phase, number> = { snapshot: 0, dump: 0.02, objects: 0.6, manifest: 0.9, copy: 0.92 };
const ENDS: Record<Phase, number> = { snapshot: 0.02, dump: 0.6, objects: 0.9, manifest: 0.92, copy: 1 };

/** Says how far it is: `share` of the phase. */
export async function reach({ work, row }: Run, phase: Phase, share: number): Promise<void> {
  const progress = BEGINS[phase] + (ENDS[phase] - BEGINS[phase]) * Math.min(1, share);
  await updateBackup(work.db, row.id, { phase, progress });
  await recordProgress(work.db, work.jobId, { phase, progress });
}
