// Events of what became different: one for each condition whose status or reason moved. Pure.
import type { ReportedEvent } from '../runtime/kube.ts';
import type { Condition } from '../schemas/conditions.ts';
import type { MediaServerStatus } from '../schemas/media-server.ts';

/** True is the bad one. */
const INVERTED = ['Degraded', 'Stalled'];
/** What nobody asked for, and what starts. */
const NO_NEWS: readonly string[] = [
  ...['NoneAsked', 'NotServed', 'Starting', 'WaitingForDatabase', 'MigrationPending', 'ServerNotReady', 'RollingOut'],
];
/** Told by others: Ready and Degraded say it in fewer words. */
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

/** That the change to another version begins, and how it ends; `wanted` is the version of the resource now. */
export function upgradeEvents(before: MediaServerStatus, after: MediaServerStatus, wanted: string): ReportedEvent[] {
  const [from, to] = [before.upgradingTo, after.upgradingTo];
  if (from === to) return [];
  const ended = from !== undefined && from === wanted && to === undefined;
  const gone = from !== undefined && !ended;
  return [
    ...(ended ? [normal('UpgradeCompleted', `version ${from} is rolled out`)] : []),
    ...(gone ? [normal('UpgradeGivenUp', `version ${from} is not wanted any more`)] : []),
    ...(to === undefined ? [] : [normal('UpgradeStarted', `the change to version ${to} begins`)]),
  ];
}

const normal = (reason: string, message: string): ReportedEvent => ({ type: 'Normal', reason, message });

/** Of a bad one only that it came, and that it went. */
function worthTelling(old: Condition | undefined, { type, status, reason }: Condition): boolean {
  if (NO_NEWS.includes(reason)) return false;
  if (INVERTED.includes(type)) return status === 'True' || old?.status === 'True';
  return status !== 'Unknown';
}
