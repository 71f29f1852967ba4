// One verdict for each part of a server. Pure.
import { howToGoOn } from '../backup-first.ts';
import { bucketsVerdict } from '../declared/buckets-verdict.ts';
import type { KubeObject } from '../runtime/kube.ts';
import type { Reason, Verdict } from '../schemas/conditions.ts';
import { leftOut } from '../server-api/settings.ts';
import { declaredKeys } from '../server-environment.ts';
import { databaseKey, redisKey } from './desired/context.ts';
import { mediaClaims } from './desired/media.ts';
import { nameOf } from './desired/meta.ts';
import type { StoreName } from './desired/stores.ts';
import type { Fault } from './faults.ts';
import { childOf, type Observed, trueCondition, workloadOf } from './observed.ts';
import type { Plan } from './plan.ts';
import { podsOf, troubleIn } from './pod-trouble.ts';
import { refusedPod } from './refused-pods.ts';
import type { Server } from './server.ts';
import { justStarts, notAvailable } from './starting.ts';
import { transcodeVerdict } from './transcode-verdict.ts';

export interface CheckInput {
  server: Server;
  observed: Observed;
  plan: Plan;
}

export type Check = (input: CheckInput) => Omit<Verdict, 'type'> | undefined;

const RECONNECT_MS = 30_000;

export const yes = (reason: Reason, message: string): Omit<Verdict, 'type'> => ({ status: 'True', reason, message });
export const no = (reason: Reason, message: string): Omit<Verdict, 'type'> => ({ status: 'False', reason, message });
const unknown = (reason: Reason, message: string): Omit<Verdict, 'type'> => ({ status: 'Unknown', reason, message });

/** The result of the first check of the chain that returns one. */
export function judge(type: string, input: CheckInput, chain: readonly Check[]): Verdict {
  for (const check of chain) {
    const verdict = check(input);
    if (verdict) return { type, ...verdict };
  }
  return { type, ...unknown('Starting', 'Not known yet') };
}

const faultOf =
  (type: Fault['type']): Check =>
  ({ plan }) => {
    const faults = plan.faults.filter((fault) => fault.type === type);
    const [first] = faults;
    return first && no(first.reason, faults.map(({ message }) => message).join('; '));
  };

/** A managed store: its pod must be ready. */
const storePod =
  (name: StoreName, fault: Reason): Check =>
  ({ server, observed }) => {
    if (!server.spec[name].managed) return undefined;
    const set = childOf(observed, 'StatefulSet', nameOf(server, name));
    const [pod] = podsOf(server, name, observed.pods);
    if (set && workloadOf(set).ready > 0) return reconnecting(pod, observed, name);
    const trouble = troubleIn(server, name, observed);
    if (trouble) return no(trouble.reason, trouble.message);
    const refused = refusedPod(set, observed);
    if (refused) return no('Refused', refused);
    const message = `pod ${nameOf(server, name)}-0 is not ready yet: kubectl describe pod ${nameOf(server, name)}-0`;
    return no(justStarts(set, pod ? [pod] : [], observed) ? 'Starting' : fault, message);
  };

/** Shortly after the pod of a store became ready, the server still reconnects. */
function reconnecting(
  pod: KubeObject | undefined,
  observed: Observed,
  name: StoreName,
): Omit<Verdict, 'type'> | undefined {
  const since = pod && trueCondition(pod, 'Ready')?.lastTransitionTime;
  const state = observed.api.health[HEALTH_CHECKS[name]];
  if (since === undefined || state === undefined || state === 'ok') return undefined;
  if (observed.now.getTime() - Date.parse(since) >= RECONNECT_MS) return undefined;
  return no('Starting', `pod ${pod?.metadata.name} is ready since ${since}: the server reconnects`);
}

const HEALTH_CHECKS: Record<StoreName, string> = { postgres: 'database', redis: 'redis', objects: 'objects' };
const WHERE: Record<StoreName, (server: Server) => string> = {
  postgres: (server) => `check Secret ${databaseKey(server).name} and at the database`,
  redis: (server) => `check Secret ${redisKey(server).name} and at Redis`,
  objects: (server) =>
    `check Secret ${server.spec.objects.secretRef?.name ?? nameOf(server, 'objects')} and at the object store`,
};

/** The state that the server itself reports. */
const reportedByServer =
  (name: StoreName, fault: Reason): Check =>
  ({ server, observed }) => {
    const state = observed.api.health[HEALTH_CHECKS[name]];
    if (state === 'ok') return yes('Connected', 'It answers');
    if (state) return no(fault, `the server reports ${state}: ${WHERE[name](server)}`);
    return server.spec[name].managed ? yes('Connected', 'Its pod is ready') : undefined;
  };

const cluster: Check = ({ server, observed }) => {
  if (!server.spec.postgres.cloudNativePG || observed.secrets.has(databaseKey(server).name)) return undefined;
  const name = nameOf(server, 'postgres');
  const there = childOf(observed, 'Cluster', name);
  const message = `Cluster ${name} is not ready yet: kubectl describe cluster ${name}`;
  return no(justStarts(there, [], observed) ? 'Starting' : 'DatabaseUnreachable', message);
};

const untried: Check = () => unknown('Starting', 'The server has not connected to it yet');

export const database = (input: CheckInput): Verdict =>
  judge('DatabaseReady', input, [
    faultOf('DatabaseReady'),
    cluster,
    storePod('postgres', 'DatabaseUnreachable'),
    reportedByServer('postgres', 'DatabaseUnreachable'),
    untried,
  ]);

export const redis = (input: CheckInput): Verdict =>
  judge('RedisReady', input, [
    faultOf('RedisReady'),
    storePod('redis', 'RedisUnreachable'),
    reportedByServer('redis', 'RedisUnreachable'),
    untried,
  ]);

export const objects = (input: CheckInput): Verdict =>
  judge('ObjectsReady', input, [
    faultOf('ObjectsReady'),
    storePod('objects', 'ObjectsUnreachable'),
    reportedByServer('objects', 'ObjectsUnreachable'),
    untried,
  ]);

const waits = ({ release }: Observed): Omit<Verdict, 'type'> =>
  release?.restore
    ? no('MigrationPending', `Job ${release.restore.metadata.name} restores a backup first`)
    : no('WaitingForDatabase', 'The stores are not ready yet');

/** Before an upgrade: the migration starts only after its backup Job completed. */
const backupFirst: Check = ({ server, observed, plan }) => {
  if (plan.backup === undefined || plan.current) return undefined;
  const job = childOf(observed, 'Job', plan.backup);
  if (!job) return waits(observed);
  if (trueCondition(job, 'Failed'))
    return no(
      'BackupFailed',
      `the backup before the upgrade to ${plan.version} failed, the previous version keeps running: kubectl logs job/${plan.backup}; it is retried after 5 minutes: ${howToGoOn(plan.version)}`,
    );
  const refused = refusedPod(job, observed);
  if (refused) return no('Refused', refused);
  const trouble = troubleIn(server, 'backup', observed);
  if (trouble) return no(trouble.reason, trouble.message);
  return no('MigrationPending', `Job ${plan.backup} creates the backup before the upgrade`);
};

const failedJob: Check = ({ server, observed, plan }) => {
  const names = [plan.migration, plan.contraction].filter((name) => name !== undefined);
  const failed = names.find((name) => trueCondition(childOf(observed, 'Job', name), 'Failed'));
  if (!failed || (failed === plan.migration && plan.current)) return undefined;
  const trouble = troubleIn(server, 'migrate', observed);
  const detail = trouble ? ` (${trouble.message})` : '';
  return no(
    'MigrationFailed',
    `Job ${failed} failed${detail}: kubectl logs job/${failed}; it is retried after 5 minutes`,
  );
};

const pending: Check = ({ server, observed, plan }) => {
  if (plan.current) return undefined;
  if (!plan.migration) return no('MigrationPending', 'The spec has a fault that must be fixed first');
  const job = childOf(observed, 'Job', plan.migration);
  if (!job) return waits(observed);
  const refused = refusedPod(job, observed);
  if (refused) return no('Refused', refused);
  const trouble = troubleIn(server, 'migrate', observed);
  return trouble ? no(trouble.reason, trouble.message) : no('MigrationPending', `Job ${plan.migration} runs`);
};

export const migrations = (input: CheckInput): Verdict =>
  judge('MigrationsApplied', input, [
    backupFirst,
    failedJob,
    pending,
    () => yes('Completed', 'The schema matches this version'),
  ]);

function oneNodeWords({ spec }: Server, { claims }: Observed): string {
  const names = [...new Set(mediaClaims(spec))].filter((name) => claims.get(name) === 'one-node');
  if (names.length === 0) return '';
  return `; ${names.join(', ')}: ReadWriteOnce, so all pods that mount media run on one node; with a ReadWriteMany claim they can spread`;
}

const bucketWords = ({ spec }: Server): string =>
  spec.media.some(({ s3 }) => s3) ? ', and the server reads every bucket' : '';

export const media = (input: CheckInput): Verdict =>
  judge('MediaReady', input, [
    faultOf('MediaReady'),
    ({ server, observed }) => bucketsVerdict(server.spec, observed.buckets),
    ({ server }) => (server.spec.media.length === 0 ? no('NoneAsked', 'spec.media is empty') : undefined),
    ({ server, observed }) =>
      yes('Valid', `Every volume exists${bucketWords(server)}${oneNodeWords(server, observed)}`),
  ]);

/** The size of an existing claim. */
const fixedVolumes: Check = ({ server, observed }) => {
  for (const name of ['postgres', 'objects'] as const) {
    const set = childOf(observed, 'StatefulSet', nameOf(server, name));
    const wanted = server.spec[name].managed?.storage;
    const there = set && storageOf(set);
    if (wanted !== undefined && there !== undefined && String(wanted) !== there)
      return no(
        'CannotChange',
        `spec.${name}.managed.storage is ${there} in the claim data-${nameOf(server, name)}-0: resize that claim yourself, and set ${there} here again`,
      );
  }
  return undefined;
};

function storageOf({ spec }: KubeObject): string | undefined {
  const { volumeClaimTemplates: claims = [] } = spec as {
    volumeClaimTemplates?: { spec: { resources: { requests: { storage: string } } } }[];
  };
  return claims[0]?.spec.resources.requests.storage;
}

/** The settings that the server reports, once all of its pods run this spec. */
const settingsLeftOut: Check = ({ server, observed, plan }) => {
  const api = childOf(observed, 'Deployment', nameOf(server, 'api'));
  if (!observed.settings || !plan.current || !api || !workloadOf(api).settled) return undefined;
  const { refused, unknown: absent } = leftOut(declaredKeys(server.spec, observed.secrets), observed.settings);
  if (refused.length > 0)
    return no('SpecInvalid', `the server rejects the values of ${refused.join(', ')} and ignores them: correct them`);
  return absent.length > 0
    ? no('NotServed', `${absent.join(', ')}: stored, and this version does not use them yet`)
    : undefined;
};

export const settings = (input: CheckInput): Verdict =>
  judge('SettingsValid', input, [
    faultOf('SettingsValid'),
    fixedVolumes,
    settingsLeftOut,
    () => yes('Valid', 'The settings are in force'),
  ]);

export function transcode({ server, plan }: CheckInput): Verdict {
  if (plan.pool) return transcodeVerdict(server.spec.transcode, plan.pool.state);
  return { type: 'TranscodeReady', ...no('ServerNotReady', 'Workers start with the first roll-out') };
}

/** Parses uploaded pictures. While it is unavailable only those pictures wait. */
export const parser = (input: CheckInput): Verdict =>
  judge('ParserReady', input, [
    ({ server }) =>
      server.spec.parser.replicas === 0
        ? no('ScaledToZero', 'spec.parser.replicas is 0: uploaded pictures are refused')
        : undefined,
    ({ server, observed }) => {
      const there = childOf(observed, 'Deployment', nameOf(server, 'parser'));
      if (there && workloadOf(there).ready > 0) return yes('Running', 'It parses pictures');
      const trouble = troubleIn(server, 'parser', observed);
      if (trouble) return no(trouble.reason, trouble.message);
      if (!there) return no('ServerNotReady', 'It starts with the first roll-out');
      return notAvailable(there, { server, observed });
    },
  ]);
