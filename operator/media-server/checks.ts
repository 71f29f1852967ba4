// One verdict for each part of a server. Pure.
import { howToGoOn } from '../backup-first.ts';
import type { KubeObject } from '../runtime/kube.ts';
import type { Reason, Verdict } from '../schemas/conditions.ts';
import { leftOut } from '../server-api/settings.ts';
import { declaredKeys } from '../server-environment.ts';
import { databaseKey, redisKey } from './desired/context.ts';
import { mediaClaims } from './desired/media.ts';
import { nameOf } from './desired/meta.ts';
import type { StoreName } from './desired/stores.ts';
import type { Fault } from './faults.ts';
import { childOf, holding, type Seen, workloadOf } from './observed.ts';
import type { Plan } from './plan.ts';
import { podsOf, troubleIn } from './pod-trouble.ts';
import { refusedPod } from './refused-pods.ts';
import type { Server } from './server.ts';
import { justStarts, notAvailable } from './starting.ts';
import { transcodeVerdict } from './transcode-verdict.ts';

export interface Looked {
  server: Server;
  seen: Seen;
  plan: Plan;
}

export type Check = (looked: Looked) => Omit<Verdict, 'type'> | undefined;

const RECONNECT_MS = 30_000;

export const yes = (reason: Reason, message: string): Omit<Verdict, 'type'> => ({ status: 'True', reason, message });
export const no = (reason: Reason, message: string): Omit<Verdict, 'type'> => ({ status: 'False', reason, message });
const unknown = (reason: Reason, message: string): Omit<Verdict, 'type'> => ({ status: 'Unknown', reason, message });

/** The first that has something to say. */
export function judge(type: string, looked: Looked, chain: readonly Check[]): Verdict {
  for (const check of chain) {
    const said = check(looked);
    if (said) return { type, ...said };
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

/** A store that this operator runs: its pod must be ready. */
const storePod =
  (name: StoreName, fault: Reason): Check =>
  ({ server, seen }) => {
    if (!server.spec[name].managed) return undefined;
    const set = childOf(seen, 'StatefulSet', nameOf(server, name));
    const [pod] = podsOf(server, name, seen.pods);
    if (set && workloadOf(set).ready > 0) return reconnecting(pod, seen, name);
    const trouble = troubleIn(server, name, seen);
    if (trouble) return no(trouble.reason, trouble.message);
    const refused = refusedPod(set, seen);
    if (refused) return no('Refused', refused);
    const message = `pod ${nameOf(server, name)}-0 is not ready yet: kubectl describe pod ${nameOf(server, name)}-0`;
    return no(justStarts(set, pod ? [pod] : [], seen) ? 'Starting' : fault, message);
  };

/** A store whose pod became ready a moment ago: the server tries it again. */
function reconnecting(pod: KubeObject | undefined, seen: Seen, name: StoreName): Omit<Verdict, 'type'> | undefined {
  const since = pod && holding(pod, 'Ready')?.lastTransitionTime;
  const state = seen.api.health[SEEN_BY[name]];
  if (since === undefined || state === undefined || state === 'ok') return undefined;
  if (seen.now.getTime() - Date.parse(since) >= RECONNECT_MS) return undefined;
  return no('Starting', `pod ${pod?.metadata.name} is ready since ${since}: the server connects to it again`);
}

const SEEN_BY: Record<StoreName, string> = { postgres: 'database', redis: 'redis', objects: 'objects' };
const WHERE: Record<StoreName, (server: Server) => string> = {
  postgres: (server) => `look at Secret ${databaseKey(server).name} and at the database`,
  redis: (server) => `look at Secret ${redisKey(server).name} and at Redis`,
  objects: (server) =>
    `look at Secret ${server.spec.objects.secretRef?.name ?? nameOf(server, 'objects')} and at the object store`,
};

/** As the server itself finds it. */
const seenByServer =
  (name: StoreName, fault: Reason): Check =>
  ({ server, seen }) => {
    const state = seen.api.health[SEEN_BY[name]];
    if (state === 'ok') return yes('Connected', 'It answers');
    if (state) return no(fault, `the server finds it ${state}: ${WHERE[name](server)}`);
    return server.spec[name].managed ? yes('Connected', 'Its pod is ready') : undefined;
  };

const cluster: Check = ({ server, seen }) => {
  if (!server.spec.postgres.cloudNativePG || seen.secrets.has(databaseKey(server).name)) return undefined;
  const name = nameOf(server, 'postgres');
  const there = childOf(seen, 'Cluster', name);
  const message = `Cluster ${name} is not up yet: kubectl describe cluster ${name}`;
  return no(justStarts(there, [], seen) ? 'Starting' : 'DatabaseUnreachable', message);
};

const untried: Check = () => unknown('Starting', 'The server has not tried it yet');

export const database = (looked: Looked): Verdict =>
  judge('DatabaseReady', looked, [
    faultOf('DatabaseReady'),
    cluster,
    storePod('postgres', 'DatabaseUnreachable'),
    seenByServer('postgres', 'DatabaseUnreachable'),
    untried,
  ]);

export const redis = (looked: Looked): Verdict =>
  judge('RedisReady', looked, [
    faultOf('RedisReady'),
    storePod('redis', 'RedisUnreachable'),
    seenByServer('redis', 'RedisUnreachable'),
    untried,
  ]);

export const objects = (looked: Looked): Verdict =>
  judge('ObjectsReady', looked, [
    faultOf('ObjectsReady'),
    storePod('objects', 'ObjectsUnreachable'),
    seenByServer('objects', 'ObjectsUnreachable'),
    untried,
  ]);

const waits = ({ release }: Seen): Omit<Verdict, 'type'> =>
  release?.restore
    ? no('MigrationPending', `Job ${release.restore.metadata.name} restores a backup first`)
    : no('WaitingForDatabase', 'The stores are not ready yet');

/** Before another version: nothing is migrated until its Job is through. */
const backupFirst: Check = ({ server, seen, plan }) => {
  if (plan.backup === undefined || plan.current) return undefined;
  const job = childOf(seen, 'Job', plan.backup);
  if (!job) return waits(seen);
  if (holding(job, 'Failed'))
    return no(
      'BackupFailed',
      `the backup before the upgrade to ${plan.version} failed, the version before goes on: kubectl logs job/${plan.backup}; it is tried again after 5 minutes: ${howToGoOn(plan.version)}`,
    );
  const refused = refusedPod(job, seen);
  if (refused) return no('Refused', refused);
  const trouble = troubleIn(server, 'backup', seen);
  if (trouble) return no(trouble.reason, trouble.message);
  return no('MigrationPending', `Job ${plan.backup} makes the backup before the upgrade`);
};

const failedJob: Check = ({ server, seen, plan }) => {
  const names = [plan.migration, plan.contraction].filter((name) => name !== undefined);
  const failed = names.find((name) => holding(childOf(seen, 'Job', name), 'Failed'));
  if (!failed || (failed === plan.migration && plan.current)) return undefined;
  const trouble = troubleIn(server, 'migrate', seen);
  const detail = trouble ? ` (${trouble.message})` : '';
  return no(
    'MigrationFailed',
    `Job ${failed} failed${detail}: kubectl logs job/${failed}; it is tried again after 5 minutes`,
  );
};

const pending: Check = ({ server, seen, plan }) => {
  if (plan.current) return undefined;
  if (!plan.migration) return no('MigrationPending', 'The spec has a fault that comes first');
  const job = childOf(seen, 'Job', plan.migration);
  if (!job) return waits(seen);
  const refused = refusedPod(job, seen);
  if (refused) return no('Refused', refused);
  const trouble = troubleIn(server, 'migrate', seen);
  return trouble ? no(trouble.reason, trouble.message) : no('MigrationPending', `Job ${plan.migration} runs`);
};

export const migrations = (looked: Looked): Verdict =>
  judge('MigrationsApplied', looked, [
    backupFirst,
    failedJob,
    pending,
    () => yes('Completed', 'The schema is that of this version'),
  ]);

function oneNodeWords({ spec }: Server, { claims }: Seen): string {
  const names = [...new Set(mediaClaims(spec))].filter((name) => claims.get(name) === 'one-node');
  if (names.length === 0) return '';
  return `; ${names.join(', ')}: ReadWriteOnce, so all pods that read media are kept on one node; a claim that is ReadWriteMany lets them spread`;
}

export const media = (looked: Looked): Verdict =>
  judge('MediaReady', looked, [
    faultOf('MediaReady'),
    ({ server }) => {
      const buckets = server.spec.media.filter(({ s3 }) => s3).map(({ name }) => name);
      if (buckets.length === 0) return undefined;
      const message = `media ${buckets.join(', ')}: buckets are not served by this version: use a claim, nfs or hostPath`;
      return no('NotServed', message);
    },
    ({ server }) => (server.spec.media.length === 0 ? no('NoneAsked', 'spec.media is empty') : undefined),
    ({ server, seen }) => yes('Valid', `Every volume exists${oneNodeWords(server, seen)}`),
  ]);

/** A size that a claim has already. */
const fixedVolumes: Check = ({ server, seen }) => {
  for (const name of ['postgres', 'objects'] as const) {
    const set = childOf(seen, 'StatefulSet', nameOf(server, name));
    const wanted = server.spec[name].managed?.storage;
    const there = set && storageOf(set);
    if (wanted !== undefined && there !== undefined && String(wanted) !== there)
      return no(
        'CannotChange',
        `spec.${name}.managed.storage is ${there} in the claim data-${nameOf(server, name)}-0: enlarge that claim yourself, and put ${there} back here`,
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

/** As the server itself says, once all of its pods are of this spec. */
const settingsLeftOut: Check = ({ server, seen, plan }) => {
  const api = childOf(seen, 'Deployment', nameOf(server, 'api'));
  if (!seen.settings || !plan.current || !api || !workloadOf(api).settled) return undefined;
  const { refused, unknown: absent } = leftOut(declaredKeys(server.spec, seen.secrets), seen.settings);
  if (refused.length > 0)
    return no(
      'SpecInvalid',
      `the server does not take the values of ${refused.join(', ')}, and goes on as if they were not declared: correct them`,
    );
  return absent.length > 0
    ? no('NotServed', `${absent.join(', ')}: kept, and this version does nothing with them yet`)
    : undefined;
};

export const settings = (looked: Looked): Verdict =>
  judge('SettingsValid', looked, [
    faultOf('SettingsValid'),
    fixedVolumes,
    settingsLeftOut,
    () => yes('Valid', 'The settings are in force'),
  ]);

export function transcode({ server, plan }: Looked): Verdict {
  if (plan.pool) return transcodeVerdict(server.spec.transcode, plan.pool.seen);
  return { type: 'TranscodeReady', ...no('ServerNotReady', 'Workers start with the first roll-out') };
}

/** What opens what others made; while it is away their pictures wait, and nothing else does. */
export const parser = (looked: Looked): Verdict =>
  judge('ParserReady', looked, [
    ({ server }) =>
      server.spec.parser.replicas === 0
        ? no('ScaledToZero', 'spec.parser.replicas is 0: pictures that people send are refused for now')
        : undefined,
    ({ server, seen }) => {
      const there = childOf(seen, 'Deployment', nameOf(server, 'parser'));
      if (there && workloadOf(there).ready > 0) return yes('Running', 'It opens pictures');
      const trouble = troubleIn(server, 'parser', seen);
      if (trouble) return no(trouble.reason, trouble.message);
      if (!there) return no('ServerNotReady', 'It starts with the first roll-out');
      return notAvailable(there, { server, seen });
    },
  ]);

export const subtitles = (looked: Looked): Verdict =>
  judge('SubtitlesReady', looked, [
    ({ server }) => (server.spec.subtitles ? undefined : no('NoneAsked', 'spec.subtitles is absent')),
    ({ server, seen }) => {
      const trouble = troubleIn(server, 'subtitles', seen);
      return trouble && no(trouble.reason, trouble.message);
    },
    ({ seen }) => (seen.api.health.subtitles === 'ok' ? yes('Running', 'The speech model answers') : undefined),
    () => no('NotServed', 'no model loaded: this version makes no subtitles from speech yet'),
  ]);
