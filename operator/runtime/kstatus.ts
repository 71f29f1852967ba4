// The two other conditions that kstatus (Flux, Argo CD, `kubectl wait`) reads: progress, and a stop until a user acts.
import type { Reason, Verdict } from '../schemas/conditions.ts';

/** Reasons that end by themselves. */
const UNDER_WAY: readonly Reason[] = ['Reconciling', 'Scanning', 'ServerNotReady', 'ServerNotFound', 'Starting'];

const NOTHING = 'Nothing is in progress, and nothing waits for a user';

export function withKstatus(verdicts: readonly Verdict[]): Verdict[] {
  const ready = verdicts.find(({ type }) => type === 'Ready');
  const underWay = ready !== undefined && ready.status !== 'True' && UNDER_WAY.includes(ready.reason);
  const stalled = ready?.status === 'False' && !underWay;
  const reported = ready ?? { reason: 'Stable' as const, message: NOTHING };
  const not = { status: 'False', reason: 'Stable', message: NOTHING } as const;
  const is = { status: 'True', reason: reported.reason, message: reported.message } as const;
  return [...verdicts, { type: 'Reconciling', ...(underWay ? is : not) }, { type: 'Stalled', ...(stalled ? is : not) }];
}
