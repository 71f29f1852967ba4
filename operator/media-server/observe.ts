// Caches -> what a pass sees.
import { apiUnavailable, seeApi } from '../observed-api.ts';
import { referencesIn } from '../references.ts';
import type { KubeObject, Reader } from '../runtime/kube.ts';
import { OWNER } from '../runtime/kube.ts';
import type { MediaServerStatus } from '../schemas/media-server.ts';
import { plusFrom } from '../server-api/plus.ts';
import type { Ask } from '../server-api/server-client.ts';
import { settingsFrom } from '../server-api/settings.ts';
import { declaredKeys } from '../server-environment.ts';
import { SilentWorkers } from '../silent-workers.ts';
import { selectorOf } from './desired/meta.ts';
import { type Sharing, sharingOf } from './desired/one-node.ts';
import { childOf, type Seen, workloadOf } from './observed.ts';
import { refusalsIn, warningsAt } from './refused-pods.ts';
import { RELEASE, releaseOf } from './release.ts';
import type { Server } from './server.ts';
import { volumesIn } from './store-volumes.ts';
import { demandOf } from './transcode-demand.ts';

/** Kinds of children, all with the label of their owner. */
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
/** Of others' CRDs. */
export const OPTIONAL = ['Cluster', 'HTTPRoute', 'PrometheusRule', 'ServiceMonitor'] as const;

/** Those that a spec asks for. */
export function optionalKinds({ postgres, gateway, monitoring }: Server['spec']): (typeof OPTIONAL)[number][] {
  const asked = {
    Cluster: postgres.cloudNativePG,
    HTTPRoute: gateway,
    PrometheusRule: monitoring.prometheusRule,
    ServiceMonitor: monitoring.serviceMonitor,
  };
  return OPTIONAL.filter((kind) => asked[kind]);
}

/** The server over HTTP, as the operator reaches it. */
export interface Connection {
  ask: Ask;
  /** Text of /metrics; undefined when it does not answer. */
  metrics: () => Promise<string | undefined>;
}

/** Everything but what the server itself tells. */
export function observe(server: Server, kube: Reader, now: Date): Seen {
  const { name, namespace, uid } = server;
  const served = new Set(OPTIONAL.filter((kind) => kube.served(kind)));
  const kinds = [...CHILDREN, ...served];
  const children = new Map<string, KubeObject>();
  for (const kind of kinds)
    for (const object of kube.list(kind, namespace, { [OWNER]: uid }))
      children.set(`${kind}/${object.metadata.name}`, object);
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
    volumes: [],
    plus: undefined,
    settings: undefined,
    declared: undefined,
  };
}

/** Secrets that are made once are found by name: kept ones may belong to a server that was deleted. */
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

/** What the server told, and when. */
type Told = Pick<Seen, 'api' | 'demand' | 'volumes'> & Rare;

/** Told rarely, since it changes rarely. */
type Rare = Pick<Seen, 'plus' | 'settings'>;

/** Changes come in flocks, and the server takes a few requests a second: an answer holds for this long. */
const HOLDS_MS = 800;

/** An API whose pods are ready and that leaves a request unanswered is busy rather than gone: what it told last holds for so long. */
const BUSY_MS = 30_000;

/** A licence and settings in force change rarely: what the server told of them holds for so long, or until it has other settings. */
const RARE_MS = 30_000;

export class Probes {
  readonly #asked = new Map<string, { at: number; answer: Promise<Answer> }>();
  readonly #told = new Map<string, { at: number; told: Told }>();
  readonly #rare = new Map<string, { at: number; environment: string; rare: Rare }>();
  /** By uid, until when claim codes are blocked, as it was told. */
  readonly #blocks = new Map<string, number>();
  readonly #silent = new Map<string, SilentWorkers>();

  /** What was seen, with the transcode pods that run and do not report. */
  withSilent(server: Server, seen: Seen): Seen {
    const silent = this.#silent.get(server.uid) ?? new SilentWorkers();
    this.#silent.set(server.uid, silent);
    const running = seen.pods.filter(({ metadata, status }) => {
      const isOurs = metadata.labels?.['app.kubernetes.io/component'] === 'transcode';
      return isOurs && !metadata.deletionTimestamp && (status as { phase?: string } | undefined)?.phase === 'Running';
    });
    const names = running.map(({ metadata }) => metadata.name);
    return { ...seen, silent: silent.look(names, seen.demand, seen.now) };
  }

  /** Asks only when a pod is ready: nothing else would answer. */
  async look(server: Server, seen: Seen, connection: Connection): Promise<Seen> {
    const { uid, name } = server;
    const api = childOf(seen, 'Deployment', `${name}-api`);
    if (!api || workloadOf(api).ready === 0) return seen;
    const known = this.#asked.get(uid);
    const at = seen.now.getTime();
    const answer =
      known && at - known.at < HOLDS_MS ? known.answer : this.#ask(askedOf(server, seen, api), at, connection);
    if (answer !== known?.answer) this.#asked.set(uid, { at, answer });
    const { silent, ...told } = await answer;
    const last = this.#told.get(uid);
    if (silent) return { ...seen, ...(last && at - last.at < BUSY_MS ? last.told : told) };
    this.#told.set(uid, { at, told });
    return { ...seen, ...told };
  }

  /** True once for each time that claim codes are blocked. */
  isNewBlock(uid: string, { now, api }: Seen): boolean {
    if (api.claimBlockedUntil === undefined || (this.#blocks.get(uid) ?? 0) > now.getTime()) return false;
    this.#blocks.set(uid, Date.parse(api.claimBlockedUntil));
    return true;
  }

  /** The server is gone. */
  forget(uid: string): void {
    this.#blocks.delete(uid);
    this.#silent.delete(uid);
    this.#asked.delete(uid);
    this.#told.delete(uid);
    this.#rare.delete(uid);
  }

  async #ask({ uid, environment, settings }: Asked, at: number, connection: Connection): Promise<Answer> {
    const known = this.#rare.get(uid);
    if (known && known.environment === environment && at - known.at < RARE_MS)
      return ask(connection, { settings }, known.rare);
    const answer = await ask(connection, { settings });
    const { plus, settings: told, silent } = answer;
    if (plus && !silent) this.#rare.set(uid, { at, environment, rare: { plus, settings: told } });
    return answer;
  }
}

interface Asked {
  uid: string;
  /** Of the settings that its pods have, and whether all of them do. */
  environment: string;
  /** Whether it declares some. */
  settings: boolean;
}

function askedOf({ uid, spec }: Server, { release, secrets }: Seen, api: KubeObject): Asked {
  const environment = `${release?.environment} ${workloadOf(api).settled}`;
  return { uid, environment, settings: declaredKeys(spec, secrets).length > 0 };
}

interface Answer extends Told {
  /** A request was left unanswered. */
  silent: boolean;
}

/** With what is told rarely, or asking for that too. */
async function ask(connection: Connection, too: Pick<Asked, 'settings'>, known?: Rare): Promise<Answer> {
  let silent = false;
  const noted: Ask = async (...words) => {
    try {
      return await connection.ask(...words);
    } catch (error) {
      silent = true;
      throw error;
    }
  };
  const [api, { demand, volumes }] = await Promise.all([seeApi(noted), metricsFrom(connection)]);
  const rare = known ?? (api.apiReady ? await rareFrom(noted, too) : { plus: undefined, settings: undefined });
  return { api, demand, volumes, ...rare, silent: silent || demand === undefined };
}

async function rareFrom(ask: Ask, { settings }: Pick<Asked, 'settings'>): Promise<Rare> {
  const plus = await plusFrom(ask).catch(() => undefined);
  return { plus, settings: settings ? await settingsFrom(ask).catch(() => undefined) : undefined };
}

async function metricsFrom(connection: Connection): Promise<Pick<Seen, 'demand' | 'volumes'>> {
  const text = await connection.metrics().catch(() => undefined);
  return text === undefined ? { demand: undefined, volumes: [] } : { demand: demandOf(text), volumes: volumesIn(text) };
}
