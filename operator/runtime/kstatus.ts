// The two conditions that kstatus (Flux, Argo CD, `kubectl wait`) reads beside Ready: something is under way, or stands still
// until somebody does something.
import type { Reason, Verdict } from '../schemas/conditions.ts';

/** Of these, time alone is the cure. */
const UNDER_WAY: readonly Reason[] = ['Reconciling', 'Scanning', 'ServerNotReady', 'ServerNotFound', 'Starting'];

const NOTHING = 'Nothing is under way, and nothing waits for somebody';

export function withKstatus(verdicts: readonly Verdict[]): Verdict[] {
  const ready = verdicts.find(({ type }) => type === 'Ready');
  const underWay = ready !== undefined && ready.status !== 'True' && UNDER_WAY.includes(ready.reason);
  const stalled = ready?.status === 'False' && !underWay;
  const told = ready ?? { reason: 'Stable' as const, message: NOTHING };
  const not = { status: 'False', reason: 'Stable', message: NOTHING } as const;
  const is = { status: 'True', reason: told.reason, message: told.message } as const;
  return [...verdicts, { type: 'Reconciling', ...(underWay ? is : not) }, { type: 'Stalled', ...(stalled ? is : not) }];
}
