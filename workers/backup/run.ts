import type pg from 'pg';
import type { BackupRow, Phase, PlaceDeps } from '#areas/backup/public.ts';
import { updateBackup } from '#areas/backup/public.ts';
import type { Destination } from '#platform/backup/destination.ts';
import type { BackupKey } from '#platform/backup/sealing.ts';
import type { BackupEncryption } from '#platform/backup-manifest.ts';
import { recordProgress } from '#platform/queue.ts';
import type { Work, WorkerDeps } from '#workers/work.ts';
import type { Pace } from './pace.ts';

/** The parts of a job's attempt that are used, because the backup before an upgrade has no attempt. */
export type Making = WorkerDeps & Pick<Work, 'jobId' | 'signal' | 'checkpoint' | 'keep' | 'report'>;

/** One run of a backup, shared by its steps. */
export interface Run {
  work: Making;
  deps: PlaceDeps;
  row: BackupRow;
  /** Version of the server. */
  version: string;
  /** Holds the lock of the one backup run, and the snapshot. */
  client: pg.Client;
  destination: Destination;
  encryption: BackupEncryption | null;
  key: BackupKey | undefined;
  pace: Pace;
  /** Aborted with the job, and when the client's connection is lost. */
  signal: AbortSignal;
}

/** Share of the total progress at which each phase begins. */
const BEGINS: Record<Phase, number> = { snapshot: 0, dump: 0.02, objects: 0.6, manifest: 0.9, copy: 0.92 };
const ENDS: Record<Phase, number> = { snapshot: 0.02, dump: 0.6, objects: 0.9, manifest: 0.92, copy: 1 };

/** Records the progress: `share` of the phase. */
export async function reach({ work, row }: Run, phase: Phase, share: number): Promise<void> {
  const progress = BEGINS[phase] + (ENDS[phase] - BEGINS[phase]) * Math.min(1, share);
  await updateBackup(work.db, row.id, { phase, progress });
  await recordProgress(work.db, work.jobId, { phase, progress });
}
