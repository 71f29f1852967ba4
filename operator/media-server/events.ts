// Events about changes: one for each condition whose status or reason changed. Pure.
import type { ReportedEvent } from '../runtime/kube.ts';
import type { Condition } from '../schemas/conditions.ts';
import type { MediaServerStatus } from '../schemas/media-server.ts';

/** Conditions for which True is bad. */
const INVERTED = ['Degraded', 'Stalled'];
/** Reasons of disabled and starting parts, which are no news. */
const NO_NEWS: readonly string[] = [
  ...['NoneAsked', 'NotServed', 'Starting', 'WaitingForDatabase', 'MigrationPending', 'ServerNotReady', 'RollingOut'],
];
/** Ready and Degraded report the same change in fewer words. */
const QUIET = ['Progressing', 'Reconciling'];

export function eventsBetween(before: readonly Condition[], after: readonly Condition[]): ReportedEvent[] {
  return after.flatMap((condition): ReportedEvent[] => {
    const old = before.find(({ type }) => type === condition.type);
    const moved = old?.status !== condition.status || old.reason !== condition.reason;
    if (!moved || QUIET.includes(condition.type) || !worthTelling(old, condition)) return [];
    const good = (condition.status === 'True') !== INVERTED.includes(condition.type);
    const message = `${condition.type} is ${condition.status}: ${condition.message}`;
    return [{ type: good ? 'Normal' : 'Warning', reason: condition.reason, message }];
  });
}

/** Reports the start and the end of an upgrade. `wanted` is the version in the spec now. */
export function upgradeEvents(before: MediaServerStatus, after: MediaServerStatus, wanted: string): ReportedEvent[] {
  const [from, to] = [before.upgradingTo, after.upgradingTo];
  if (from === to) return [];
  const ended = from !== undefined && from === wanted && to === undefined;
  const gone = from !== undefined && !ended;
  return [
    ...(ended ? [normal('UpgradeCompleted', `version ${from} is rolled out`)] : []),
    ...(gone ? [normal('UpgradeGivenUp', `version ${from} is no longer desired`)] : []),
    ...(to === undefined ? [] : [normal('UpgradeStarted', `the change to version ${to} begins`)]),
  ];
}

const normal = (reason: string, message: string): ReportedEvent => ({ type: 'Normal', reason, message });

/** For conditions where True is bad, only its start and its end. */
function worthTelling(old: Condition | undefined, { type, status, reason }: Condition): boolean {
  if (NO_NEWS.includes(reason)) return false;
  if (INVERTED.includes(type)) return status === 'True' || old?.status === 'True';
  return status !== 'Unknown';
}
