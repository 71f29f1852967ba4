// The workers of one controller: take a key, reconcile, and requeue.
import { Deposed, Refusal, StaleCache, Unreached } from './faults.ts';
import { type Controller, type Key, type Kube, PermanentFault } from './kube.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';
import { WorkQueue } from './work-queue.ts';

export interface WorkDeps {
  kube: Kube;
  metrics: Metrics;
  log: Log;
  workers: number;
}

export class Work {
  readonly #controller: Controller;
  readonly #deps: WorkDeps;
  readonly #queue: WorkQueue;
  #running: Promise<void>[] = [];
  #ends = false;

  constructor(controller: Controller, deps: WorkDeps) {
    this.#controller = controller;
    this.#deps = deps;
    const { metrics } = deps;
    const labels = { name: this.#name, controller: this.#name };
    this.#queue = new WorkQueue({
      added: () => metrics.queueAdds.inc(labels),
      depth: (waiting) => metrics.queueDepth.set(labels, waiting),
      waited: (ms) => metrics.queueTime.observe(labels, ms / 1000),
    });
  }

  get #name(): string {
    return this.#controller.name ?? this.#controller.kind.toLowerCase();
  }

  add({ namespace, name }: Key): void {
    this.#queue.add(`${namespace}/${name}`);
  }

  start(): void {
    const { metrics, workers } = this.#deps;
    metrics.maxWorkers.set({ controller: this.#name }, workers);
    this.#running = Array.from({ length: workers }, () => this.#worker());
  }

  /** Running passes end; no new one starts. */
  async stop(): Promise<void> {
    this.#ends = true;
    this.#queue.close();
    await Promise.all(this.#running);
  }

  async #worker(): Promise<void> {
    for (let key = await this.#queue.take(); key !== undefined; key = await this.#queue.take()) {
      await this.#pass(key);
      this.#queue.done(key);
    }
  }

  async #pass(key: string): Promise<void> {
    const { metrics, kube } = this.#deps;
    const controller = this.#name;
    const [namespace = '', name = ''] = key.split('/');
    const ended = metrics.reconcileTime.startTimer({ controller });
    metrics.activeWorkers.inc({ controller });
    try {
      const { requeueAfterMs } = await this.#controller.reconcile({ namespace, name }, kube, new Date());
      this.#queue.forget(key);
      if (requeueAfterMs !== undefined) this.#queue.addAfter(key, requeueAfterMs);
      metrics.reconciles.inc({ controller, result: requeueAfterMs === undefined ? 'success' : 'requeue_after' });
    } catch (error) {
      const isBehind = error instanceof StaleCache;
      metrics.reconciles.inc({ controller, result: isBehind ? 'requeue_after' : 'error' });
      if (isBehind) this.#again(key, error);
      else this.#fault(key, error as Error);
    } finally {
      metrics.activeWorkers.dec({ controller });
      metrics.workTime.observe({ name: controller, controller }, ended());
    }
  }

  /** Not an error: the caches are up to date now. */
  #again(key: string, { message }: StaleCache): void {
    const pauseMs = this.#queue.retry(key, { atMostMs: STALE_CACHE_MS });
    this.#deps.log.info({ controller: this.#name, key, message, pauseMs }, 'a pass was given up');
  }

  #fault(key: string, error: Error): void {
    const { log, metrics } = this.#deps;
    const controller = this.#name;
    if (this.#ends || error instanceof Deposed) return; // the process is about to end
    metrics.reconcileErrors.inc({ controller });
    const permanent = error instanceof PermanentFault;
    if (!permanent) metrics.queueRetries.inc({ name: controller, controller });
    const pauseMs = permanent ? undefined : this.#queue.retry(key, pauseAfter(error));
    if (permanent) this.#queue.forget(key);
    // Only our own errors are logged with a stack; errors of the API server have a message.
    const isOurs = ![PermanentFault, Refusal, Unreached].some((known) => error instanceof known);
    const message = error instanceof Unreached ? `the API server does not answer: ${error.message}` : error.message;
    log.warn({ controller, key, message, stack: isOurs ? error.stack : undefined, pauseMs }, 'a pass failed');
    this.#report(key, message);
  }

  #report(key: string, message: string): void {
    const [namespace = '', name = ''] = key.split('/');
    const object = this.#deps.kube.get(this.#controller.kind, namespace, name);
    if (object) this.#deps.kube.event(object, { type: 'Warning', reason: 'ReconcileFailed', message });
  }
}

/** An API server recovers by itself, and changes in the meantime are not reported, so the retry is soon. */
const UNAVAILABLE_MS = 15_000;
const STALE_CACHE_MS = 1000;

function pauseAfter(error: Error): { atLeastMs?: number; atMostMs?: number } {
  if (error instanceof Unreached) return { atMostMs: UNAVAILABLE_MS };
  if (!(error instanceof Refusal)) return {};
  const isUnavailable = error.status === 429 || error.status >= 500;
  return { atLeastMs: error.retryAfterMs ?? 0, ...(isUnavailable && { atMostMs: UNAVAILABLE_MS }) };
}
