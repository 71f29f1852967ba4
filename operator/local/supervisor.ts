import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { Child, lastSignal, type Probe, type Surroundings, type Timing, usualTiming } from './child.ts';
import { Guard } from './guard.ts';
import { rotateLog } from './log-file.ts';
import { type OneShot, runOnce } from './one-shot.ts';
import { rememberChildren } from './orphans.ts';
import { type Action, type ProcessSpec, plan, type Role } from './process-spec.ts';

const LOG_BYTES = 10 * 2 ** 20;
const ROTATE_MS = 10_000;
const STOP_ORDER: readonly (readonly Role[])[] = [
  ['api'],
  ['worker', 'transcode', 'speech', 'tuner', 'restore'],
  ['redis', 'postgres'],
];

export interface SupervisorOptions {
  dir: string;
  probes?: Partial<Record<Role, Probe>>;
  timing?: Timing;
}

/** Keeps the desired processes running. Emits `change` when one changes state, and `fault` for errors of its own files. */
export class Supervisor extends EventEmitter<{ change: []; fault: [Error] }> {
  readonly #options: SupervisorOptions;
  readonly #guard = new Guard();
  readonly #children = new Map<string, Child>();
  /** Replaced children, until their successors are ready. */
  readonly #retiring = new Set<{ child: Child; successor: Child }>();
  readonly #leaving = new Map<Child, Promise<void>>();
  readonly #rotation: NodeJS.Timeout;

  constructor(options: SupervisorOptions) {
    super();
    this.#options = options;
    this.#rotation = setInterval(() => this.#rotate(), ROTATE_MS);
    this.#rotation.unref();
  }

  /** Starts, replaces and stops processes of these roles to match `desired`. */
  async apply(desired: readonly ProcessSpec[], roles: readonly Role[]): Promise<Action[]> {
    const running = new Map(
      [...this.#children].map(([name, child]) => [name, { role: child.spec.role, hash: child.hash }]),
    );
    const actions = plan(desired, running, roles);
    for (const action of actions) await this.#act(action);
    return actions;
  }

  children(role?: Role): Child[] {
    return [...this.#children.values()].filter((child) => !role || child.spec.role === role);
  }

  /** True when the child is ready, or the one that it replaces still is. */
  isServed(child: Child): boolean {
    const before = [...this.#retiring].find(({ successor }) => successor === child)?.child;
    return child.state === 'ready' || before?.state === 'ready';
  }

  /** True while a replaced process still runs concurrently with its successor. */
  get replacing(): boolean {
    return this.#retiring.size > 0;
  }

  /** Stops all processes: the API first, stores last. */
  async stop(): Promise<void> {
    clearInterval(this.#rotation);
    const all = [...this.#children.values(), ...[...this.#retiring].map(({ child }) => child)];
    for (const roles of STOP_ORDER)
      await Promise.all(all.filter((child) => roles.includes(child.spec.role)).map((child) => child.stop()));
    await Promise.all(this.#leaving.values());
    this.#attempt(() => rememberChildren(this.#options.dir, []));
    this.#guard.close();
  }

  /**
   * Runs a process that ends by itself, such as the migrations. Returns its exit status; undefined when a signal ended it.
   */
  runOnce(job: OneShot, signal: AbortSignal): Promise<number | undefined> {
    return runOnce(job, { logsDir: join(this.#options.dir, 'logs'), guard: this.#guard, signal });
  }

  /** Kills all processes. */
  kill(): void {
    const retiring = [...this.#retiring].map(({ child }) => child);
    for (const child of [...this.#children.values(), ...retiring, ...this.#leaving.keys()]) child.kill();
  }

  async #act(action: Action): Promise<void> {
    if (action.do === 'stop') return this.#stop(action.name);
    const before = action.do === 'replace' ? this.#children.get(action.spec.name) : undefined;
    if (before && !action.spec.overlaps) await before.stop();
    const child = this.#newChild(action.spec);
    if (before && action.spec.overlaps) this.#retire(before, child);
    this.#children.set(action.spec.name, child);
    await child.start();
  }

  #stop(name: string): void {
    const child = this.#children.get(name);
    this.#children.delete(name);
    if (child) this.#leave(child);
  }

  /** The old process ends once the new one is ready, so that a bad change causes no outage. */
  #retire(child: Child, successor: Child): void {
    for (const pair of this.#retiring) {
      if (pair.successor !== child) continue;
      this.#leave(child); // it never became ready; the process that it was to replace waits for the newest one
      pair.successor = successor;
      return;
    }
    this.#retiring.add({ child, successor });
  }

  #newChild(spec: ProcessSpec): Child {
    const { dir, timing, probes } = this.#options;
    const probe = probes?.[spec.role];
    const around: Surroundings = { logsDir: join(dir, 'logs'), timing: timing ?? usualTiming, guard: this.#guard };
    const child = new Child(spec, probe ? { ...around, probe } : around);
    child.on('change', () => this.#changed());
    return child;
  }

  #changed(): void {
    for (const pair of this.#retiring) {
      if (pair.successor.state !== 'ready') continue;
      this.#retiring.delete(pair);
      this.#leave(pair.child);
    }
    const retiring = [...this.#retiring].map(({ child }) => child);
    const all = [...this.#children.values(), ...retiring, ...this.#leaving.keys()];
    const entries = all.flatMap((child) => {
      if (!child.pid || !child.identity) return [];
      return [
        {
          name: child.spec.name,
          pid: child.pid,
          identity: child.identity,
          signal: child.spec.stopSignal,
          last: lastSignal(child.spec),
        },
      ];
    });
    this.#attempt(() => rememberChildren(this.#options.dir, entries));
    this.emit('change');
  }

  #leave(child: Child): void {
    const gone = child.stop().then(() => {
      this.#leaving.delete(child);
      this.#changed();
    });
    this.#leaving.set(child, gone);
  }

  #rotate(): void {
    for (const name of this.#children.keys())
      this.#attempt(() => rotateLog(join(this.#options.dir, 'logs', `${name}.log`), LOG_BYTES));
  }

  /** With a full disk the children keep running: the guard knows them too. */
  #attempt(work: () => unknown): void {
    try {
      work();
    } catch (error) {
      this.emit('fault', error as Error);
    }
  }
}
