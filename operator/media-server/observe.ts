// Builds the observed state of a pass from the caches.
import { apiUnavailable, observeApi } from '../observed-api.ts';
import { referencesIn } from '../references.ts';
import type { KubeObject, Reader } from '../runtime/kube.ts';
import { OWNER } from '../runtime/kube.ts';
import type { MediaServerStatus } from '../schemas/media-server.ts';
import { plusFrom } from '../server-api/plus.ts';
import type { SendRequest } from '../server-api/server-client.ts';
import { settingsFrom } from '../server-api/settings.ts';
import { declaredKeys } from '../server-environment.ts';
import { SilentWorkers } from '../silent-workers.ts';
import { speechWaiting } from '../speech/worker.ts';
import { TUNER_ROW } from '../tuner-device/labels.ts';
import { selectorOf } from './desired/meta.ts';
import { type Sharing, sharingOf } from './desired/one-node.ts';
import { childOf, type Observed, workloadOf } from './observed.ts';
import { refusalsIn, warningsAt } from './refused-pods.ts';
import { RELEASE, releaseOf } from './release.ts';
import type { Server } from './server.ts';
import { volumesIn } from './store-volumes.ts';
import { demandOf } from './transcode-demand.ts';

/** Kinds of children, all labelled with their owner. */
export const CHILDREN = [
  'ConfigMap',
  'Deployment',
  'HorizontalPodAutoscaler',
  'Ingress',
  'Job',
  'NetworkPolicy',
  'PodDisruptionBudget',
  'Secret',
  'Service',
  'ServiceAccount',
  'StatefulSet',
] as const;
/** Kinds of CRDs that may not be installed. */
export const OPTIONAL = ['Cluster', 'HTTPRoute', 'PrometheusRule', 'ServiceMonitor'] as const;

/** The optional kinds that a spec uses. */
export function optionalKinds({ postgres, gateway, monitoring }: Server['spec']): (typeof OPTIONAL)[number][] {
  const enabled = {
    Cluster: postgres.cloudNativePG,
    HTTPRoute: gateway,
    PrometheusRule: monitoring.prometheusRule,
    ServiceMonitor: monitoring.serviceMonitor,
  };
  return OPTIONAL.filter((kind) => enabled[kind]);
}

/** The server's HTTP API and metrics. */
export interface Connection {
  request: SendRequest;
  /** Text of /metrics; undefined when it does not answer. */
  metrics: () => Promise<string | undefined>;
}

/** Everything except what the server itself reports. */
export function observe(server: Server, kube: Reader, now: Date): Observed {
  const { name, namespace, uid } = server;
  const served = new Set(OPTIONAL.filter((kind) => kube.served(kind)));
  const kinds = [...CHILDREN, ...served];
  const children = new Map<string, KubeObject>();
  for (const kind of kinds)
    for (const object of kube.list(kind, namespace, { [OWNER]: uid }))
      if (!object.metadata.labels?.[TUNER_ROW]) children.set(`${kind}/${object.metadata.name}`, object);
  const { secrets, notes } = secretsOf(server, kube, children);
  const references = referencesIn(server.spec, ['spec']).filter(({ of }) => of === 'ConfigMap');
  const named = (kind: string) =>
    kube.list(kind, namespace).filter(({ spec }) => {
      return (spec as { serverRef?: { name?: string } } | undefined)?.serverRef?.name === name;
    }).length;
  return {
    now,
    secrets,
    notes,
    configMaps: new Map(
      references.flatMap(({ name: config }) => configMapOf(kube.get('ConfigMap', namespace, config))),
    ),
    claims: new Map(
      claimNames(server).flatMap((claim) => claimOf(kube.get('PersistentVolumeClaim', namespace, claim))),
    ),
    children,
    pods: kube.list('Pod', namespace, selectorOf(server)),
    refusals: refusalsIn(kube.list('Event', namespace)),
    warnings: warningsAt(now, kube.list('Event', namespace)),
    served,
    known: (kube.get('MediaServer', namespace, name)?.status ?? {}) as MediaServerStatus,
    release: releaseOf(children.get(`ConfigMap/${name}-${RELEASE}`)),
    libraries: named('Library'),
    tuners: named('TunerDevice'),
    api: apiUnavailable,
    demand: undefined,
    silent: new Set(),
    speech: { waiting: undefined, idleMs: 0, workers: [] },
    volumes: [],
    plus: undefined,
    settings: undefined,
    declared: undefined,
    buckets: undefined,
  };
}

/** Secrets that are created once are found by name: kept ones may belong to a deleted server. */
const MADE = ['keys', 'operator-key', 'claim', 'postgres', 'redis', 'objects', 'postgres-app'];

function secretsOf(server: Server, kube: Reader, children: ReadonlyMap<string, KubeObject>) {
  const named = referencesIn(server.spec, ['spec']).filter(({ of }) => of === 'Secret');
  const own = [...children].filter(([key]) => key.startsWith('Secret/')).map(([, object]) => object);
  const names = [...named.map((ref) => ref.name), ...MADE.map((suffix) => `${server.name}-${suffix}`)];
  const found = names.flatMap((name) => kube.get('Secret', server.namespace, name) ?? []);
  const secrets = new Map<string, Record<string, string>>();
  const notes = new Map<string, Record<string, string>>();
  for (const object of [...own, ...found]) {
    secrets.set(object.metadata.name, textsOf(object));
    notes.set(object.metadata.name, object.metadata.annotations ?? {});
  }
  return { secrets, notes };
}

const configMapOf = (object: KubeObject | undefined): [string, Record<string, string>][] =>
  object ? [[object.metadata.name, (object.data ?? {}) as Record<string, string>]] : [];

function textsOf({ data }: KubeObject): Record<string, string> {
  const entries = Object.entries((data ?? {}) as Record<string, string>);
  return Object.fromEntries(entries.map(([key, text]) => [key, Buffer.from(text, 'base64').toString('utf8')]));
}

const claimOf = (object: KubeObject | undefined): [string, Sharing][] =>
  object ? [[object.metadata.name, sharingOf(object)]] : [];

function claimNames({ name, spec }: Server): string[] {
  const storeClaims = ['postgres', 'objects'].map((store) => `data-${name}-${store}-0`);
  const models = spec.subtitles?.modelVolume?.persistentVolumeClaim;
  const media = spec.media.flatMap(({ persistentVolumeClaim: claim }) => (claim ? [claim.claimName] : []));
  return [...media, ...(models ? [models.claimName] : []), ...storeClaims];
}

/** What the server reports over HTTP. */
type Report = Pick<Observed, 'api' | 'demand' | 'volumes'> & RareReport & { waiting: number | undefined };

/** The parts of a report that change rarely. */
type RareReport = Pick<Observed, 'plus' | 'settings'>;

/** Changes arrive in bursts, and the server allows a few requests per second: a response is reused for this long. */
const REUSE_MS = 800;

/** An API with ready pods that misses a request is busy rather than down: its last report is valid for this long. */
const BUSY_MS = 30_000;

/** Licence and settings change rarely: their report is valid for this long, or until the pods have other settings. */
const RARE_MS = 30_000;

/** Requests reports from the servers, and reuses recent ones. All maps are keyed by the uid of the server. */
export class Probes {
  readonly #responses = new Map<string, { at: number; response: Promise<Response> }>();
  readonly #reports = new Map<string, { at: number; report: Report }>();
  readonly #rare = new Map<string, { at: number; environment: string; report: RareReport }>();
  /** Until when claim codes are blocked, in milliseconds. */
  readonly #blocks = new Map<string, number>();
  readonly #silent = new Map<string, SilentWorkers>();

  /** The observed state with the running transcode pods that do not report. */
  withSilent(server: Server, observed: Observed): Observed {
    const silent = this.#silent.get(server.uid) ?? new SilentWorkers();
    this.#silent.set(server.uid, silent);
    const running = observed.pods.filter(({ metadata, status }) => {
      const isOurs = metadata.labels?.['app.kubernetes.io/component'] === 'transcode';
      return isOurs && !metadata.deletionTimestamp && (status as { phase?: string } | undefined)?.phase === 'Running';
    });
    const names = running.map(({ metadata }) => metadata.name);
    return { ...observed, silent: silent.look(names, observed.demand, observed.now) };
  }

  /** The observed state with the server's report. Only ready pods are requested; without one the report stays empty. */
  async look(server: Server, observed: Observed, connection: Connection): Promise<Observed> {
    const { uid, name } = server;
    const api = childOf(observed, 'Deployment', `${name}-api`);
    if (!api || workloadOf(api).ready === 0) return observed;
    const { isComplete, ...report } = await this.#response(server, observed, { api, connection });
    const at = observed.now.getTime();
    if (isComplete) this.#reports.set(uid, { at, report });
    const last = this.#reports.get(uid);
    const { waiting, ...rest } = last && at - last.at < BUSY_MS ? last.report : report;
    return { ...observed, ...rest, speech: { ...observed.speech, waiting } };
  }

  /** True once per block of claim codes. */
  isNewBlock(uid: string, { now, api }: Observed): boolean {
    if (api.claimBlockedUntil === undefined || (this.#blocks.get(uid) ?? 0) > now.getTime()) return false;
    this.#blocks.set(uid, Date.parse(api.claimBlockedUntil));
    return true;
  }

  /** The server was deleted. */
  forget(uid: string): void {
    for (const map of [this.#responses, this.#reports, this.#rare, this.#blocks, this.#silent]) map.delete(uid);
  }

  /** A new response, or one that is recent enough. */
  #response(server: Server, observed: Observed, from: { api: KubeObject; connection: Connection }): Promise<Response> {
    const at = observed.now.getTime();
    const recent = this.#responses.get(server.uid);
    if (recent && at - recent.at < REUSE_MS) return recent.response;
    const response = this.#request(server, observed, from);
    this.#responses.set(server.uid, { at, response });
    return response;
  }

  async #request(
    { uid, spec }: Server,
    { now, release, secrets }: Observed,
    { api, connection }: { api: KubeObject; connection: Connection },
  ): Promise<Response> {
    const at = now.getTime();
    // Changes when the pods get other settings.
    const environment = `${release?.environment} ${workloadOf(api).settled}`;
    const rare = this.#rare.get(uid);
    if (rare && rare.environment === environment && at - rare.at < RARE_MS)
      return responseOf(connection, { report: rare.report });
    const response = await responseOf(connection, { declaresSettings: declaredKeys(spec, secrets).length > 0 });
    const { plus, settings, isComplete } = response;
    if (plus && isComplete) this.#rare.set(uid, { at, environment, report: { plus, settings } });
    return response;
  }
}

interface Response extends Report {
  /** Every request got a response. */
  isComplete: boolean;
}

/** With a rare report that is still valid, or with a new one. */
async function responseOf(
  { request, metrics }: Connection,
  rare: { report: RareReport } | { declaresSettings: boolean },
): Promise<Response> {
  let isComplete = true;
  const counted: SendRequest = (...call) =>
    request(...call).catch((error: unknown) => {
      isComplete = false;
      throw error;
    });
  const [api, { demand, volumes, waiting }] = await Promise.all([observeApi(counted), metricsFrom(metrics)]);
  const report = 'report' in rare ? rare.report : api.apiReady ? await rareReportFrom(counted, rare) : {};
  return {
    plus: undefined,
    settings: undefined,
    api,
    demand,
    volumes,
    waiting,
    ...report,
    isComplete: isComplete && demand !== undefined,
  };
}

async function rareReportFrom(
  request: SendRequest,
  { declaresSettings }: { declaresSettings: boolean },
): Promise<RareReport> {
  const plus = await plusFrom(request).catch(() => undefined);
  return { plus, settings: declaresSettings ? await settingsFrom(request).catch(() => undefined) : undefined };
}

async function metricsFrom(metrics: Connection['metrics']): Promise<Pick<Report, 'demand' | 'volumes' | 'waiting'>> {
  const text = await metrics().catch(() => undefined);
  if (text === undefined) return { demand: undefined, volumes: [], waiting: undefined };
  return { demand: demandOf(text), volumes: volumesIn(text), waiting: speechWaiting(text) };
}
