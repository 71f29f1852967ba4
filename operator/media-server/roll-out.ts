// The next release: what must run before it, what it is made of, what runs after it. Pure.
import { WITHOUT_BACKUP } from '../backup-first.ts';
import type { KubeObject } from '../runtime/kube.ts';
import { apiDeployment } from './desired/api.ts';
import { backupFirstJob } from './desired/backup-first.ts';
import type { Context } from './desired/context.ts';
import { nameOf } from './desired/meta.ts';
import { contractJob, expandJob } from './desired/migrate.ts';
import { parserDeployment } from './desired/parser.ts';
import { transcodeTemplates } from './desired/transcode.ts';
import { subtitlesDeployment, workersDeployment } from './desired/workers.ts';
import { childOf, childrenOf, holding, type Seen, workloadOf } from './observed.ts';
import type { Release } from './release.ts';
import type { Server } from './server.ts';
import { templateHash } from './transcode-jobs.ts';

/** A failed migration is tried again after this long; its log can be read meanwhile. */
export const RETRY_MS = 5 * 60_000;

export interface RollOut {
  migration: string;
  contraction: string;
  /** The Job that the migration waits for: a backup, before another version. */
  backup: string | undefined;
  /** The migration is through: this release may be in force. */
  ready: boolean;
  release: Release;
  jobs: KubeObject[];
}

export function rollOut(context: Context, seen: Seen): RollOut {
  const { hash, job } = expandJob(context);
  const contraction = contractJob(context);
  const there = childOf(seen, 'Job', job.metadata.name);
  const released = seen.release?.hash === hash;
  const backup = released || there ? undefined : backupFirst(context, seen);
  const due = (of: KubeObject): KubeObject[] => (isDue(of, context, seen) ? [of] : []);
  const contract = wantsContract(contraction, seen, released) ? [contraction] : [];
  return {
    migration: job.metadata.name,
    contraction: contraction.metadata.name,
    ready: released || holding(there, 'Complete') !== undefined,
    backup: backup?.metadata.name,
    release: releaseFrom(context, seen.release, hash),
    jobs: [...due(backup ?? job), ...contract],
  };
}

function releaseFrom(context: Context, before: Release | undefined, hash: string): Release {
  const { environment, claimSha256 } = context;
  const built = transcodeTemplates(context);
  const transcode = templateHash(built.cpu, built.accelerated);
  const templates = { ...before?.templates, [transcode]: built };
  return {
    hash,
    environment,
    ...(claimSha256 !== undefined && { claimSha256 }),
    deployments: deployments(context),
    transcode,
    templates,
    ...(before?.recovered !== undefined && { recovered: before.recovered }),
  };
}

export const deployments = (context: Context): KubeObject[] => [
  parserDeployment(context),
  apiDeployment(context),
  workersDeployment(context),
  ...subtitlesDeployment(context),
];

const imageIn = (object: KubeObject | undefined): string | undefined =>
  (object?.spec as { template: { spec: PodSpec } } | undefined)?.template.spec.containers[0]?.image;

/** What waits for another version to take over from the one in force: its Job, until that is through. */
function backupFirst(context: Context, seen: Seen): KubeObject | undefined {
  const { server, images } = context;
  const { release } = seen;
  const name = nameOf(server, 'api');
  const before = imageIn(release?.deployments.find(({ metadata }) => metadata.name === name));
  if (before === undefined || before === images.foyer || versionIn(images.foyer) === server.annotations[WITHOUT_BACKUP])
    return undefined;
  const job = backupFirstJob(context);
  return holding(childOf(seen, 'Job', job.metadata.name), 'Complete') ? undefined : job;
}

/** Another version than the one before, which is wanted or is on its way to every pod. */
export function upgradeUnderWay(version: string, server: Server, seen: Seen): string | undefined {
  const { release, known } = seen;
  const api = release?.deployments.find(({ metadata }) => metadata.name === nameOf(server, 'api'));
  const image = imageIn(api);
  if (image === undefined) return undefined;
  if (server.spec.suspend) return known.upgradingTo;
  if (versionIn(image) !== version) return version;
  const all = childrenOf(seen, 'Deployment');
  const settled = all.every((object) => workloadOf(object).settled && imageIsOf(object, version));
  return known.upgradingTo === version && !settled ? version : undefined;
}

const imageIsOf = (object: KubeObject, version: string): boolean => versionIn(imageIn(object) ?? '') === version;

/** The tag of an image, or its digest. */
export const versionIn = (image: string): string => /[:@]([^:@/]+)$/.exec(image)?.[1] ?? 'latest';

/** It would only use up its attempts before its database answers or while a backup is restored into it, and is not made again for a while once it failed. */
function isDue({ metadata }: KubeObject, context: Context, seen: Seen): boolean {
  const there = childOf(seen, 'Job', metadata.name);
  const begins = seen.release?.restore === undefined && storesReady(context, seen);
  return (there !== undefined || begins) && !longFailed(there, seen.now);
}

/** Left out, and so deleted: the next pass makes it again. */
function longFailed(job: KubeObject | undefined, now: Date): boolean {
  const failed = holding(job, 'Failed');
  return failed !== undefined && now.getTime() - new Date(failed.lastTransitionTime ?? 0).getTime() >= RETRY_MS;
}

function storesReady({ server, secrets }: Context, seen: Seen): boolean {
  const { postgres, objects } = server.spec;
  const up = (name: string): boolean => {
    const set = childOf(seen, 'StatefulSet', nameOf(server, name));
    return set !== undefined && workloadOf(set).ready > 0;
  };
  const cluster = !postgres.cloudNativePG || secrets.has(`${server.name}-postgres-app`);
  return cluster && (!postgres.managed || up('postgres')) && (!objects.managed || up('objects'));
}

/** Once every pod is of this release; then it stays, so that it does not run twice. */
function wantsContract(job: KubeObject, seen: Seen, released: boolean): boolean {
  const there = childOf(seen, 'Job', job.metadata.name);
  if (longFailed(there, seen.now)) return false;
  const { template } = job.spec as { template: { spec: PodSpec } };
  return there !== undefined || (released && rolledOut(template.spec.containers[0]?.image, seen));
}

const CODE = ['api', 'workers', 'transcode', 'subtitles'];

/** Nothing of another image is left, and nothing of it is to come. */
function rolledOut(image: string | undefined, seen: Seen): boolean {
  const all = childrenOf(seen, 'Deployment');
  const templates = all.map(({ spec }) => (spec as { template: { spec: PodSpec } }).template.spec);
  const pods = [...templates, ...seen.pods.map(({ spec }) => spec as PodSpec)];
  const other = pods.some(({ containers }) => containers.some((one) => CODE.includes(one.name) && one.image !== image));
  return all.length > 0 && !other && all.every((object) => workloadOf(object).settled);
}

interface PodSpec {
  containers: { name: string; image: string }[];
}
