// Observed state and plan -> status. Pure.
import { backupStatus } from '../backup-verdict.ts';
import type { StatusCondition } from '../runtime/kube.ts';
import { type Condition, type Judged, type Reason, setConditions, type Verdict } from '../schemas/conditions.ts';
import type { MediaServerStatus } from '../schemas/media-server.ts';
import { speechStatus } from '../speech/reports.ts';
import * as checks from './checks.ts';
import { type CheckInput, judge, no, yes } from './checks.ts';
import { keysSecret, serverIdOf } from './desired/context.ts';
import { addressOf } from './desired/ingress.ts';
import { defined, nameOf, selectorOf } from './desired/meta.ts';
import { ingress } from './ingress-check.ts';
import { handledReplacements } from './lost-secrets.ts';
import { childOf, childrenOf, isSpeech, type Observed, trueCondition, workloadOf } from './observed.ts';
import { notServed } from './optional-checks.ts';
import { type Trouble, troubleIn } from './pod-trouble.ts';
import { upgradeTarget } from './roll-out.ts';
import { subtitlesVerdict } from './speech-verdict.ts';
import { notAvailable } from './starting.ts';
import { lowVolumes } from './store-volumes.ts';
import { withStores } from './stores-in-use.ts';
import { poolStatus } from './transcode-pool.ts';

/** Ready while API pods answer; otherwise the reason is the first fault, else the first part that blocks the start. */
function ready(input: CheckInput, parts: readonly Verdict[]): Verdict {
  const { server, observed, plan } = input;
  const name = nameOf(server, 'api');
  const api = childOf(observed, 'Deployment', name);
  const startOrder = ['SettingsValid', 'MediaReady', 'DatabaseReady', 'ObjectsReady', 'MigrationsApplied'];
  const part = startOrder
    .map((type) => parts.find((verdict) => verdict.type === type))
    .find((verdict) => blocks(verdict));
  const type = 'Ready';
  const { reason, message } = plan.faults[0] ?? part ?? no('Starting', `Deployment ${name} does not exist yet`);
  if (!api) return { type, ...no(reason, message) };
  const { ready: count, desired } = workloadOf(api);
  return judge(type, input, [
    () => (desired === 0 ? no('ScaledToZero', 'spec.api.replicas is 0: raise it') : undefined),
    () => {
      if (count > 0) return undefined;
      const trouble = troubleIn(server, 'api', observed);
      return trouble ? no(trouble.reason, trouble.message) : notAvailable(api, input);
    },
    () => (observed.api.health.database === 'down' ? withoutDatabase(parts) : undefined),
    () => {
      if (observed.api.apiReady) return undefined;
      return no(
        'ApiUnreachable',
        `Service ${name} does not answer the operator: check the NetworkPolicies and the logs of the API pods`,
      );
    },
    () => yes('AllReady', `${count} of ${desired} API pods answer`),
  ]);
}

/** A starting database is no fault. */
function withoutDatabase(parts: readonly Verdict[]): Omit<Verdict, 'type'> {
  const part = parts.find(({ type }) => type === 'DatabaseReady');
  if (part?.reason === 'Starting') return no('WaitingForDatabase', part.message);
  return no('DatabaseUnreachable', 'The server does not reach its database');
}

const DEADLINE = 'ProgressDeadlineExceeded';

/** Reasons that stop a roll-out until a user acts. */
const STOPPED: readonly Reason[] = ['MigrationFailed', 'BackupFailed', DEADLINE];

/** Reasons that end by themselves: no fault. */
const UNDER_WAY: readonly Reason[] = [
  'MigrationPending',
  'RollingOut',
  'ServerNotReady',
  'Starting',
  'WaitingForDatabase',
];

/** A Deployment that exceeded progressDeadlineSeconds, with the trouble of its pods. */
function stalledRollOut({ server, observed }: CheckInput): Trouble | undefined {
  for (const object of childrenOf(observed, 'Deployment').filter((one) => !isSpeech(one))) {
    const { conditions = [] } = (object.status ?? {}) as { conditions?: StatusCondition[] };
    const found = conditions.find(({ reason, status }) => reason === DEADLINE && status === 'False');
    if (!found) continue;
    const trouble = troubleIn(server, object.metadata.labels?.['app.kubernetes.io/component'] ?? '', observed);
    const why = trouble?.message ?? `${found.message ?? DEADLINE}: kubectl describe deployment ${object.metadata.name}`;
    return {
      reason: DEADLINE,
      message: `the roll-out of Deployment ${object.metadata.name} makes no progress: ${why}`,
    };
  }
  return undefined;
}

/** True for a failed part; parts that are not used do not count. */
const blocks = (verdict: Verdict | undefined): boolean =>
  verdict?.status === 'False' && verdict.reason !== 'NoneAsked' && verdict.reason !== 'NotServed';

/** The first check that applies decides; the order is from "stopped" over "changing" to "stable". */
function progressing(input: CheckInput): Verdict {
  const { server, observed, plan } = input;
  const unsettled = [...childrenOf(observed, 'StatefulSet'), ...childrenOf(observed, 'Deployment')].filter(
    (object) => !workloadOf(object).settled,
  );
  return judge('Progressing', input, [
    () =>
      server.spec.suspend
        ? no('Suspended', 'spec.suspend is set, or foyer.media/reconcile is paused: nothing is reconciled')
        : undefined,
    () => {
      const [fault] = plan.faults;
      return fault && no(fault.reason, fault.message);
    },
    () => {
      const { reason, message } = checks.migrations(input);
      if (plan.current) return undefined;
      return STOPPED.includes(reason) ? no(reason, message) : yes(reason, message);
    },
    () => {
      const still = stalledRollOut(input);
      return still && no(still.reason, still.message);
    },
    () => {
      const names = unsettled.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
      return names.length > 0 ? yes('RollingOut', `${names.join(', ')} roll out`) : undefined;
    },
    () => no('Stable', 'Nothing changes'),
  ]);
}

/** The trouble of any component's pods, even while others are ready. */
function podTrouble({ server, observed }: CheckInput): Trouble | undefined {
  for (const component of [
    'api',
    'workers',
    'parser',
    'subtitles',
    'postgres',
    'redis',
    'objects',
    'backup',
    'migrate',
  ]) {
    const trouble = troubleIn(server, component, observed);
    if (trouble) return trouble;
  }
  return refusedPods(observed);
}

/** Pods that cannot be created, because of Pod Security or a quota. */
function refusedPods(observed: Observed): Trouble | undefined {
  for (const object of childrenOf(observed, 'Deployment')) {
    const failure = trueCondition(object, 'ReplicaFailure');
    if (!failure) continue;
    const message = `no pod of Deployment ${object.metadata.name} can be created: ${failure.message ?? ''}`;
    return { reason: 'Refused', message };
  }
  return undefined;
}

const isWrong = (verdict: Verdict): boolean => blocks(verdict) && !UNDER_WAY.includes(verdict.reason);

const lostKey = ({ name }: CheckInput['server']): string =>
  `Some sealed secrets of the server match no key of Secret ${name}-keys: restore the lost key in its keys.json, or enter the secrets again; a notification to settings managers names them`;

interface Summary {
  parts: readonly Verdict[];
  ready: Verdict;
  progressing: Verdict;
}

/** True for any fault. A roll-out, a migration, its backup and starting parts are no faults while they make progress. */
function degraded(input: CheckInput, { parts, ready: readiness, progressing: progress }: Summary): Verdict {
  const type = 'Degraded';
  const trouble = stalledRollOut(input) ?? podTrouble(input);
  if (trouble) return { type, status: 'True', ...trouble };
  const [first] = input.plan.faults;
  const fault = parts.find((part) => part.type === first?.type) ?? parts.find(isWrong);
  if (fault) return { type, ...yes(fault.reason, `${fault.type}: ${fault.message}`) };
  if (readiness.status === 'False' && !UNDER_WAY.includes(readiness.reason))
    return { ...readiness, type, status: 'True' };
  const low = lowVolumes(input.observed.volumes);
  if (low !== undefined) return { type, ...yes('DiskLow', low) };
  if (input.observed.api.health.keys === 'degraded')
    return { type, ...yes('SealedKeyMismatch', lostKey(input.server)) };
  const underWay = [progress, readiness].find(({ reason }) => UNDER_WAY.includes(reason));
  if (underWay) return { type, ...no(underWay.reason, `Nothing is wrong: ${underWay.message}`) };
  return { type, ...no('AllReady', 'Every part works') };
}

/** The other conditions that kstatus reads; each is present only while it is True. */
function kstatus({ plan }: CheckInput, { status, reason, message }: Verdict): Verdict[] {
  const [fault] = plan.faults;
  const failed = STOPPED.includes(reason) ? { reason, message } : undefined;
  const stuck = fault ?? failed;
  if (stuck) return [{ type: 'Stalled', ...yes(stuck.reason, stuck.message) }];
  return status === 'True' ? [{ type: 'Reconciling', ...yes(reason, message) }] : [];
}

/** Every condition, the summaries first. They are computed from the parts, so the parts come first here. */
export function verdictsOf(input: CheckInput): Verdict[] {
  const parts = [
    checks.database(input),
    checks.redis(input),
    checks.objects(input),
    checks.migrations(input),
    checks.media(input),
    checks.settings(input),
    checks.transcode(input),
    checks.parser(input),
  ];
  const progress = progressing(input);
  const readiness = ready(input, parts);
  const speech = subtitlesVerdict(input);
  const degradation = degraded(input, { parts: [...parts, speech], ready: readiness, progressing: progress });
  const summary = [readiness, progress, degradation, ...kstatus(input, progress)];
  return [...summary, ...parts, speech, ingress(input), ...notServed(input)];
}

/** A summary, with the reason unless the server simply runs. */
function phaseOf(verdicts: readonly Verdict[]): string {
  const is = (type: string) => verdicts.find((verdict) => verdict.type === type);
  const withReason = (phase: string, verdict: Verdict | undefined): string =>
    verdict && verdict.reason !== phase ? `${phase}: ${verdict.reason}` : phase;
  if (is('Progressing')?.reason === 'Suspended') return 'Suspended';
  if (is('Stalled')) return withReason('Stalled', is('Stalled'));
  if (is('Degraded')?.status === 'True') return withReason('Degraded', is('Degraded'));
  if (is('Ready')?.status !== 'True') return withReason('Starting', is('Ready'));
  return is('Progressing')?.status === 'True' ? withReason('RollingOut', is('Progressing')) : 'Running';
}

const selectorText = (input: CheckInput): string =>
  Object.entries(selectorOf(input.server, 'api'))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** Status fields that later passes read. */
function remembered({ server, observed, plan }: CheckInput): Observed['known'] {
  const serverId = serverIdOf(observed.secrets.get(keysSecret(server))?.['keys.json']) ?? observed.known.serverId;
  const upgradingTo = upgradeTarget(plan.version, server, observed);
  return defined({
    serverId,
    upgradingTo,
    replacedSecrets: handledReplacements(withStores(server, observed.release?.managed), observed),
  });
}

/** The status to write; `before` are its current conditions, whose transition times are kept. */
export function statusOf(input: CheckInput, before: readonly Condition[]): MediaServerStatus {
  const { server, observed, plan } = input;
  const verdicts = verdictsOf(input);
  const judged: Judged = { generation: server.generation, now: observed.now };
  const api = childOf(observed, 'Deployment', nameOf(server, 'api'));
  const {
    total,
    ready: count,
    desired,
  } = api ? workloadOf(api) : { total: 0, ready: 0, desired: server.spec.api.replicas };
  const claim = observed.secrets.has(nameOf(server, 'claim')) && plan.claim;
  return {
    observedGeneration: server.generation,
    phase: phaseOf(verdicts),
    ...(observed.api.version !== undefined && { version: observed.api.version }),
    url: addressOf(server),
    apiReady: `${count}/${desired}`,
    replicas: total,
    selector: selectorText(input),
    conditions: setConditions(before, verdicts, judged),
    ...(plan.pool && { transcode: poolStatus(plan.pool.state) }),
    ...speechStatus(server.spec.subtitles, observed.speech),
    ...remembered(input),
    libraries: observed.libraries,
    tuners: observed.tuners,
    ...(claim && { claim: { secretName: nameOf(server, 'claim') } }),
    ...(plan.recovery.status && { recovery: plan.recovery.status }),
    ...backupStatus(observed.api.backup),
    ...(observed.plus && { plus: observed.plus }),
  };
}

/** The status of a resource that cannot be planned: every summary condition has the same fault. */
export function faultyStatus(
  verdict: Pick<Verdict, 'reason' | 'message'>,
  before: readonly Condition[],
  judged: Judged,
): MediaServerStatus {
  const { reason, message } = verdict;
  const verdicts: Verdict[] = [
    { type: 'Ready', ...no(reason, message) },
    { type: 'Stalled', ...yes(reason, message) },
    { type: 'Degraded', ...yes(reason, message) },
    { type: 'Progressing', ...no(reason, message) },
  ];
  return {
    observedGeneration: judged.generation,
    phase: `Stalled: ${reason}`,
    conditions: setConditions(before, verdicts, judged),
  };
}
