// What was seen and planned -> the status. Pure.
import { backupStatus } from '../backup-verdict.ts';
import { type Condition, type Judged, type Reason, setConditions, type Verdict } from '../schemas/conditions.ts';
import type { MediaServerStatus } from '../schemas/media-server.ts';
import * as checks from './checks.ts';
import { judge, type Looked, no, yes } from './checks.ts';
import { keysSecret, serverIdOf } from './desired/context.ts';
import { addressOf } from './desired/ingress.ts';
import { defined, nameOf, selectorOf } from './desired/meta.ts';
import { answeredReplacement } from './lost-secrets.ts';
import { notServed } from './optional-checks.ts';
import { troubleIn } from './pod-trouble.ts';
import { childOf, childrenOf, holding, type Seen, workloadOf } from './seen.ts';
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
      const trouble = troubleIn(server, 'api', seen.pods);
      return trouble
        ? no(trouble.reason, trouble.message)
        : no('Starting', `no pod of Deployment ${name} is ready yet`);
    },
    () => {
      if (seen.api.health.database !== 'down') return undefined;
      return no('DatabaseUnreachable', 'The server does not reach its database');
    },
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

/** A roll-out does not go on by itself. */
const STOPS: readonly Reason[] = ['MigrationFailed', 'BackupFailed'];

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
      const names = moving.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
      return names.length > 0 ? yes('RollingOut', `${names.join(', ')} roll out`) : undefined;
    },
    () => no('Stable', 'Nothing changes'),
  ]);
}

/** Components whose pods are in trouble, whatever else is ready. */
function troubled({ server, seen }: Looked): Verdict | undefined {
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
    const trouble = troubleIn(server, component, seen.pods);
    if (trouble) return { type: 'Degraded', status: 'True', ...trouble };
  }
  return refusedPods(seen);
}

/** Pods that cannot even be made, such as by Pod Security or a quota. */
function refusedPods(seen: Seen): Verdict | undefined {
  for (const object of childrenOf(seen, 'Deployment')) {
    const failure = holding(object, 'ReplicaFailure');
    const message = `no pod of Deployment ${object.metadata.name} can be made: ${failure?.message ?? ''}`;
    if (failure) return { type: 'Degraded', ...yes('Refused', message) };
  }
  return undefined;
}

const lostKey = ({ name }: Looked['server']): string =>
  `Some secrets of the server open by no key of Secret ${name}-keys: put the lost key back into its keys.json, or enter them again; the notification to those who manage settings names them`;

function degraded(looked: Looked, parts: readonly Verdict[], whole: Verdict): Verdict {
  const { server, seen } = looked;
  const trouble = troubled(looked);
  if (trouble) return trouble;
  const [first] = looked.plan.faults;
  const fault = parts.find(({ type }) => type === first?.type) ?? parts.find((verdict) => blocks(verdict));
  if (fault)
    return { type: 'Degraded', status: 'True', reason: fault.reason, message: `${fault.type}: ${fault.message}` };
  const workers = childOf(seen, 'Deployment', nameOf(server, 'workers'));
  const idle = workers && workloadOf(workers).ready === 0 && server.spec.workers.replicas > 0;
  if (idle)
    return { type: 'Degraded', ...yes('Starting', `no pod of Deployment ${nameOf(server, 'workers')} is ready`) };
  if (whole.status !== 'True') return { ...whole, type: 'Degraded', status: 'True' };
  if (seen.api.health.keys === 'degraded') return { type: 'Degraded', ...yes('SealedKeyMismatch', lostKey(server)) };
  return { type: 'Degraded', ...no('AllReady', 'Every part works') };
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
  const summary = [whole, moving, degraded(looked, parts, whole), ...kstatus(looked, moving)];
  return [...summary, ...parts, checks.subtitles(looked), checks.ingress(looked), ...notServed(looked)];
}

function phaseOf(verdicts: readonly Verdict[]): string {
  const is = (type: string) => verdicts.find((verdict) => verdict.type === type);
  if (is('Progressing')?.reason === 'Suspended') return 'Suspended';
  if (is('Stalled')) return 'Stalled';
  if (is('Ready')?.status !== 'True') return 'Starting';
  if (is('Progressing')?.status === 'True') return 'RollingOut';
  return is('Degraded')?.status === 'True' ? 'Degraded' : 'Running';
}

const selectorText = (looked: Looked): string =>
  Object.entries(selectorOf(looked.server, 'api'))
    .map(([key, value]) => `${key}=${value}`)
    .join(',');

/** What later passes go by. */
function remembered({ server, seen }: Looked): Pick<MediaServerStatus, 'serverId' | 'replacedSecrets'> {
  const serverId = serverIdOf(seen.secrets.get(keysSecret(server))?.['keys.json']) ?? seen.known.serverId;
  return defined({ serverId, replacedSecrets: answeredReplacement(withStores(server, seen.release?.managed), seen) });
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
    phase: 'Stalled',
    conditions: setConditions(before, verdicts, judged),
  };
}
