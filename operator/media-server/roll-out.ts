// The next release: the Jobs before it, its content, and the Job after it. Pure.
import { WITHOUT_BACKUP } from '../backup-first.ts';
import type { KubeObject } from '../runtime/kube.ts';
import type { Manifest, PodSpec } from '../runtime/manifest.ts';
import { apiDeployment } from './desired/api.ts';
import { backupFirstJob } from './desired/backup-first.ts';
import type { Context } from './desired/context.ts';
import type { Images } from './desired/images.ts';
import { nameOf } from './desired/meta.ts';
import { contractJob, expandJob } from './desired/migrate.ts';
import { parserDeployment } from './desired/parser.ts';
import { subtitlesDeployment } from './desired/speech.ts';
import { transcodeTemplates } from './desired/transcode.ts';
import { workersDeployment } from './desired/workers.ts';
import { childOf, childrenOf, isSpeech, type Observed, trueCondition, workloadOf } from './observed.ts';
import type { Release } from './release.ts';
import type { Server } from './server.ts';
import { templateHash } from './transcode-jobs.ts';

/** Retry interval of a failed migration; its log stays readable meanwhile. */
export const RETRY_MS = 5 * 60_000;

export interface RollOut {
  migration: string;
  contraction: string;
  /** Name of the backup Job that the migration waits for, before another version. */
  backup: string | undefined;
  /** The migration completed: this release may be in force. */
  ready: boolean;
  release: Release;
  jobs: Manifest<'Job'>[];
}

export function rollOut(context: Context, observed: Observed): RollOut {
  const { hash, job } = expandJob(context);
  const contraction = contractJob(context);
  const existing = childOf(observed, 'Job', job.metadata.name);
  const released = observed.release?.hash === hash;
  const backup = released || existing ? undefined : pendingBackup(context, observed);
  const ifItMayRun = (of: Manifest<'Job'>): Manifest<'Job'>[] => (mayRun(of, context, observed) ? [of] : []);
  const contract = needsContract(contraction, context, { observed, released }) ? [contraction] : [];
  return {
    migration: job.metadata.name,
    contraction: contraction.metadata.name,
    ready: released || trueCondition(existing, 'Complete') !== undefined,
    backup: backup?.metadata.name,
    release: buildRelease(context, observed.release, hash),
    jobs: [...ifItMayRun(backup ?? job), ...contract],
  };
}

function buildRelease(context: Context, before: Release | undefined, hash: string): Release {
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

export const deployments = (context: Context): Manifest<'Deployment'>[] => [
  parserDeployment(context),
  apiDeployment(context),
  workersDeployment(context),
  ...subtitlesDeployment(context),
];

const imageIn = (object: KubeObject | undefined): string | undefined =>
  (object?.spec as { template: { spec: PodSpec } } | undefined)?.template.spec.containers[0]?.image;

/** The backup Job before an upgrade; undefined when it is not needed or completed. */
function pendingBackup(context: Context, observed: Observed): Manifest<'Job'> | undefined {
  const { server, images } = context;
  const { release } = observed;
  const name = nameOf(server, 'api');
  const before = imageIn(release?.deployments.find(({ metadata }) => metadata.name === name));
  if (before === undefined || before === images.foyer || versionIn(images.foyer) === server.annotations[WITHOUT_BACKUP])
    return undefined;
  const job = backupFirstJob(context);
  return trueCondition(childOf(observed, 'Job', job.metadata.name), 'Complete') ? undefined : job;
}

/** The target version of an upgrade, from its start until every pod runs it. */
export function upgradeTarget(version: string, server: Server, observed: Observed): string | undefined {
  const { release, known } = observed;
  const api = release?.deployments.find(({ metadata }) => metadata.name === nameOf(server, 'api'));
  const image = imageIn(api);
  if (image === undefined) return undefined;
  if (server.spec.suspend) return known.upgradingTo;
  if (versionIn(image) !== version) return version;
  const all = childrenOf(observed, 'Deployment');
  const settled = all.every((object) => workloadOf(object).settled && hasVersion(object, version));
  return known.upgradingTo === version && !settled ? version : undefined;
}

/** The image of the speech workers has a version of its own. */
const hasVersion = (object: KubeObject, version: string): boolean =>
  isSpeech(object) || versionIn(imageIn(object) ?? '') === version;

/** Tag or digest of an image. */
export const versionIn = (image: string): string => /[:@]([^:@/]+)$/.exec(image)?.[1] ?? 'latest';

/**
 * A Job is not created before its stores are ready or during a restore, where it would only use up its attempts. A failed Job
 * is deleted after a pause.
 */
function mayRun({ metadata }: KubeObject, context: Context, observed: Observed): boolean {
  const existing = childOf(observed, 'Job', metadata.name);
  const mayStart = observed.release?.restore === undefined && storesReady(context, observed);
  return (existing !== undefined || mayStart) && !failedLongAgo(existing, observed.now);
}

/** The failed Job is omitted, and so pruned: the next pass creates it again. */
function failedLongAgo(job: KubeObject | undefined, now: Date): boolean {
  const failed = trueCondition(job, 'Failed');
  return failed !== undefined && now.getTime() - new Date(failed.lastTransitionTime ?? 0).getTime() >= RETRY_MS;
}

function storesReady({ server, secrets }: Context, observed: Observed): boolean {
  const { postgres, objects } = server.spec;
  const isReady = (name: string): boolean => {
    const set = childOf(observed, 'StatefulSet', nameOf(server, name));
    return set !== undefined && workloadOf(set).ready > 0;
  };
  const cluster = !postgres.cloudNativePG || secrets.has(`${server.name}-postgres-app`);
  return cluster && (!postgres.managed || isReady('postgres')) && (!objects.managed || isReady('objects'));
}

/** Needed once every pod runs this release. It then stays, so that it does not run twice. */
function needsContract(
  job: Manifest<'Job'>,
  { images }: Context,
  { observed, released }: { observed: Observed; released: boolean },
): boolean {
  const existing = childOf(observed, 'Job', job.metadata.name);
  if (failedLongAgo(existing, observed.now)) return false;
  return existing !== undefined || (released && runsEverywhere(images, observed));
}

/** No pod or Deployment has another image, and all Deployments are rolled out. */
function runsEverywhere({ foyer, subtitles }: Images, observed: Observed): boolean {
  const wanted = new Map([
    ['api', foyer],
    ['workers', foyer],
    ['transcode', foyer],
    ['subtitles', subtitles],
  ]);
  const all = childrenOf(observed, 'Deployment');
  const templates = all.map(({ spec }) => (spec as { template: { spec: PodSpec } }).template.spec);
  const pods = [...templates, ...observed.pods.map(({ spec }) => spec as PodSpec)];
  const hasOtherImage = pods.some(({ containers }) =>
    containers.some((one) => wanted.has(one.name) && one.image !== wanted.get(one.name)),
  );
  return all.length > 0 && !hasOtherImage && all.every((object) => workloadOf(object).settled);
}
