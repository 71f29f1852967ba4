// Combines the parts of the runtime: caches that follow the API server, a Lease, and workers while this process leads.
import { controllerOf } from './apply.ts';
import { Caches } from './caches.ts';
import type { Credentials } from './credentials.ts';
import { Discovery } from './discovery.ts';
import { EventRecorder } from './events.ts';
import { Deposed } from './faults.ts';
import { type Controller, GROUP_VERSION, type Key, type Kube, type KubeObject, OWNER, type Watch } from './kube.ts';
import { KubeClient } from './kube-client.ts';
import { Leader, type Times } from './leader.ts';
import type { Log } from './log.ts';
import { type Metrics, newMetrics } from './metrics.ts';
import { Rest } from './rest.ts';
import { Work } from './work.ts';

/** A sent write has a response within this time: the API server aborts it after 5 s. */
const SENT_MS = 6000;
/** Maximum time to write recorded Events before the Lease is released. */
const EVENTS_MS = 1000;
const STUCK_MS = 600_000;
const STALE_MS = 300_000;

export interface ManagerOptions {
  credentials: Credentials;
  controllers: readonly Controller[];
  log: Log;
  /** Empty means all namespaces. */
  namespaces?: readonly string[];
  /** Workers per controller; default 4. */
  workers?: number;
  /** The Lease; without it this process works without an election. */
  election?: { namespace: string; name: string; times?: Times };
  metrics?: Metrics;
  /** Maximum silence of a watch; default 90 s. */
  idleMs?: number;
  /** Maximum time without contact for a kind while this process counts as ready; default 5 min. */
  staleMs?: number;
}

export class Manager {
  readonly metrics: Metrics;
  readonly kube: Kube;
  readonly #log: Log;
  readonly #rest: Rest;
  readonly #caches: Caches;
  readonly #leader: Leader | undefined;
  readonly #recorder: EventRecorder;
  readonly #works: { controller: Controller; watches: readonly Watch[]; work: Work }[];
  readonly #leaseName: string;
  readonly #staleMs: number;
  #leads = false;
  /** No more writes; Events may follow for a moment. */
  #stops = false;
  #over = false;

  constructor(options: ManagerOptions) {
    const { credentials, controllers, log, election } = options;
    this.#log = log;
    this.metrics = options.metrics ?? newMetrics();
    this.#leaseName = election?.name ?? 'none';
    this.#staleMs = options.staleMs ?? STALE_MS;
    const rest = new Rest({ credentials, metrics: this.metrics, fence: () => this.#fence(this.#stops) });
    this.#rest = rest;
    this.#leader = election && new Leader({ rest, log, ...election });
    const watched = controllers.map((controller) => ({ controller, watches: watchesOf(controller) }));
    this.#caches = new Caches(
      { rest, metrics: this.metrics, log, ...idleOf(options) },
      {
        namespaces: options.namespaces ?? [],
        watches: watched.flatMap(({ watches }) => watches),
        discovery: new Discovery(rest),
        changed: (object) => this.#changed(object),
      },
    );
    this.#recorder = new EventRecorder({ rest, log, fence: () => this.#fence(this.#over) });
    const deps = { rest, caches: this.#caches, metrics: this.metrics, recorder: this.#recorder };
    const kube = new KubeClient(deps);
    this.kube = kube;
    const work = { kube, metrics: this.metrics, log, workers: options.workers ?? 4 };
    this.#works = watched.map((entry) => ({ ...entry, work: new Work(entry.controller, work) }));
    for (const { controller, work } of this.#works) controller.sources?.((key) => work.add(key));
  }

  get leads(): boolean {
    return this.#leads;
  }

  /** Runs until the signal and returns true. Returns false when the Lease is lost: the process must then restart. */
  async run(signal: AbortSignal): Promise<boolean> {
    this.#caches.start();
    try {
      await aborted(signal, this.#caches.synced());
      if (signal.aborted) return true;
      this.#log.info('the caches are filled');
      if (!this.#leader) return await this.#lead(signal, () => untilAborted(signal));
      const leader = this.#leader;
      await leader.acquire(signal);
      if (signal.aborted) return true;
      return await this.#lead(signal, () => leader.hold(signal));
    } finally {
      await this.#leader?.release();
      this.#leads = false;
      await this.#caches.stop();
      this.#rest.close();
    }
  }

  /** The loops make progress. An unreachable API server is no reason to restart. */
  alive(): boolean {
    return this.#caches.informers().every((informer) => informer.stuckMs() < STUCK_MS);
  }

  /** The caches are filled and not outdated. */
  ready(): boolean {
    const informers = this.#caches.informers();
    return informers.every(({ synced, served }) => synced || served === false) && this.#fresh();
  }

  /** Prometheus text. */
  async exposition(): Promise<string> {
    for (const informer of this.#caches.informers()) informer.measure();
    this.metrics.leader.set({ name: this.#leaseName }, this.#leads ? 1 : 0);
    return this.metrics.registry.metrics();
  }

  #fresh(): boolean {
    return this.#caches.informers().every((informer) => informer.stalenessMs() < this.#staleMs);
  }

  async #lead(signal: AbortSignal, held: () => Promise<void>): Promise<boolean> {
    this.#leads = true;
    this.#log.info({ identity: this.#leader?.identity }, 'this process leads');
    for (const { work } of this.#works) work.start();
    await held();
    if (!signal.aborted) {
      this.#log.error('the lease was lost');
      return false;
    }
    await this.#drained();
    return true;
  }

  /**
   * Running passes end at their next write, which the next leader makes, so that the Lease is released without waiting for
   * them.
   */
  async #drained(): Promise<void> {
    this.#stops = true;
    for (const { work } of this.#works) void work.stop();
    await within(SENT_MS, this.#rest.settled());
    await within(EVENTS_MS, this.#recorder.flushed());
    this.#over = true;
  }

  #fence(isEnding: boolean): void {
    if (isEnding) throw new Deposed('this process is about to end');
    this.#leader?.fence();
  }

  #changed(object: KubeObject): void {
    for (const { controller, watches, work } of this.#works) {
      const concerned = watches.filter(({ kind }) => kind === object.kind);
      for (const key of concerned.flatMap((watch) => this.#keysOf(controller, watch, object))) work.add(key);
    }
  }

  #keysOf({ kind }: Controller, watch: Watch, object: KubeObject): readonly Key[] {
    if (watch.keys) return watch.keys(object, this.#caches);
    const { namespace = '', name } = object.metadata;
    if (watch.kind === kind) return [{ namespace, name }];
    const controller = controllerOf(object);
    if (controller) return controller.kind === kind ? [{ namespace, name: controller.name }] : [];
    const uid = object.metadata.labels?.[OWNER];
    if (uid === undefined) return [];
    const owner = this.#caches.list(kind, namespace).find(({ metadata }) => metadata.uid === uid);
    return owner ? [{ namespace, name: owner.metadata.name }] : [];
  }
}

const idleOf = ({ idleMs }: ManagerOptions): { idleMs?: number } => (idleMs === undefined ? {} : { idleMs });

function watchesOf({ kind, watches }: Controller): readonly Watch[] {
  return watches.some((watch) => watch.kind === kind) ? watches : [{ apiVersion: GROUP_VERSION, kind }, ...watches];
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const { promise, resolve } = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => resolve(), { once: true });
  await promise;
}

/** Resolves after this time at the latest. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

/** Resolves when either does. */
async function aborted(signal: AbortSignal, work: Promise<void>): Promise<void> {
  await Promise.race([work, untilAborted(signal)]);
}
