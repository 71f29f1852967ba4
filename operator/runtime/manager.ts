// Puts the kit together: caches that follow the API server, a lease, and workers while this process leads.
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

/** A write that was sent is answered within this: the API server gives it up after 5 s. */
const SENT_MS = 6000;
/** Events that were recorded are written, as far as that takes no longer: somebody waits for the lease. */
const EVENTS_MS = 1000;
const STUCK_MS = 600_000;
const STALE_MS = 300_000;

export interface ManagerOptions {
  credentials: Credentials;
  controllers: readonly Controller[];
  log: Log;
  /** None is all of them. */
  namespaces?: readonly string[];
  /** Of each controller; 4 unless told. */
  workers?: number;
  /** Where the Lease lies; absent: this process works without asking. */
  election?: { namespace: string; name: string; times?: Times };
  metrics?: Metrics;
  /** How long a watch may be silent; 90 s unless told. */
  idleMs?: number;
  /** How long nothing may be heard of a kind while this process counts as ready; 5 min unless told. */
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
  /** Nothing more is written; Events may follow for a moment. */
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

  /** Until the signal: true. False when the lease was lost: the process must end, and start anew. */
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

  /** The loops turn. An API server that is away is no reason to start anew. */
  alive(): boolean {
    return this.#caches.informers().every((informer) => informer.stuckMs() < STUCK_MS);
  }

  /** The caches are filled, and not old. */
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

  /** Passes under way end at their next write, which the next leader makes: whoever waits for the lease does not wait for them. */
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

/** At the latest after so long. */
async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  await Promise.race([work, promise]);
  clearTimeout(timer);
}

/** Either. */
async function aborted(signal: AbortSignal, work: Promise<void>): Promise<void> {
  await Promise.race([work, untilAborted(signal)]);
}
