// Library resources of a cluster: each becomes a library of its server through the public API.
import { z } from 'zod';
import { type Bucket, bucketsIn, readBucketIds } from '../declared/buckets.ts';
import type { Owner } from '../declared/owner.ts';
import { serverIdOf } from '../media-server/desired/context.ts';
import { mediaRoots } from '../media-server/desired/media.ts';
import { isSuspended } from '../media-server/server.ts';
import { withKstatus } from '../runtime/kstatus.ts';
import {
  after,
  type Controller,
  done,
  GROUP_VERSION,
  type Kube,
  type KubeObject,
  type Outcome,
} from '../runtime/kube.ts';
import { type Condition, setConditions, type Verdict } from '../schemas/conditions.ts';
import { LibrarySpec, type LibraryStatus } from '../schemas/library.ts';
import { MediaServerSpec } from '../schemas/media-server.ts';
import { accountsNamed } from '../server-api/accounts.ts';
import { type LibraryList, NoList } from '../server-api/library-list.ts';
import { Unreachable } from '../server-api/server-client.ts';
import { referringOnChange, type ServerName, type Servers, secretText } from '../server-api/servers.ts';
import { type LibraryContext, type Reconciled, reconcileLibrary, releaseLibrary, scanWanted } from './library.ts';
import { release } from './release.ts';

/**
 * Interval for a settled library. Changes on the server are noticed by the poll of all libraries (look.ts); this covers the
 * rest.
 */
const CALM_MS = 600_000;
/** Interval for a library that is not settled or that names accounts: accounts change without a change of the library. */
const UNSETTLED_MS = 30_000;
const SCANNING_MS = 5000;
/** Retry interval while a server does not respond. A change of the server resource triggers a pass at once. */
const UNAVAILABLE_MS = 15_000;

/** Jitter, so that a thousand libraries do not run at the same moment. */
const about = (ms: number): number => ms * (0.8 + Math.random() * 0.4);

/** `patienceMs` is the maximum time that a deletion waits for the server. */
export function libraryController(servers: Servers, { patienceMs }: { patienceMs?: number } = {}): Controller {
  const keys = referringOnChange('Library');
  return {
    kind: 'Library',
    watches: [
      { apiVersion: GROUP_VERSION, kind: 'MediaServer', keys },
      { apiVersion: 'v1', kind: 'Secret', keys },
    ],
    sources: (wake) => servers.listen(wake),
    async reconcile({ namespace, name }, kube, now) {
      const object = kube.get('Library', namespace, name);
      if (!object) return done;
      if (object.metadata.deletionTimestamp)
        return release(object, { kube, servers, now, ...(patienceMs !== undefined && { patienceMs }) });
      return reconcileObject(object, { kube, servers, now });
    },
  };
}

interface Work {
  kube: Kube;
  servers: Servers;
  now: Date;
}

const notReady = (reason: 'ServerNotFound' | 'ServerNotReady', message: string): Verdict[] => [
  { type: 'Ready', status: 'Unknown', reason, message },
];

async function reconcileObject(object: KubeObject, { kube, servers, now }: Work): Promise<Outcome> {
  const spec = LibrarySpec.safeParse(object.spec);
  if (!spec.success) {
    const message = `the spec is not valid for this operator: ${z.prettifyError(spec.error)}`.slice(0, 2000);
    return report(object, { kube, now }, [{ type: 'Ready', status: 'False', reason: 'SpecInvalid', message }]);
  }
  const server = { namespace: object.metadata.namespace ?? '', name: spec.data.serverRef.name };
  const found = kube.get('MediaServer', server.namespace, server.name);
  if (!found) {
    const message = `MediaServer ${server.name} does not exist in this namespace: create it, or correct spec.serverRef`;
    return report(object, { kube, now }, notReady('ServerNotFound', message));
  }
  if (isSuspended(found)) return done;
  const list = servers.libraries(kube, server);
  const media = mediaOf(kube, found, server);
  if (!list || !media) return report(object, { kube, now }, notReady('ServerNotReady', 'The server is being set up'));
  const isBucket = (name: string): boolean => media.buckets.some((bucket) => bucket.name === name);
  const unknown = spec.data.folders.find((folder) => !media.ids.has(folder.media) && !isBucket(folder.media));
  if (unknown) return report(object, { kube, now }, mediaUnknown(unknown.media, server.name));
  return sync(object, { spec: spec.data, list, media }, { kube, now });
}

interface Ready {
  spec: LibrarySpec;
  list: LibraryList;
  media: MediaIds;
}

async function sync(
  object: KubeObject,
  { spec, list, media }: Ready,
  work: Pick<Work, 'kube' | 'now'>,
): Promise<Outcome> {
  const { name, namespace = '', uid = '', annotations = {} } = object.metadata;
  const context: Omit<LibraryContext, 'mediaId'> = {
    request: list.request,
    managedBy: { kind: 'Library', namespace, name, uid },
    read: (id) => list.read(id),
    accounts: async (usernames) => accountsNamed(usernames, await list.accounts()),
  };
  // Set before the server creates the library. With deletionPolicy Retain the deletion waits for nothing; look.ts releases
  // the library.
  await work.kube.setFinalizer(object, spec.deletionPolicy === 'Delete');
  try {
    const before = (object.status ?? {}) as LibraryStatus;
    const ids = await storageIds(spec, list, media);
    const mediaId = (entry: string): string => ids.get(entry) ?? '';
    const reconciled = await reconcileLibrary({ name, annotations, spec }, before, { ...context, mediaId });
    if (isGone(object, work.kube)) await releaseLibrary(spec, reconciled.status, list.request);
    else await report(object, work, reconciled.verdicts, reconciled.status);
    return after(about(pauseOf(reconciled, spec, scanWanted({ annotations }))));
  } catch (error) {
    await report(object, work, notReady('ServerNotReady', waitingFor(error)));
    return after(about(UNAVAILABLE_MS));
  }
}

/** The reason why a library waits. Throws every other error. */
function waitingFor(error: unknown): string {
  if (error instanceof NoStorage) return error.message;
  if (error instanceof Unreachable || error instanceof NoList) return `The server does not answer: ${error.message}`;
  throw error;
}

/** The server has no storage for a bucket yet. */
class NoStorage extends Error {}

/** Ids of the storages of the media, those of buckets as far as the library names them. */
async function storageIds(spec: LibrarySpec, { request }: LibraryList, media: MediaIds): Promise<Map<string, string>> {
  const named = media.buckets.filter(({ name }) => spec.folders.some((folder) => folder.media === name));
  const ids = new Map([...media.ids, ...(await readBucketIds(request, named, media.server))]);
  const waiting = named.filter(({ name }) => !ids.has(name)).map(({ name }) => name);
  if (waiting.length === 0) return ids;
  throw new NoStorage(`the server has no storage for ${waiting.join(', ')} yet: see MediaReady of the MediaServer`);
}

/** The resource was deleted during the pass, perhaps before the server created its library. */
const isGone = ({ kind, metadata }: KubeObject, kube: Kube): boolean =>
  kube.get(kind, metadata.namespace ?? '', metadata.name)?.metadata.uid !== metadata.uid;

function pauseOf(reconciled: Reconciled, { access }: LibrarySpec, scan: string | undefined): number {
  if (isScanning(reconciled)) return SCANNING_MS;
  if (scan !== undefined && scan !== reconciled.status.scanRequest) return UNSETTLED_MS;
  const isReady = reconciled.verdicts.some(({ type, status }) => type === 'Ready' && status === 'True');
  return isReady && !access?.users ? CALM_MS : UNSETTLED_MS;
}

const isScanning = ({ verdicts }: Reconciled): boolean => verdicts.some(({ reason }) => reason === 'Scanning');

interface MediaIds {
  ring: string;
  /** Storage ids of media that are mounted, by name. */
  ids: Map<string, string>;
  /** Media whose storages the server makes. */
  buckets: readonly Bucket[];
  server: Owner;
}
const known = new WeakMap<KubeObject, MediaIds>();

/** The media of a server; undefined while it has no key ring. */
function mediaOf(kube: Kube, found: KubeObject, server: ServerName): MediaIds | undefined {
  const ring = secretText(kube, { ...server, name: `${server.name}-keys` }, 'keys.json');
  if (!ring) return undefined;
  const before = known.get(found);
  if (before?.ring === ring) return before;
  const spec = MediaServerSpec.safeParse(found.spec);
  if (!spec.success) return undefined;
  const serverId = serverIdOf(ring);
  if (serverId === undefined) return undefined; // a damaged key ring: a condition of the MediaServer reports it
  const roots = mediaRoots(spec.data, serverId);
  const ids = new Map(roots.map(({ name, id }) => [name, id]));
  const buckets = bucketsIn(spec.data, () => undefined);
  const media = {
    ring,
    ids,
    buckets,
    server: { kind: 'MediaServer', namespace: found.metadata.namespace ?? '', name: found.metadata.name ?? '' },
  };
  known.set(found, media);
  return media;
}

function mediaUnknown(media: string, server: string): Verdict[] {
  const message = `MediaServer ${server} has no media entry ${media}: add it, or correct spec.folders`;
  const verdict = { status: 'False', reason: 'MediaUnknown', message } as const;
  return [
    { type: 'Ready', ...verdict },
    { type: 'Synced', ...verdict },
  ];
}

/** Conditions that this pass did not evaluate stay as they are. */
async function report(
  object: KubeObject,
  { kube, now }: Pick<Work, 'kube' | 'now'>,
  ...[verdicts, observed]: [readonly Verdict[], LibraryStatus?]
): Promise<Outcome> {
  const { generation = 0 } = object.metadata;
  const status = observed ?? ((object.status ?? {}) as LibraryStatus);
  const before: readonly Condition[] = status.conditions ?? [];
  const all = withKstatus(verdicts);
  const kept = before.filter(({ type }) => !all.some((verdict) => verdict.type === type));
  const conditions = [...kept, ...setConditions(before, all, { generation, now })];
  const sorted = conditions.toSorted((one, other) => (one.type < other.type ? -1 : 1));
  await kube.applyStatus(object, { ...status, observedGeneration: generation, conditions: sorted });
  return done;
}
