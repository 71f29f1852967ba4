// The server's reports about backups -> the condition BackupsHealthy and status.backup. Pure.
import type { Verdict } from './schemas/conditions.ts';
import type { MediaServerSpec, MediaServerStatus } from './schemas/media-server.ts';

export interface ObservedBackup {
  /** State of the destination: ok, unreachable, read-only or full. */
  destination: string;
  destinationReason?: string;
  /** Kind of the destination: builtin, s3 or storage. */
  kind?: string;
  /** Scheduled backups are disabled. */
  off?: true;
  overdue: boolean;
  nextRunAt?: string;
  lastCompletedAt?: string;
  /** The newest backup, in any state. */
  last?: { state: string; message?: string };
}

interface Settings {
  enabled: boolean;
  destination: { kind: string; state: string; stateReason?: string };
  warnings: string[];
  nextRunAt?: string;
  lastCompleted?: { at: string };
}

interface Listed {
  items: { state: string; error?: { message: string } }[];
}

/** From the responses of getBackupSettings and listBackups; undefined when one was refused, as by a version without them. */
export function backupFrom(settings: unknown, list: unknown): ObservedBackup | undefined {
  const { enabled, destination, warnings, nextRunAt, lastCompleted } = (settings ?? {}) as Partial<Settings>;
  const { items } = (list ?? {}) as Partial<Listed>;
  if (!destination || !warnings || !items) return undefined;
  return {
    destination: destination.state,
    kind: destination.kind,
    ...(enabled === false && { off: true }),
    overdue: warnings.includes('overdue'),
    ...(destination.stateReason !== undefined && { destinationReason: destination.stateReason }),
    ...(nextRunAt !== undefined && { nextRunAt }),
    ...(lastCompleted && { lastCompletedAt: lastCompleted.at }),
    ...lastOf(items),
  };
}

function lastOf([last]: Listed['items']): Pick<ObservedBackup, 'last'> {
  return last ? { last: { state: last.state, ...(last.error && { message: last.error.message }) } } : {};
}

const TYPE = 'BackupsHealthy';
const verdict = (status: Verdict['status'], reason: Verdict['reason'], message: string): Verdict => ({
  type: TYPE,
  status,
  reason,
  message,
});

type BackupSpec = Pick<MediaServerSpec, 'backup'> & Partial<Pick<MediaServerSpec, 'networkPolicy'>>;

/**
 * True while the last backup is complete and recent and the destination is reachable. Also for backups that are configured in
 * the app.
 */
export function backupVerdict(spec: BackupSpec, observed: ObservedBackup | undefined): Verdict {
  if (!spec.backup && !observed) return verdict('False', 'NoneAsked', 'spec.backup is absent');
  if (!observed) return verdict('Unknown', 'ServerNotReady', 'the server has not reported its backups yet');
  if (!spec.backup && observed.off)
    return verdict('False', 'NoneAsked', 'spec.backup is absent, and backups are switched off in the app');
  return faultIn(spec, observed) ?? health(observed);
}

const CLOSED =
  '; if its address is private: the NetworkPolicies of this server lead to a bucket that spec.backup names, or to a network of spec.network.allow, and to no other';

function destinationFault(
  { backup, networkPolicy }: BackupSpec,
  { destination, kind }: ObservedBackup,
  why: string,
): Verdict {
  const closed = !backup && kind === 's3' && destination === 'unreachable' && networkPolicy?.enabled;
  const which = backup ? 'spec.backup.destination' : 'the destination that is set in the app';
  return verdict('False', 'DestinationUnreachable', `${which} is ${destination}: ${why}${closed ? CLOSED : ''}`);
}

function faultIn(spec: BackupSpec, observed: ObservedBackup): Verdict | undefined {
  const { destination, destinationReason: why, last, lastCompletedAt: at, overdue } = observed;
  const since = at === undefined ? 'none completed yet' : `the last completed one is from ${at}`;
  if (destination !== 'ok') return destinationFault(spec, observed, why ?? since);
  if (last?.state === 'failed' || last?.state === 'damaged')
    return verdict('False', 'BackupFailed', `the last backup is ${last.state}: ${last.message ?? since}`);
  return overdue ? verdict('False', 'BackupOverdue', `the scheduled backup is overdue; ${since}`) : undefined;
}

const health = ({ lastCompletedAt: at, nextRunAt = 'no time' }: ObservedBackup): Verdict =>
  at === undefined
    ? verdict('Unknown', 'NeverBackedUp', `the first one is due at ${nextRunAt}`)
    : verdict('True', 'Completed', `The last backup is from ${at}`);

/** status.backup, once a backup completed. */
export function backupStatus(observed: ObservedBackup | undefined): Pick<MediaServerStatus, 'backup'> {
  if (observed?.lastCompletedAt === undefined) return {};
  const { lastCompletedAt, last } = observed;
  const message = last?.message;
  return { backup: { lastCompletedAt, state: last?.state ?? 'completed', ...(message !== undefined && { message }) } };
}
