// The only file here that writes to the cluster.
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
import type { DeclaredOfServers } from './declared.ts';
import { defined } from './desired/meta.ts';
import { RECOVERY } from './desired/recovery.ts';
import { ROTATION } from './desired/secrets.ts';
import { eventsBetween, upgradeEvents } from './events.ts';
import type { Fault } from './faults.ts';
import { type Connection, observe, optionalKinds, type Probes } from './observe.ts';
import { childrenOf, type Seen } from './observed.ts';
import { type Plan, planServer, type Tools } from './plan.ts';
import { type Server, serverOf } from './server.ts';
import { faultyStatus, statusOf } from './status.ts';
import { silentJobs } from './transcode-pool.ts';

export interface MediaServerTools extends Tools {
  /** The server's API, with the operator's key. */
  connect: (server: { name: string; namespace: string }, key: string) => Connection;
  probes: Probes;
  declared: DeclaredOfServers;
}

/** At the latest the server is looked at again after this; sooner while something starts. */
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
    await report(object, kube, { ...known(object), ...faultyStatus(server, conditionsOf(object), judged) });
    return done;
  }
  const seen = await look(server, kube, given);
  const plan = planServer(server, seen, given.tools);
  const refused = server.spec.suspend ? undefined : await put(object, kube, { plan, seen }).catch(refusal);
  const faults = refused ? [...plan.faults, faultFrom(refused)] : plan.faults;
  const status = statusOf({ server, seen, plan: { ...plan, faults } }, conditionsOf(object));
  await report(object, kube, status);
  if (refused) throw refused;
  const events = [...eventsOf(object, { server, seen, plan, status }), ...blockEvents(given.tools, server, seen)];
  for (const event of events) kube.event(object, event);
  return after(server.spec.suspend ? LOOK_MS : pauseOf(seen, plan));
}

/** Owner references clean up after us. */
function release(object: KubeObject | undefined, { probes, declared }: MediaServerTools): Outcome {
  if (object?.metadata.uid) {
    probes.forget(object.metadata.uid);
    declared.forget(object.metadata.uid);
  }
  return done;
}

async function look(server: Server, kube: Kube, { now, tools }: { now: Date; tools: MediaServerTools }): Promise<Seen> {
  const seen = observe(server, kube, now);
  for (const kind of optionalKinds(server.spec)) if (!seen.served.has(kind)) kube.seek(kind);
  const key = seen.secrets.get(`${server.name}-operator-key`)?.key;
  if (key === undefined) return seen;
  const connection = tools.connect(server, key);
  const asked = tools.probes.withSilent(server, await tools.probes.look(server, seen, connection));
  return { ...asked, declared: await tools.declared.bring(server, asked, { kube, ask: connection.ask }) };
}

/** What is in force is not known though pods run, as its record was not seen yet or is gone: nothing is taken away then. */
const isWhole = ({ release, holdsStores }: Plan, seen: Seen): boolean =>
  !holdsStores && (release !== undefined || childrenOf(seen, 'Deployment').length === 0);

/** What another operator made since the plan is not in it, and is not judged by it. */
const uidsOf = ({ children }: Seen): ReadonlySet<string> =>
  new Set([...children.values()].map(({ metadata }) => metadata.uid ?? ''));

async function put(object: KubeObject, kube: Kube, { plan, seen }: Pick<Done, 'plan' | 'seen'>): Promise<undefined> {
  await kube.apply(object, plan.objects, { prune: isWhole(plan, seen) && uidsOf(seen) });
}

/** What the API server refuses for good becomes a condition too; the kit tries again, slower each time. Anything else is thrown. */
function refusal(error: unknown): Error {
  if (error instanceof PermanentFault || hasStatus(error, 400, 403, 422, 500)) return error as Error;
  throw error;
}

const faultFrom = (error: Error): Fault => ({
  type: 'SettingsValid',
  reason: error instanceof PermanentFault ? 'NameTaken' : 'Refused',
  message: `the cluster refuses a part of it: ${error.message}`,
});

const conditionsOf = ({ status }: KubeObject): Condition[] =>
  ((status ?? {}) as { conditions?: Condition[] }).conditions ?? [];

/** What a server that is slow or away does not say anew. */
const lastKnown = ({ status }: KubeObject): MediaServerStatus => {
  const { version } = (status ?? {}) as MediaServerStatus;
  return defined({ version });
};

/** What later passes go by. */
function known({ status }: KubeObject): Seen['known'] {
  const { serverId, replacedSecrets, upgradingTo } = (status ?? {}) as MediaServerStatus;
  return defined({ serverId, replacedSecrets, upgradingTo });
}

async function report(object: KubeObject, kube: Kube, status: MediaServerStatus): Promise<void> {
  const before = conditionsOf(object);
  if (!(await kube.applyStatus(object, { ...lastKnown(object), ...status }))) return;
  for (const event of eventsBetween(before, status.conditions ?? [])) kube.event(object, event);
}

interface Done {
  server: Server;
  seen: Seen;
  plan: Plan;
  status: MediaServerStatus;
}

/** Beside those of conditions: answers to annotations, and changes of the version. */
const eventsOf = (object: KubeObject, done: Done): ReportedEvent[] => [
  ...recoveryEvents(object, done.plan),
  ...rotationEvents(done),
  ...silentEvents(done.plan),
  ...upgradeEvents(done.seen.known, done.status, done.plan.version),
];

function recoveryEvents({ status }: KubeObject, { recovery }: Plan): ReportedEvent[] {
  const known = (status as MediaServerStatus | undefined)?.recovery?.secretName;
  if (recovery.state === 'failed') {
    const message = `${RECOVERY}: no token was made; is the setup complete? Then set another value`;
    return [{ type: 'Warning', reason: 'RecoveryFailed', message }];
  }
  if (!recovery.status || known === recovery.status.secretName) return [];
  const { secretName, expiresAt } = recovery.status;
  const message = `${RECOVERY}: the one-time token of the owner is in Secret ${secretName} until ${expiresAt}`;
  return [{ type: 'Normal', reason: 'RecoveryReady', message }];
}

function rotationEvents({ server, seen }: Done): ReportedEvent[] {
  const name = `${server.name}-operator-key`;
  const asked = server.annotations[ROTATION];
  const before = seen.notes.get(name);
  if (asked === undefined || !before || before[ROTATION] === asked || server.spec.suspend) return [];
  return [{ type: 'Normal', reason: 'KeyRotated', message: `Secret ${name} holds a new key of the operator` }];
}

function silentEvents({ pool }: Plan): ReportedEvent[] {
  const silent = pool ? silentJobs(pool.seen) : [];
  return silent.map(({ name, pod }) => ({
    type: 'Warning',
    reason: 'WorkerSilent',
    message: `pod ${pod?.name} ran for 5 minutes without a report to the server: Job ${name} is made again`,
  }));
}

const blockEvents = ({ probes }: MediaServerTools, { uid }: Server, seen: Seen): ReportedEvent[] =>
  probes.isNewBlock(uid, seen) ? [claimBlocked(seen)] : [];

const claimBlocked = ({ api }: Seen): ReportedEvent => ({
  type: 'Warning',
  reason: 'ClaimBlocked',
  message: `too many claim codes were tried: none is taken until ${api.claimBlockedUntil}`,
});

/** A faulty resource waits for a change of it: what runs is looked at no sooner for that. */
function pauseOf(seen: Seen, { pool, current, release, faults }: Plan): number {
  const starts = faults.length === 0 && (!current || !release || !seen.api.apiReady);
  return Math.min(pool?.plan.recheckMs ?? LOOK_MS, starts ? LOOK_SOON_MS : LOOK_MS);
}
