// TunerDevice resources: one pod each, which reports the state of the device.
import { z } from 'zod';
import { POD_LABELS } from '../media-server/desired/meta.ts';
import { sharingOf } from '../media-server/desired/one-node.ts';
import { isSuspended } from '../media-server/server.ts';
import { hasStatus } from '../runtime/faults.ts';
import { withKstatus } from '../runtime/kstatus.ts';
import {
  after,
  type Controller,
  done,
  GROUP_VERSION,
  type Key,
  type Kube,
  type KubeObject,
  type Outcome,
  PermanentFault,
  type Reader,
} from '../runtime/kube.ts';
import { type Condition, type Reason, setConditions, type Verdict } from '../schemas/conditions.ts';
import { MediaServerSpec } from '../schemas/media-server.ts';
import { TunerDeviceSpec, type TunerDeviceStatus } from '../schemas/tuner-device.ts';
import { referringOnChange, secretText } from '../server-api/servers.ts';
import { TEMPLATE, type Tuner, tunerName, tunerObjects } from './desired.ts';
import { urlRefs } from './environment.ts';
import { TUNER } from './labels.ts';
import { isRecording, observeTuner, type Reports, type TunerTools, type Work } from './observe.ts';
import { release } from './release.ts';
import type { SyncedTuner } from './server-tuner.ts';
import { rowIn, storesOf } from './stores.ts';
import { isSchedule, type ObservedTuner, tunerStatus, tunerVerdicts, useOf, withSynced } from './verdicts.ts';

const LOOK_MS = 15_000;
const LOOK_SOON_MS = 3000;

export function tunerDeviceController(tools: TunerTools): Controller {
  const byServer = referringOnChange('TunerDevice');
  const reports: Reports = new Map();
  return {
    kind: 'TunerDevice',
    watches: [
      { apiVersion: 'apps/v1', kind: 'Deployment' },
      { apiVersion: 'v1', kind: 'Service' },
      { apiVersion: 'v1', kind: 'Pod', keys: byTuner, labels: POD_LABELS },
      { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy' },
      { apiVersion: 'v1', kind: 'PersistentVolumeClaim', keys: () => [] },
      { apiVersion: GROUP_VERSION, kind: 'MediaServer', keys: byServer },
      {
        apiVersion: 'v1',
        kind: 'Secret',
        keys: (secret, reader) => [...byServer(secret, reader), ...naming(secret, reader)],
      },
    ],
    async reconcile({ namespace, name }, kube, now) {
      const object = kube.get('TunerDevice', namespace, name);
      if (!object) return done;
      if (object.metadata.deletionTimestamp) return release(object, { kube, tools, reports, now });
      return reconcileObject(object, { kube, tools, reports, now });
    },
  };
}

function byTuner({ metadata: { namespace = '', labels } }: KubeObject): Key[] {
  const name = labels?.[TUNER];
  return name ? [{ namespace, name }] : [];
}

/** TunerDevices whose spec references the Secret. */
function naming({ metadata: { namespace = '', name } }: KubeObject, reader: Reader): Key[] {
  const users = reader.list('TunerDevice', namespace).filter(({ spec }) => {
    const parsed = TunerDeviceSpec.safeParse(spec);
    return parsed.success && urlRefs(parsed.data).some(({ ref }) => ref.name === name);
  });
  return users.map(({ metadata }) => ({ namespace, name: metadata.name }));
}

async function reconcileObject(object: KubeObject, work: Work): Promise<Outcome> {
  const tuner = tunerOf(object, work);
  if ('reason' in tuner) {
    const status = ['ServerNotFound', 'ServerNotReady'].includes(tuner.reason) ? 'Unknown' : 'False';
    await report(object, work, { verdicts: [{ type: 'Ready', status, ...tuner }], rest: statusBefore(object) });
    return done;
  }
  return tuner.server.spec.suspend ? done : reconcileTuner(object, tuner, work);
}

async function reconcileTuner(object: KubeObject, tuner: Tuner, work: Work): Promise<Outcome> {
  const synced = await work.tools.servers.sync(object, tuner, work.kube);
  const row = rowOf(tuner, synced, work.kube);
  const observed = withKnown(await observeTuner(object, work), synced);
  const recording = isRecording(object, observed, synced?.known);
  const wanted = tunerObjects({ ...tuner, row });
  const waiting = recording && wouldEnd(tuner, wanted, work.kube);
  await work.kube.setFinalizer(object, recording || row !== undefined);
  const refused = waiting ? undefined : await applyObjects(object, wanted, work.kube);
  const found = withSynced(tunerVerdicts(tuner.spec, { ...observed, waiting }, work.now), synced);
  const rest = observed.pod ? tunerStatus(observed.pod) : { ...statusBefore(object), ...useOf(synced?.known) };
  await report(object, work, { verdicts: withRefusal(found, refused), rest });
  if (refused) throw refused;
  return after((observed.pod ? LOOK_MS : LOOK_SOON_MS) * (0.8 + Math.random() * 0.4));
}

/** While the server does not answer, the pod keeps its tuner and its stores. */
function rowOf(tuner: Tuner, synced: SyncedTuner | undefined, kube: Kube): Tuner['row'] {
  const own = tunerName(tuner);
  const id = synced?.tunerId ?? rowIn(kube.get('Deployment', tuner.namespace, own));
  const stores = id === undefined ? undefined : storesOf(kube, tuner, own);
  return id !== undefined && stores ? { id, stores } : undefined;
}

const withKnown = (observed: ObservedTuner, synced: SyncedTuner | undefined): ObservedTuner => ({
  ...observed,
  pod: observed.pod && { ...observed.pod, ...synced?.known },
});

/** A refusal by the API server becomes a condition, and the pass is retried with a growing pause. Other errors are thrown. */
async function applyObjects(object: KubeObject, wanted: readonly KubeObject[], kube: Kube): Promise<Error | undefined> {
  try {
    await kube.apply(object, wanted);
    return undefined;
  } catch (error) {
    if (error instanceof PermanentFault || hasStatus(error, 400, 403, 422, 500)) return error as Error;
    throw error;
  }
}

function withRefusal(verdicts: readonly Verdict[], error: Error | undefined): readonly Verdict[] {
  if (!error) return verdicts;
  const reason = error instanceof PermanentFault ? 'NameTaken' : 'Refused';
  const message = `the cluster refuses a part: ${error.message}`;
  return [{ type: 'Ready', status: 'False', reason, message }, ...verdicts.filter(({ type }) => type !== 'Ready')];
}

interface Fault {
  reason: Reason;
  message: string;
}

/** The input of the builders, or the error in the resource. */
function tunerOf({ metadata, spec }: KubeObject, { kube, tools }: Work): Tuner | Fault {
  const { name, namespace = '' } = metadata;
  const parsed = TunerDeviceSpec.safeParse(spec);
  if (!parsed.success) return invalid(parsed.error);
  const server = parsed.data.serverRef.name;
  const found = kube.get('MediaServer', namespace, server);
  const message = `MediaServer ${server} does not exist in this namespace: create it, or correct spec.serverRef`;
  if (!found) return { reason: 'ServerNotFound', message };
  const its = MediaServerSpec.safeParse(found.spec);
  if (!its.success) return invalid(its.error);
  const tuner = {
    name,
    namespace,
    spec: parsed.data,
    server: { name: server, spec: { ...its.data, suspend: isSuspended(found) } },
    images: tools.images,
    secrets: secretsOf(parsed.data, { namespace, name: server }, kube),
    oneNode: oneNodeClaims(its.data.media, namespace, kube),
  };
  return faultOf(tuner) ?? tuner;
}

function oneNodeClaims(media: MediaServerSpec['media'], namespace: string, kube: Kube): Set<string> {
  const names = media.flatMap(({ persistentVolumeClaim: claim }) => claim?.claimName ?? []);
  const bound = names.filter((name) => {
    const object = kube.get('PersistentVolumeClaim', namespace, name);
    return object && sharingOf(object) === 'one-node';
  });
  return new Set(bound);
}

const invalid = (error: z.ZodError): Fault => ({
  reason: 'SpecInvalid',
  message: `the spec is not valid for this operator: ${z.prettifyError(error)}`.slice(0, 2000),
});

function secretsOf(spec: TunerDeviceSpec, server: { namespace: string; name: string }, kube: Kube): Tuner['secrets'] {
  const { namespace } = server;
  const refs = [...urlRefs(spec).map(({ ref }) => ref), { name: `${server.name}-keys`, key: 'keys.json' }];
  const secrets = new Map<string, Record<string, string>>();
  for (const { name, key } of refs) {
    const text = secretText(kube, { namespace, name }, key);
    if (text !== undefined) secrets.set(name, { ...secrets.get(name), [key]: text });
  }
  return secrets;
}

function faultOf({ spec, server, secrets }: Tuner): Fault | undefined {
  if (!secrets.get(`${server.name}-keys`)) return { reason: 'ServerNotReady', message: 'The server is being set up' };
  return urlFault(spec, secrets) ?? scheduleFault(spec) ?? recordingsFault(spec, server);
}

/** An invalid URL is not repeated in the message: it may contain a password. */
function urlFault(spec: TunerDeviceSpec, secrets: Tuner['secrets']): Fault | undefined {
  for (const { path, ref } of urlRefs(spec)) {
    const value = secrets.get(ref.name)?.[ref.key];
    const which = `Secret ${ref.name} with the key ${ref.key}`;
    if (!value) return { reason: 'SecretMissing', message: `${path}: ${which} does not exist: create it` };
    if (!isAddress(value))
      return { reason: 'SecretInvalid', message: `${path}: ${which} holds no HTTP URL: correct it` };
  }
  return undefined;
}

const isAddress = (value: string): boolean => /^https?:\/\//i.test(value) && URL.canParse(value);

function scheduleFault({ guide }: TunerDeviceSpec): Fault | undefined {
  if (!guide || isSchedule(guide.refresh)) return undefined;
  const message = `spec.guide.refresh: ${guide.refresh} is not a five-field schedule with a next time: correct it`;
  return { reason: 'SpecInvalid', message };
}

function recordingsFault(spec: TunerDeviceSpec, server: Tuner['server']): Fault | undefined {
  const media = spec.recordings?.media;
  const entry = server.spec.media.find(({ name }) => name === media);
  if (media === undefined || (entry && !entry.readOnly && !entry.s3)) return undefined;
  const message = `MediaServer ${server.name} has no writable media entry ${media} that can be mounted: add it, or correct spec.recordings`;
  return { reason: 'MediaUnknown', message };
}

/** A change of the pod template would replace the pod and end its recording. */
function wouldEnd(tuner: Tuner, wanted: readonly KubeObject[], kube: Kube): boolean {
  const live = kube.get('Deployment', tuner.namespace, tunerName(tuner));
  const next = wanted.find(({ kind }) => kind === 'Deployment');
  return live !== undefined && live.metadata.annotations?.[TEMPLATE] !== next?.metadata.annotations?.[TEMPLATE];
}

function statusBefore({ status }: KubeObject): Partial<TunerDeviceStatus> {
  const { conditions: _conditions, observedGeneration: _generation, ...rest } = (status ?? {}) as TunerDeviceStatus;
  return rest;
}

async function report(
  object: KubeObject,
  { kube, now }: Work,
  { verdicts, rest }: { verdicts: readonly Verdict[]; rest: Partial<TunerDeviceStatus> },
): Promise<void> {
  const { generation = 0 } = object.metadata;
  const before: readonly Condition[] = ((object.status ?? {}) as TunerDeviceStatus).conditions ?? [];
  const conditions = setConditions(before, withKstatus(verdicts), { generation, now });
  await kube.applyStatus(object, { ...rest, observedGeneration: generation, conditions });
}
