// From what was seen to all objects that should be. Pure but for the randomness that is injected.
import { type Fresh, sha256 } from '../keys.ts';
import type { KubeObject } from '../runtime/kube.ts';
import type { Secrets } from '../server-environment.ts';
import { apiAutoscaler, apiDisruptionBudget, apiService } from './desired/api.ts';
import type { Context, StoreVolume } from './desired/context.ts';
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
import { childOf, childrenOf, type Seen } from './observed.ts';
import { type Pool, poolOf } from './pool.ts';
import { type Recovery, recoveryOf } from './recovery.ts';
import { type Release, releaseObject, withReplicas } from './release.ts';
import { restoreJobs, restoreOf } from './restore.ts';
import { deployments, type RollOut, rollOut, versionIn } from './roll-out.ts';
import type { Server } from './server.ts';
import { managedIn, nothingElseRuns, withStores } from './stores-in-use.ts';

export interface Tools {
  images: DefaultImages;
  /** CIDRs of the cluster's pods and services. */
  clusterNetworks: readonly string[];
  fresh: Fresh;
}

export interface Plan {
  faults: Fault[];
  /** The managed stores stay as they are, and nothing is taken away. */
  holdsStores: boolean;
  objects: KubeObject[];
  /** The expand Job that the next roll-out needs; undefined while the resource is faulty. */
  migration: string | undefined;
  /** The Job of the backup that it waits for. */
  backup: string | undefined;
  /** The version that the next roll-out leads to. */
  version: string;
  /** The contract Job of this version. */
  contraction: string | undefined;
  /** A claim code is wanted. */
  claim: boolean;
  /** What is in force after this pass; undefined before the first roll-out. */
  release: Release | undefined;
  /** The release in force is the one of this spec. */
  current: boolean;
  pool: Pool | undefined;
  recovery: Recovery;
}

export function planServer(server: Server, seen: Seen, tools: Tools): Plan {
  const faults = faultsOf(server, seen);
  const holdsStores = faults.some((fault) => fault.holdsStores);
  const base = baseOf(server, seen, { ...tools, valid: faults.length === 0, holdsStores });
  const rolled = rolledOf(base, seen);
  const { next, release, pool } = rolled;
  return {
    faults,
    holdsStores,
    objects: objectsOf(base, rolled, seen),
    migration: next?.migration,
    backup: next?.backup,
    version: versionIn(base.context.images.foyer),
    contraction: next?.contraction,
    claim: base.claim,
    release,
    current: next?.ready === true,
    pool,
    recovery: base.recovery,
  };
}

interface Judged {
  /** Nothing is wrong with the resource. */
  valid: boolean;
  holdsStores: boolean;
}

interface Base {
  context: Context;
  /** The same with the managed stores that the spec no longer has, and that pods still use. */
  stores: Context;
  claim: boolean;
  recovery: Recovery;
  holdsStores: boolean;
  /** Made once. */
  made: KubeObject[];
  /** Made from what the resource names; undefined while it is faulty. */
  environment: KubeObject | undefined;
  owner: KubeObject | undefined;
}

function baseOf(server: Server, seen: Seen, { valid, holdsStores, ...tools }: Tools & Judged): Base {
  const { images, fresh, clusterNetworks } = tools;
  const claim = wantsClaim(server, seen, valid);
  const rotatedFor = seen.notes.get(nameOf(server, 'operator-key'))?.[ROTATION];
  const holding = withStores(server, seen.release?.managed);
  const lost = new Set(lostSecrets(holding, seen).map(({ secret }) => secret));
  const made = secretsMadeOnce(holding, { seen: seen.secrets, rotatedFor, claim, fresh, lost });
  const recovery = recoveryOf(server, seen, fresh);
  const secrets = merged(seen.secrets, [...made, ...recovery.secrets]);
  const environment = valid ? environmentSecret(server, secrets) : undefined;
  const context: Context = {
    server,
    images: imagesOf(server.spec, images),
    clusterNetworks,
    secrets,
    configMaps: seen.configMaps,
    environment: environment?.metadata.name ?? '',
    oneNode: new Set([...seen.claims].flatMap(([name, sharing]) => (sharing === 'one-node' ? [name] : []))),
    volumes: volumesOf(server, seen),
    claimSha256: claimSha256(server, secrets, seen.release),
  };
  const stores = { ...context, server: holding, images: imagesOf(holding.spec, images) };
  const owner = valid ? ownerSecret(server, secrets) : undefined;
  return { context, stores, holdsStores, claim, recovery, made, environment, owner };
}

interface Rolled {
  next: RollOut | undefined;
  /** In force after this pass. */
  release: Release | undefined;
  pool: Pool | undefined;
}

function rolledOf({ context, stores, environment, recovery }: Base, seen: Seen): Rolled {
  const next = environment && rollOut(context, seen);
  const release = next?.ready ? next.release : held(seen.release, context);
  if (!release) return { next, release, pool: undefined };
  const pool = poolOf(context.server, seen, { template: release.transcode, templates: release.templates });
  const over = next?.ready === true && nothingElseRuns(next.release, seen);
  const managed = managedIn((over ? context : stores).server);
  const { restore: _before, ...rest } = release;
  const restore = restoreOf(context, seen, next?.ready === true);
  const marks = { managed, templates: pool.templates, ...recovery.mark, ...(restore && { restore }) };
  return { next, release: { ...rest, ...marks }, pool };
}

/** In the order in which they are written: what others need comes first. */
function objectsOf(base: Base, { next, release, pool }: Rolled, seen: Seen): KubeObject[] {
  const { context, stores, environment, owner, recovery } = base;
  const { server } = context;
  return [
    serviceAccount(server),
    ...base.made,
    ...recovery.secrets,
    ...(environment ? [environment] : []),
    ...(owner ? [owner] : keptOwner(server, seen)),
    ...environmentsInUse(server, seen, environment?.metadata.name),
    ...storesOf(base, seen),
    apiService(server),
    parserService(server),
    ...around(stores, seen),
    ...(next ? jobsOf(base, next) : []),
    ...restoreJobs(release?.restore, context, seen),
    ...(release ? [releaseObject(server, release), ...release.deployments] : []),
    ...(pool?.jobs ?? []),
  ];
}

const storesOf = ({ context, stores, holdsStores }: Base, { served }: Seen): KubeObject[] => [
  ...(holdsStores ? [] : managedStores(stores)),
  ...(served.has('Cluster') ? cloudNativePGCluster(context) : []),
];

const jobsOf = ({ context, recovery }: Base, { jobs, ready }: RollOut): KubeObject[] => [
  ...jobs,
  ...(ready ? recovery.jobs(context) : []),
];

/** Everything that waits for no roll-out. */
function around(context: Context, { served }: Seen): KubeObject[] {
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

/** Until somebody owns the server; while nobody knows, what there is stays. */
function wantsClaim(server: Server, { api, secrets, release }: Seen, valid: boolean): boolean {
  if (api.setupComplete === true) return false;
  const there = secrets.has(nameOf(server, 'claim'));
  if (server.spec.ownerSecretRef) return there && !valid;
  return api.setupComplete === false || release === undefined || there;
}

/** Once the code is gone its hash stays, so that its going is no other migration. */
function claimSha256(server: Server, secrets: Secrets, release: Release | undefined): string | undefined {
  const code = secrets.get(nameOf(server, 'claim'))?.code;
  return code === undefined ? release?.claimSha256 : sha256(code);
}

function merged(seen: Secrets, made: readonly KubeObject[]): Secrets {
  const texts = (object: KubeObject): Record<string, string> =>
    Object.fromEntries(
      Object.entries(object.data as Record<string, string>).map(([key, text]) => {
        return [key, Buffer.from(text, 'base64').toString('utf8')];
      }),
    );
  return new Map([...seen, ...made.map((object) => [object.metadata.name, texts(object)] as const)]);
}

/** Of StatefulSets that are there; undefined where one keeps nothing. */
function volumesOf(server: Server, seen: Seen): Map<string, StoreVolume | undefined> {
  const volumes = new Map<string, StoreVolume | undefined>();
  for (const name of ['postgres', 'redis', 'objects']) {
    const set = childOf(seen, 'StatefulSet', nameOf(server, name));
    if (set) volumes.set(name, volumeOf(set));
  }
  return volumes;
}

interface Claim {
  metadata: { annotations?: Record<string, string> };
  spec: { storageClassName?: string; resources: { requests: { storage: string } } };
}

function volumeOf({ spec }: KubeObject): StoreVolume | undefined {
  const [claim] = (spec as { volumeClaimTemplates?: Claim[] }).volumeClaimTemplates ?? [];
  if (!claim) return undefined;
  const { metadata, spec: wanted } = claim;
  const { annotations } = metadata;
  return { storage: wanted.resources.requests.storage, storageClassName: wanted.storageClassName, annotations };
}

/** While the roll-out waits: as it was, with the number of pods of now. */
function held(release: Release | undefined, context: Context): Release | undefined {
  if (!release) return undefined;
  return { ...release, deployments: withReplicas(release.deployments, deployments(context)) };
}

/** Those of pods that still run with another one than this spec's. */
function environmentsInUse(server: Server, seen: Seen, next: string | undefined): KubeObject[] {
  const prefix = nameOf(server, 'environment-');
  const others = childrenOf(seen, 'Secret').filter(
    ({ metadata: { name } }) => name.startsWith(prefix) && name !== next,
  );
  if (others.length === 0) return [];
  const users = [...childrenOf(seen, 'Deployment'), ...childrenOf(seen, 'Job'), ...seen.pods];
  const text = JSON.stringify([users.map(({ spec }) => spec), seen.release]);
  return others.filter(({ metadata }) => text.includes(`"${metadata.name}"`)).map(asItIs);
}

/** Metadata and data alone: the rest is the API server's. */
function asItIs({ apiVersion, kind, metadata, type, data }: KubeObject): KubeObject {
  const { name, namespace, labels } = metadata;
  return {
    apiVersion,
    kind,
    metadata: { name, ...(namespace && { namespace }), ...(labels && { labels }) },
    type,
    data,
  };
}

/** A faulty spec takes nothing away. */
const keptOwner = (server: Server, seen: Seen): KubeObject[] =>
  childrenOf(seen, 'Secret')
    .filter(({ metadata }) => metadata.name === nameOf(server, 'owner') && server.spec.ownerSecretRef)
    .map(asItIs);
