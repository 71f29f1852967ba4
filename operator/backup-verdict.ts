// What the server tells of its backups -> the condition BackupsHealthy and status.backup. Pure.
import type { Verdict } from './schemas/conditions.ts';
import type { MediaServerSpec, MediaServerStatus } from './schemas/media-server.ts';

export interface BackupSeen {
  /** Of the destination: ok, unreachable, read-only or full. */
  destination: string;
  destinationReason?: string;
  overdue: boolean;
  nextRunAt?: string;
  lastCompletedAt?: string;
  /** The newest backup, whatever became of it. */
  last?: { state: string; message?: string };
}

interface Settings {
  destination: { state: string; stateReason?: string };
  warnings: string[];
  nextRunAt?: string;
  lastCompleted?: { at: string };
}

interface Listed {
  items: { state: string; error?: { message: string } }[];
}

/** From the answers of getBackupSettings and listBackups; undefined when one was refused, as by a version without them. */
export function backupFrom(settings: unknown, list: unknown): BackupSeen | undefined {
  const { destination, warnings, nextRunAt, lastCompleted } = (settings ?? {}) as Partial<Settings>;
  const { items } = (list ?? {}) as Partial<Listed>;
  if (!destination || !warnings || !items) return undefined;
  return {
    destination: destination.state,
    overdue: warnings.includes('overdue'),
    ...(destination.stateReason !== undefined && { destinationReason: destination.stateReason }),
    ...(nextRunAt !== undefined && { nextRunAt }),
    ...(lastCompleted && { lastCompletedAt: lastCompleted.at }),
    ...lastOf(items),
  };
}

function lastOf([last]: Listed['items']): Pick<BackupSeen, 'last'> {
  return last ? { last: { state: last.state, ...(last.error && { message: last.error.message }) } } : {};
}

const TYPE = 'BackupsHealthy';
const verdict = (status: Verdict['status'], reason: Verdict['reason'], message: string): Verdict => ({
  type: TYPE,
  status,
  reason,
  message,
});

/** True only while the last backup is good, in time, and the place for the next one answers. */
export function backupVerdict({ backup }: Pick<MediaServerSpec, 'backup'>, seen: BackupSeen | undefined): Verdict {
  if (!backup) return verdict('False', 'NoneAsked', 'spec.backup is absent');
  if (!seen) return verdict('Unknown', 'ServerNotReady', 'the server has not told of its backups yet');
  return faultIn(seen) ?? health(seen);
}

function faultIn({
  destination,
  destinationReason: why,
  last,
  lastCompletedAt: at,
  overdue,
}: BackupSeen): Verdict | undefined {
  const since = at === undefined ? 'none is good yet' : `the last good one is of ${at}`;
  if (destination !== 'ok')
    return verdict('False', 'DestinationUnreachable', `spec.backup.destination is ${destination}: ${why ?? since}`);
  if (last?.state === 'failed' || last?.state === 'damaged')
    return verdict('False', 'BackupFailed', `the last backup is ${last.state}: ${last.message ?? since}`);
  return overdue ? verdict('False', 'BackupOverdue', `no backup since it was due; ${since}`) : undefined;
}

const health = ({ lastCompletedAt: at, nextRunAt = 'no time' }: BackupSeen): Verdict =>
  at === undefined
    ? verdict('Unknown', 'NeverBackedUp', `the first one is due at ${nextRunAt}`)
    : verdict('True', 'Completed', `The last backup is of ${at}`);

/** status.backup, once there was a good one. */
export function backupStatus(seen: BackupSeen | undefined): Pick<MediaServerStatus, 'backup'> {
  if (seen?.lastCompletedAt === undefined) return {};
  const { lastCompletedAt, last } = seen;
  const message = last?.message;
  return { backup: { lastCompletedAt, state: last?.state ?? 'completed', ...(message !== undefined && { message }) } };
}
