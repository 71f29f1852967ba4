// The only file in this folder that writes to the cluster.
import { hasStatus } from '../runtime/faults.ts';
import {
  after,
  done,
  type Key,
  type Kube,
  type KubeObject,
  type Outcome,
  PermanentFault,
  type ReportedEvent,
} from '../runtime/kube.ts';
import type { Condition, Judged } from '../schemas/conditions.ts';
import type { MediaServerStatus } from '../schemas/media-server.ts';
import type { BucketsOfServers } from './buckets.ts';
import type { DeclaredOfServers } from './declared.ts';
import { defined } from './desired/meta.ts';
import { RECOVERY } from './desired/recovery.ts';
import { ROTATION } from './desired/secrets.ts';
import { eventsBetween, upgradeEvents } from './events.ts';
import type { Fault } from './faults.ts';
import { type Connection, observe, optionalKinds, type Probes } from './observe.ts';
import { childrenOf, type Observed } from './observed.ts';
import { type Plan, planServer, type Tools } from './plan.ts';
import { type Server, serverOf } from './server.ts';
import type { QuerySpeech, SpeechProbes } from './speech-probes.ts';
import { faultyStatus, statusOf } from './status.ts';
import { silentJobs } from './transcode-pool.ts';

export interface MediaServerTools extends Tools {
  /** Connects to the server's API with the operator's key. */
  connect: (server: { name: string; namespace: string }, key: string) => Connection;
  probes: Probes;
  speech: SpeechProbes;
  querySpeech: QuerySpeech;
  declared: DeclaredOfServers;
  buckets: BucketsOfServers;
}

/** Maximum interval between passes; shorter while something starts. */
const LOOK_MS = 10_000;
const LOOK_SOON_MS = 2000;

export async function reconcileMediaServer(
  key: Key,
  kube: Kube,
  given: { now: Date; tools: MediaServerTools },
): Promise<Outcome> {
  const object = kube.get('MediaServer', key.namespace, key.name);
  if (!object || object.metadata.deletionTimestamp) return release(object, given.tools);
  const server = serverOf(object);
  const judged: Judged = { generation: object.metadata.generation ?? 0, now: given.now };
  if ('reason' in server) {
    await report(object, kube, { ...knownStatus(object), ...faultyStatus(server, conditionsOf(object), judged) });
    return done;
  }
  const observed = await observeServer(server, kube, given);
  const plan = planServer(server, observed, given.tools);
  const refused = server.spec.suspend ? undefined : await applyPlan(object, kube, { plan, observed }).catch(refusal);
  const faults = refused ? [...plan.faults, faultFrom(refused)] : plan.faults;
  const status = statusOf({ server, observed, plan: { ...plan, faults } }, conditionsOf(object));
  await report(object, kube, status);
  if (refused) throw refused;
  const events = [
    ...eventsOf(object, { server, observed, plan, status }),
    ...blockEvents(given.tools, server, observed),
  ];
  for (const event of events) kube.event(object, event);
  return after(server.spec.suspend ? LOOK_MS : requeueMs(observed, plan));
}

/** Owner references delete the children. */
function release(object: KubeObject | undefined, { probes, speech, declared, buckets }: MediaServerTools): Outcome {
  if (object?.metadata.uid) {
    probes.forget(object.metadata.uid);
    speech.forget(object.metadata.uid);
    declared.forget(object.metadata.uid);
    buckets.forget(object.metadata.uid);
  }
  return done;
}

async function observeServer(
  server: Server,
  kube: Kube,
  { now, tools }: { now: Date; tools: MediaServerTools },
): Promise<Observed> {
  const observed = observe(server, kube, now);
  for (const kind of optionalKinds(server.spec)) if (!observed.served.has(kind)) kube.seek(kind);
  const key = observed.secrets.get(`${server.name}-operator-key`)?.key;
  if (key === undefined) return observed;
  const connection = tools.connect(server, key);
  const answered = tools.probes.withSilent(server, await tools.probes.look(server, observed, connection));
  const reported = await tools.speech.look(server, answered, tools.querySpeech);
  const declared = await tools.declared.apply(server, reported, { kube, request: connection.request });
  const buckets = await tools.buckets.apply(server, reported, connection.request);
  return { ...reported, declared, buckets };
}

/**
 * Without a known release while Deployments exist, its record was deleted or is not in the cache yet: nothing is pruned then.
 */
const mayPrune = ({ release, holdsStores }: Plan, observed: Observed): boolean =>
  !holdsStores && (release !== undefined || childrenOf(observed, 'Deployment').length === 0);

/** Objects that another operator created after the plan was computed are not pruned. */
const observedUids = ({ children }: Observed): ReadonlySet<string> =>
  new Set([...children.values()].map(({ metadata }) => metadata.uid ?? ''));

async function applyPlan(
  object: KubeObject,
  kube: Kube,
  { plan, observed }: Pick<PassResult, 'plan' | 'observed'>,
): Promise<undefined> {
  await kube.apply(object, plan.objects, { prune: mayPrune(plan, observed) && observedUids(observed) });
}

/** A refusal by the API server becomes a condition, and the pass is retried with a growing pause. Other errors are thrown. */
function refusal(error: unknown): Error {
  if (error instanceof PermanentFault || hasStatus(error, 400, 403, 422, 500)) return error as Error;
  throw error;
}

const faultFrom = (error: Error): Fault => ({
  type: 'SettingsValid',
  reason: error instanceof PermanentFault ? 'NameTaken' : 'Refused',
  message: `the cluster refuses a part: ${error.message}`,
});

const conditionsOf = ({ status }: KubeObject): Condition[] =>
  ((status ?? {}) as { conditions?: Condition[] }).conditions ?? [];

/** The version stays in the status while the server does not report it. */
const lastKnown = ({ status }: KubeObject): MediaServerStatus => {
  const { version } = (status ?? {}) as MediaServerStatus;
  return defined({ version });
};

/** Status fields that later passes read. */
function knownStatus({ status }: KubeObject): Observed['known'] {
  const { serverId, replacedSecrets, upgradingTo } = (status ?? {}) as MediaServerStatus;
  return defined({ serverId, replacedSecrets, upgradingTo });
}

async function report(object: KubeObject, kube: Kube, status: MediaServerStatus): Promise<void> {
  const before = conditionsOf(object);
  if (!(await kube.applyStatus(object, { ...lastKnown(object), ...status }))) return;
  for (const event of eventsBetween(before, status.conditions ?? [])) kube.event(object, event);
}

interface PassResult {
  server: Server;
  observed: Observed;
  plan: Plan;
  status: MediaServerStatus;
}

/** Events other than those about conditions: results of annotations, and version changes. */
const eventsOf = (object: KubeObject, done: PassResult): ReportedEvent[] => [
  ...recoveryEvents(object, done.plan),
  ...rotationEvents(done),
  ...silentEvents(done.plan),
  ...upgradeEvents(done.observed.known, done.status, done.plan.version),
];

function recoveryEvents({ status }: KubeObject, { recovery }: Plan): ReportedEvent[] {
  const reported = (status as MediaServerStatus | undefined)?.recovery?.secretName;
  if (recovery.state === 'failed') {
    const message = `${RECOVERY}: no token was created; check that the setup is complete, then set another value`;
    return [{ type: 'Warning', reason: 'RecoveryFailed', message }];
  }
  if (!recovery.status || reported === recovery.status.secretName) return [];
  const { secretName, expiresAt } = recovery.status;
  const message = `${RECOVERY}: the one-time token of the owner is in Secret ${secretName} until ${expiresAt}`;
  return [{ type: 'Normal', reason: 'RecoveryReady', message }];
}

function rotationEvents({ server, observed }: PassResult): ReportedEvent[] {
  const name = `${server.name}-operator-key`;
  const requested = server.annotations[ROTATION];
  const before = observed.notes.get(name);
  if (requested === undefined || !before || before[ROTATION] === requested || server.spec.suspend) return [];
  return [{ type: 'Normal', reason: 'KeyRotated', message: `Secret ${name} holds a new key of the operator` }];
}

function silentEvents({ pool }: Plan): ReportedEvent[] {
  const silent = pool ? silentJobs(pool.state) : [];
  return silent.map(({ name, pod }) => ({
    type: 'Warning',
    reason: 'WorkerSilent',
    message: `pod ${pod?.name} ran for 5 minutes without a report to the server: Job ${name} is created again`,
  }));
}

const blockEvents = ({ probes }: MediaServerTools, { uid }: Server, observed: Observed): ReportedEvent[] =>
  probes.isNewBlock(uid, observed) ? [claimBlocked(observed)] : [];

const claimBlocked = ({ api }: Observed): ReportedEvent => ({
  type: 'Warning',
  reason: 'ClaimBlocked',
  message: `too many claim codes were tried: none is accepted until ${api.claimBlockedUntil}`,
});

/** A resource with faults waits for a change, without a shorter interval. */
function requeueMs(observed: Observed, { pool, current, release, faults }: Plan): number {
  const starts = faults.length === 0 && (!current || !release || !observed.api.apiReady);
  return Math.min(pool?.plan.recheckMs ?? LOOK_MS, starts ? LOOK_SOON_MS : LOOK_MS);
}
