import type { Task, TaskList } from 'graphile-worker';
import type { Queue } from '#platform/jobs.ts';
import { type LaneSpec, YIELDING } from '#platform/lanes.ts';
import { taskOf } from '#platform/queue.ts';
import type { WorkerDeps } from './work.ts';

/**
 * Decides which queues of a lane may start a job in this process, by the current settings: a change needs no restart.
 */
export class Lane {
  readonly queues: readonly Queue[];
  readonly #spec: LaneSpec;
  readonly #deps: Pick<WorkerDeps, 'settings' | 'config'>;
  readonly #streaming: () => boolean;
  readonly #running = new Map<Queue, number>();

  constructor(spec: LaneSpec, deps: Pick<WorkerDeps, 'settings' | 'config'>, streaming: () => boolean) {
    this.queues = spec.queues;
    this.#spec = spec;
    this.#deps = deps;
    this.#streaming = streaming;
  }

  /** Paused by a person, or while anyone streams: running jobs end at their next checkpoint. */
  isStill(queue: Queue): boolean {
    const yields = YIELDING.includes(queue) && this.#streaming();
    return yields || this.#deps.settings.get('jobs.paused').includes(queue);
  }

  /** True while it is not paused and has a free slot. A queue with a concurrency of its own shares no slots. */
  isOpen(queue: Queue): boolean {
    if (this.isStill(queue)) return false;
    const own = this.#own(queue);
    if (own !== null) return this.#runningOf([queue]) < own;
    const sharing = this.queues.filter((one) => this.#own(one) === null);
    return this.#runningOf(sharing) < this.#spec.places(this.#deps);
  }

  /** The most concurrent jobs of all its queues. */
  get width(): number {
    const own = this.queues.map((queue) => this.#own(queue)).filter((places) => places !== null);
    const shared = own.length < this.queues.length ? this.#spec.places(this.#deps) : 0;
    return own.reduce((sum, places) => sum + places, shared);
  }

  /** Holds a slot of the queue while `work` runs. */
  async hold(queue: Queue, work: () => Promise<void>): Promise<void> {
    const change = (by: number): unknown => this.#running.set(queue, this.#runningOf([queue]) + by);
    change(1);
    try {
      await work();
    } finally {
      change(-1);
    }
  }

  /**
   * The task of each queue; graphile-worker reads the names before each job that it takes, and finds the open queues.
   */
  tasks(taskFor: (queue: Queue) => Task, more: TaskList): TaskList {
    const all = { ...more, ...Object.fromEntries(this.queues.map((queue) => [taskOf(queue), taskFor(queue)])) };
    const open = (): string[] => this.queues.filter((queue) => this.isOpen(queue)).map(taskOf);
    return new Proxy(all, { ownKeys: () => [...Object.keys(more), ...open()] });
  }

  #own(queue: Queue): number | null {
    return this.#deps.settings.get(`jobs.concurrency.${queue}`);
  }

  #runningOf(some: readonly Queue[]): number {
    return some.reduce((sum, queue) => sum + (this.#running.get(queue) ?? 0), 0);
  }
}
