// What was seen and planned -> the status. Pure.
import { backupStatus } from '../backup-verdict.ts';
import type { StatusCondition } from '../runtime/kube.ts';
import { type Condition, type Judged, type Reason, setConditions, type Verdict } from '../schemas/conditions.ts';
import type { MediaServerStatus } from '../schemas/media-server.ts';
import * as checks from './checks.ts';
import { judge, type Looked, no, yes } from './checks.ts';
import { keysSecret, serverIdOf } from './desired/context.ts';
import { addressOf } from './desired/ingress.ts';
import { defined, nameOf, selectorOf } from './desired/meta.ts';
import { ingress } from './ingress-check.ts';
import { answeredReplacement } from './lost-secrets.ts';
import { childOf, childrenOf, holding, type Seen, workloadOf } from './observed.ts';
import { notServed } from './optional-checks.ts';
import { type Trouble, troubleIn } from './pod-trouble.ts';
import { upgradeUnderWay } from './roll-out.ts';
import { notAvailable } from './starting.ts';
import { lowVolumes } from './store-volumes.ts';
import { withStores } from './stores-in-use.ts';
import { poolStatus } from './transcode-pool.ts';

function ready(looked: Looked, parts: readonly Verdict[]): Verdict {
  const { server, seen, plan } = looked;
  const name = nameOf(server, 'api');
  const api = childOf(seen, 'Deployment', name);
  const before = ['SettingsValid', 'MediaReady', 'DatabaseReady', 'ObjectsReady', 'MigrationsApplied'];
  const part = before.map((type) => parts.find((verdict) => verdict.type === type)).find((verdict) => blocks(verdict));
  const type = 'Ready';
  const { reason, message } = plan.faults[0] ?? part ?? no('Starting', `Deployment ${name} is not made yet`);
  if (!api) return { type, ...no(reason, message) };
  const { ready: count, wanted } = workloadOf(api);
  return judge(type, looked, [
    () => (wanted === 0 ? no('ScaledToZero', 'spec.api.replicas is 0: raise it') : undefined),
    () => {
      if (count > 0) return undefined;
      const trouble = troubleIn(server, 'api', seen);
      return trouble ? no(trouble.reason, trouble.message) : notAvailable(api, looked);
    },
    () => (seen.api.health.database === 'down' ? withoutDatabase(parts) : undefined),
    () => {
      if (seen.api.apiReady) return undefined;
      return no(
        'ApiUnreachable',
        `Service ${name} does not answer the operator: look at the NetworkPolicies and the log of the API pods`,
      );
    },
    () => yes('AllReady', `${count} of ${wanted} API pods answer`),
  ]);
}

/** A database that starts is waited for. */
function withoutDatabase(parts: readonly Verdict[]): Omit<Verdict, 'type'> {
  const part = parts.find(({ type }) => type === 'DatabaseReady');
  if (part?.reason === 'Starting') return no('WaitingForDatabase', part.message);
  return no('DatabaseUnreachable', 'The server does not reach its database');
}

const DEADLINE = 'ProgressDeadlineExceeded';

/** A roll-out does not go on by itself. */
const STOPS: readonly Reason[] = ['MigrationFailed', 'BackupFailed', 'ProgressDeadlineExceeded'];

/** Of these, time alone is the cure: nothing is wrong. */
const UNDER_WAY: readonly Reason[] = [
  'MigrationPending',
  'RollingOut',
  'ServerNotReady',
  'Starting',
  'WaitingForDatabase',
];

/** A Deployment whose new pods did not become ready in time (progressDeadlineSeconds), and what keeps its pods. */
function standing({ server, seen }: Looked): Trouble | undefined {
  for (const object of childrenOf(seen, 'Deployment')) {
    const { conditions = [] } = (object.status ?? {}) as { conditions?: StatusCondition[] };
    const found = conditions.find(({ reason, status }) => reason === DEADLINE && status === 'False');
    if (!found) continue;
    const trouble = troubleIn(server, object.metadata.labels?.['app.kubernetes.io/component'] ?? '', seen);
    const why = trouble?.message ?? `${found.message ?? DEADLINE}: kubectl describe deployment ${object.metadata.name}`;
    return { reason: DEADLINE, message: `the roll-out of Deployment ${object.metadata.name} stands still: ${why}` };
  }
  return undefined;
}

const blocks = (verdict: Verdict | undefined): boolean =>
  verdict?.status === 'False' && verdict.reason !== 'NoneAsked' && verdict.reason !== 'NotServed';

function progressing(looked: Looked): Verdict {
  const { server, seen, plan } = looked;
  const moving = [...childrenOf(seen, 'StatefulSet'), ...childrenOf(seen, 'Deployment')].filter(
    (object) => !workloadOf(object).settled,
  );
  return judge('Progressing', looked, [
    () =>
      server.spec.suspend
        ? no('Suspended', 'spec.suspend is set, or foyer.media/reconcile is paused: nothing is reconciled')
        : undefined,
    () => {
      const [fault] = plan.faults;
      return fault && no(fault.reason, fault.message);
    },
    () => {
      const { reason, message } = checks.migrations(looked);
      if (plan.current) return undefined;
      return STOPS.includes(reason) ? no(reason, message) : yes(reason, message);
    },
    () => {
      const still = standing(looked);
      return still && no(still.reason, still.message);
    },
    () => {
      const names = moving.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
      return names.length > 0 ? yes('RollingOut', `${names.join(', ')} roll out`) : undefined;
    },
    () => no('Stable', 'Nothing changes'),
  ]);
}

/** Components whose pods are in trouble, whatever else is ready. */
function troubled({ server, seen }: Looked): Trouble | undefined {
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
    const trouble = troubleIn(server, component, seen);
    if (trouble) return trouble;
  }
  return refusedPods(seen);
}

/** Pods that cannot even be made, such as by Pod Security or a quota. */
function refusedPods(seen: Seen): Trouble | undefined {
  for (const object of childrenOf(seen, 'Deployment')) {
    const failure = holding(object, 'ReplicaFailure');
    const message = `no pod of Deployment ${object.metadata.name} can be made: ${failure?.message ?? ''}`;
    if (failure) return { reason: 'Refused', message };
  }
  return undefined;
}

const isWrong = (verdict: Verdict): boolean => blocks(verdict) && !UNDER_WAY.includes(verdict.reason);

const lostKey = ({ name }: Looked['server']): string =>
  `Some secrets of the server open by no key of Secret ${name}-keys: put the lost key back into its keys.json, or enter them again; the notification to those who manage settings names them`;

interface Summary {
  parts: readonly Verdict[];
  ready: Verdict;
  progressing: Verdict;
}

/** A roll-out, a migration, a backup before it and what starts are no fault as long as nothing goes wrong in them. */
function degraded(looked: Looked, { parts, ready: whole, progressing: moving }: Summary): Verdict {
  const type = 'Degraded';
  const trouble = standing(looked) ?? troubled(looked);
  if (trouble) return { type, status: 'True', ...trouble };
  const [first] = looked.plan.faults;
  const fault = parts.find((part) => part.type === first?.type) ?? parts.find(isWrong);
  if (fault) return { type, ...yes(fault.reason, `${fault.type}: ${fault.message}`) };
  if (whole.status === 'False' && !UNDER_WAY.includes(whole.reason)) return { ...whole, type, status: 'True' };
  const low = lowVolumes(looked.seen.volumes);
  if (low !== undefined) return { type, ...yes('DiskLow', low) };
  if (looked.seen.api.health.keys === 'degraded') return { type, ...yes('SealedKeyMismatch', lostKey(looked.server)) };
  const underWay = [moving, whole].find(({ reason }) => UNDER_WAY.includes(reason));
  if (underWay) return { type, ...no(underWay.reason, `Nothing is wrong: ${underWay.message}`) };
  return { type, ...no('AllReady', 'Every part works') };
}

/** What kstatus reads beside Ready: present only while they hold. */
function kstatus({ plan }: Looked, { status, reason, message }: Verdict): Verdict[] {
  const [fault] = plan.faults;
  const failed = STOPS.includes(reason) ? { reason, message } : undefined;
  const stuck = fault ?? failed;
  if (stuck) return [{ type: 'Stalled', ...yes(stuck.reason, stuck.message) }];
  return status === 'True' ? [{ type: 'Reconciling', ...yes(reason, message) }] : [];
}

export function verdictsOf(looked: Looked): Verdict[] {
  const parts = [
    checks.database(looked),
    checks.redis(looked),
    checks.objects(looked),
    checks.migrations(looked),
    checks.media(looked),
    checks.settings(looked),
    checks.transcode(looked),
    checks.parser(looked),
  ];
  const moving = progressing(looked);
  const whole = ready(looked, parts);
  const sum = degraded(looked, { parts, ready: whole, progressing: moving });
  const summary = [whole, moving, sum, ...kstatus(looked, moving)];
  return [...summary, ...parts, checks.subtitles(looked), ingress(looked), ...notServed(looked)];
}

/** In words, with the reason where it does not simply run. */
function phaseOf(verdicts: readonly Verdict[]): string {
  const is = (type: string) => verdicts.find((verdict) => verdict.type === type);
  const because = (phase: string, verdict: Verdict | undefined): string =>
    verdict && verdict.reason !== phase ? `${phase}: ${verdict.reason}` : phase;
  if (is('Progressing')?.reason === 'Suspended') return 'Suspended';
  if (is('Stalled')) return because('Stalled', is('Stalled'));
  if (is('Degraded')?.status === 'True') return because('Degraded', is('Degraded'));
  if (is('Ready')?.status !== 'True') return because('Starting', is('Ready'));
  return is('Progressing')?.status === 'True' ? because('RollingOut', is('Progressing')) : 'Running';
}

const selectorText = (looked: Looked): string =>
  Object.entries(selectorOf(looked.server, 'api'))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** What later passes go by. */
function remembered({ server, seen, plan }: Looked): Seen['known'] {
  const serverId = serverIdOf(seen.secrets.get(keysSecret(server))?.['keys.json']) ?? seen.known.serverId;
  const upgradingTo = upgradeUnderWay(plan.version, server, seen);
  return defined({
    serverId,
    upgradingTo,
    replacedSecrets: answeredReplacement(withStores(server, seen.release?.managed), seen),
  });
}

export function statusOf(looked: Looked, before: readonly Condition[]): MediaServerStatus {
  const { server, seen, plan } = looked;
  const verdicts = verdictsOf(looked);
  const judged: Judged = { generation: server.generation, now: seen.now };
  const api = childOf(seen, 'Deployment', nameOf(server, 'api'));
  const {
    total,
    ready: count,
    wanted,
  } = api ? workloadOf(api) : { total: 0, ready: 0, wanted: server.spec.api.replicas };
  const claim = seen.secrets.has(nameOf(server, 'claim')) && plan.claim;
  return {
    observedGeneration: server.generation,
    phase: phaseOf(verdicts),
    ...(seen.api.version !== undefined && { version: seen.api.version }),
    url: addressOf(server),
    apiReady: `${count}/${wanted}`,
    replicas: total,
    selector: selectorText(looked),
    conditions: setConditions(before, verdicts, judged),
    ...(plan.pool && { transcode: poolStatus(plan.pool.seen) }),
    ...remembered(looked),
    libraries: seen.libraries,
    tuners: seen.tuners,
    ...(claim && { claim: { secretName: nameOf(server, 'claim') } }),
    ...(plan.recovery.status && { recovery: plan.recovery.status }),
    ...backupStatus(seen.api.backup),
    ...(seen.plus && { plus: seen.plus }),
  };
}

/** When nothing can be planned at all: one fault for every summary. */
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
