// Computes all desired objects from the observed state. Pure, except for the injected randomness.
import { type Fresh, sha256 } from '../keys.ts';
import type { KubeObject } from '../runtime/kube.ts';
import type { Manifest } from '../runtime/manifest.ts';
import type { Secrets } from '../server-environment.ts';
import { apiAutoscaler, apiDisruptionBudget, apiService } from './desired/api.ts';
import type { Context, SpeechPlan, StoreVolume } from './desired/context.ts';
import { environmentSecret, ownerSecret } from './desired/environment.ts';
import { type DefaultImages, imagesOf } from './desired/images.ts';
import { httpRoute, ingress } from './desired/ingress.ts';
import { nameOf } from './desired/meta.ts';
import { monitoringObjects } from './desired/monitoring.ts';
import { networkPolicies } from './desired/network-policies.ts';
import { parserService } from './desired/parser.ts';
import { ROTATION, secretsMadeOnce } from './desired/secrets.ts';
import { serviceAccount } from './desired/service-account.ts';
import { cloudNativePGCluster, managedStores } from './desired/stores.ts';
import { type Fault, faultsOf } from './faults.ts';
import { lostSecrets } from './lost-secrets.ts';
import { childOf, childrenOf, type Observed } from './observed.ts';
import { type Pool, poolOf } from './pool.ts';
import { type Recovery, recoveryOf } from './recovery.ts';
import { type Release, releaseObject, withReplicas } from './release.ts';
import { restoreJobs, restoreOf } from './restore.ts';
import { deployments, type RollOut, rollOut, versionIn } from './roll-out.ts';
import type { Server } from './server.ts';
import { planSpeech } from './speech-plan.ts';
import { managedIn, nothingElseRuns, withStores } from './stores-in-use.ts';

/** Inputs of a plan that are neither declared nor observed. */
export interface Tools {
  images: DefaultImages;
  /** CIDRs of the cluster's pods and services. */
  clusterNetworks: readonly string[];
  /** Makes random secrets. */
  fresh: Fresh;
}

/** The result of a pass: objects to apply, and facts for the status. */
export interface Plan {
  /** Mistakes in the spec or its references. While there are any, no roll-out starts. */
  faults: Fault[];
  /** Managed stores are not changed, and nothing is pruned. */
  holdsStores: boolean;
  objects: Manifest[];
  /** Name of the expand Job of the next roll-out; undefined while the resource has faults. */
  migration: string | undefined;
  /** Name of the backup Job that the migration waits for. */
  backup: string | undefined;
  /** Target version of the next roll-out. */
  version: string;
  /** Name of the contract Job of this version. */
  contraction: string | undefined;
  /** A claim code is needed, because no owner exists. */
  claim: boolean;
  /** The release in force after this pass; undefined before the first roll-out. */
  release: Release | undefined;
  /** The release in force matches the spec. */
  current: boolean;
  pool: Pool | undefined;
  speech: SpeechPlan;
  recovery: Recovery;
}

/** Three steps, each from the results before: secrets and context, releases, objects. */
export function planServer(server: Server, observed: Observed, tools: Tools): Plan {
  const faults = faultsOf(server, observed);
  const holdsStores = faults.some((fault) => fault.holdsStores);
  const prepared = prepare(server, observed, { ...tools, valid: faults.length === 0, holdsStores });
  const releases = releasesOf(prepared, observed);
  const { next, release, pool } = releases;
  return {
    faults,
    holdsStores,
    objects: objectsOf(prepared, releases, observed),
    migration: next?.migration,
    backup: next?.backup,
    version: versionIn(prepared.context.images.foyer),
    contraction: next?.contraction,
    claim: prepared.claim,
    release,
    current: next?.ready === true,
    pool,
    speech: prepared.context.speech,
    recovery: prepared.recovery,
  };
}

interface Validity {
  /** The resource has no faults. */
  valid: boolean;
  /** As in Plan. */
  holdsStores: boolean;
}

interface Prepared {
  /** For objects of the new release. */
  context: Context;
  /** The context with managed stores that the spec no longer has, and that pods still use. */
  storeContext: Context;
  claim: boolean;
  recovery: Recovery;
  holdsStores: boolean;
  /** Secrets that are created once and then kept. */
  created: Manifest<'Secret'>[];
  /** Built from referenced objects; undefined while the resource has faults. */
  environment: Manifest<'Secret'> | undefined;
  owner: Manifest<'Secret'> | undefined;
}

/** Secrets first: the context and the environment read those that this pass creates, too. */
function prepare(server: Server, observed: Observed, { valid, holdsStores, ...tools }: Tools & Validity): Prepared {
  const { images, fresh, clusterNetworks } = tools;
  const claim = needsClaim(server, observed, valid);
  const rotatedFor = observed.notes.get(nameOf(server, 'operator-key'))?.[ROTATION];
  const serverWithStores = withStores(server, observed.release?.managed);
  const lost = new Set(lostSecrets(serverWithStores, observed).map(({ secret }) => secret));
  const created = secretsMadeOnce(serverWithStores, { observed: observed.secrets, rotatedFor, claim, fresh, lost });
  const recovery = recoveryOf(server, observed, fresh);
  const secrets = withCreated(observed.secrets, [...created, ...recovery.secrets]);
  const environment = valid ? environmentSecret(server, secrets) : undefined;
  const context: Context = {
    server,
    images: imagesOf(server.spec, images),
    clusterNetworks,
    secrets,
    configMaps: observed.configMaps,
    environment: environment?.metadata.name ?? '',
    oneNode: new Set([...observed.claims].flatMap(([name, sharing]) => (sharing === 'one-node' ? [name] : []))),
    volumes: volumesOf(server, observed),
    speech: planSpeech(server, observed),
    claimSha256: claimSha256(server, secrets, observed.release),
  };
  const storeContext = { ...context, server: serverWithStores, images: imagesOf(serverWithStores.spec, images) };
  const owner = valid ? ownerSecret(server, secrets) : undefined;
  return { context, storeContext, holdsStores, claim, recovery, created, environment, owner };
}

interface Releases {
  next: RollOut | undefined;
  /** The release in force after this pass. */
  release: Release | undefined;
  pool: Pool | undefined;
}

/** The release in force changes only when the new one is ready. Stores that old pods use stay in it until they end. */
function releasesOf({ context, storeContext, environment, recovery }: Prepared, observed: Observed): Releases {
  const next = environment && rollOut(context, observed);
  const release = next?.ready ? next.release : releaseInForce(observed.release, context);
  if (!release) return { next, release, pool: undefined };
  const pool = poolOf(context.server, observed, { template: release.transcode, templates: release.templates });
  const isRolledOut = next?.ready === true && nothingElseRuns(next.release, observed);
  const managed = managedIn((isRolledOut ? context : storeContext).server);
  const { restore: _before, ...rest } = release; // recomputed in each pass
  const restore = restoreOf(context, observed, next?.ready === true);
  const additions = { managed, templates: pool.templates, ...recovery.mark, ...(restore && { restore }) };
  return { next, release: { ...rest, ...additions }, pool };
}

/** In the order of writing: dependencies first. */
function objectsOf(prepared: Prepared, { next, release, pool }: Releases, observed: Observed): Manifest[] {
  const { context, storeContext, environment, owner, recovery } = prepared;
  const { server } = context;
  return [
    serviceAccount(server),
    ...prepared.created,
    ...recovery.secrets,
    ...(environment ? [environment] : []),
    ...(owner ? [owner] : keptOwner(server, observed)),
    ...environmentsInUse(server, observed, environment?.metadata.name),
    ...storesOf(prepared, observed),
    apiService(server),
    parserService(server),
    ...independentObjects(storeContext, observed),
    ...(next ? rollOutJobs(prepared, next) : []),
    ...restoreJobs(release?.restore, context, observed),
    ...(release ? [releaseObject(server, release), ...release.deployments] : []),
    ...(pool?.jobs ?? []),
  ];
}

/** Databases, caches and object stores. The Cluster of CloudNativePG follows the spec even while the others are held. */
const storesOf = ({ context, storeContext, holdsStores }: Prepared, { served }: Observed): Manifest[] => [
  ...(holdsStores ? [] : managedStores(storeContext)),
  ...(served.has('Cluster') ? cloudNativePGCluster(context) : []),
];

/** Jobs of the roll-out; those of a recovery wait until it is ready. */
const rollOutJobs = ({ context, recovery }: Prepared, { jobs, ready }: RollOut): Manifest<'Job'>[] => [
  ...jobs,
  ...(ready ? recovery.jobs(context) : []),
];

/** Objects that do not depend on a roll-out. */
function independentObjects(context: Context, { served }: Observed): Manifest[] {
  const { server } = context;
  return [
    ...apiDisruptionBudget(context),
    ...apiAutoscaler(server),
    ...ingress(server),
    ...(served.has('HTTPRoute') ? httpRoute(server) : []),
    ...networkPolicies(context),
    ...monitoringObjects(server, served),
  ];
}

/** A claim code is needed until an owner exists. While that is unknown, an existing code stays. */
function needsClaim(server: Server, { api, secrets, release }: Observed, valid: boolean): boolean {
  if (api.setupComplete === true) return false;
  const exists = secrets.has(nameOf(server, 'claim'));
  if (server.spec.ownerSecretRef) return exists && !valid;
  return api.setupComplete === false || release === undefined || exists;
}

/** The hash stays after the code was deleted, so that the deletion does not cause another migration. */
function claimSha256(server: Server, secrets: Secrets, release: Release | undefined): string | undefined {
  const code = secrets.get(nameOf(server, 'claim'))?.code;
  return code === undefined ? release?.claimSha256 : sha256(code);
}

/** The observed Secrets and those that this pass creates, as texts by key. */
function withCreated(observed: Secrets, created: readonly Manifest<'Secret'>[]): Secrets {
  const texts = ({ data = {} }: Manifest<'Secret'>): Record<string, string> =>
    Object.fromEntries(Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')]));
  return new Map([...observed, ...created.map((object) => [object.metadata.name, texts(object)] as const)]);
}

/** Volumes of existing StatefulSets; undefined for one without a volume. */
function volumesOf(server: Server, observed: Observed): Map<string, StoreVolume | undefined> {
  const volumes = new Map<string, StoreVolume | undefined>();
  for (const name of ['postgres', 'redis', 'objects']) {
    const set = childOf(observed, 'StatefulSet', nameOf(server, name));
    if (set) volumes.set(name, volumeOf(set));
  }
  return volumes;
}

/** The part of a volume claim template that is read. */
interface Claim {
  metadata: { annotations?: Record<string, string> };
  spec: { storageClassName?: string; resources: { requests: { storage: string } } };
}

function volumeOf({ spec }: KubeObject): StoreVolume | undefined {
  const [claim] = (spec as { volumeClaimTemplates?: Claim[] }).volumeClaimTemplates ?? [];
  if (!claim) return undefined;
  const { annotations } = claim.metadata;
  const { resources, storageClassName } = claim.spec;
  return { storage: resources.requests.storage, storageClassName, annotations };
}

/** While the roll-out waits: the release in force, with the replicas of the spec. */
function releaseInForce(release: Release | undefined, context: Context): Release | undefined {
  if (!release) return undefined;
  return { ...release, deployments: withReplicas(release.deployments, deployments(context)) };
}

/**
 * Environment Secrets that pods or the release still use, other than the next one. Any mention of the name counts as use.
 */
function environmentsInUse(server: Server, observed: Observed, next: string | undefined): Manifest<'Secret'>[] {
  const prefix = nameOf(server, 'environment-');
  const others = childrenOf(observed, 'Secret').filter(
    ({ metadata: { name } }) => name.startsWith(prefix) && name !== next,
  );
  if (others.length === 0) return [];
  const users = [...childrenOf(observed, 'Deployment'), ...childrenOf(observed, 'Job'), ...observed.pods];
  const text = JSON.stringify([users.map(({ spec }) => spec), observed.release]);
  return others.filter(({ metadata }) => text.includes(`"${metadata.name}"`)).map(withoutServerFields);
}

/** Without the fields that the API server sets. */
function withoutServerFields({ metadata, ...secret }: KubeObject): Manifest<'Secret'> {
  const { name, namespace, labels } = metadata;
  const { type, data } = secret as Pick<Manifest<'Secret'>, 'type' | 'data'>;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name, ...(namespace && { namespace }), ...(labels && { labels }) },
    type,
    data,
  };
}

/** The Secret of the owner stays while the spec has faults. */
const keptOwner = (server: Server, observed: Observed): Manifest<'Secret'>[] =>
  childrenOf(observed, 'Secret')
    .filter(({ metadata }) => metadata.name === nameOf(server, 'owner') && server.spec.ownerSecretRef)
    .map(withoutServerFields);
