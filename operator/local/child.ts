// One supervised process. It is restarted with a growing pause when it ends, and stopped with its whole process group.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Guarded } from './guard.ts';
import { closeLog, openLog } from './log-file.ts';
import { identityOf } from './process-identity.ts';
import { type ProcessSpec, specHash } from './process-spec.ts';
import { freePort } from './state.ts';

export interface Timing {
  firstPauseMs: number;
  maxPauseMs: number;
  /** After this uptime the restart pause is reset. */
  healthyMs: number;
  probeMs: number;
  /** A process that ran for this long and was ended by an external signal restarts without a pause. */
  steadyMs: number;
  /** Consecutive failed probes, after a successful one, until the process is considered hung. */
  probeFailures: number;
  /** The same for Postgres and Redis: a stalled disk blocks them for up to a minute, and a restart would not help. */
  storeProbeFailures: number;
  /** A process whose probe never answers is considered ready after this. */
  settleMs: number;
}

export const usualTiming: Timing = {
  firstPauseMs: 200,
  maxPauseMs: 30_000,
  healthyMs: 60_000,
  probeMs: 5000,
  steadyMs: 5000,
  probeFailures: 4,
  storeProbeFailures: 24,
  settleMs: 3000,
};

const LEAVING_MS = 5000;
/** Signals from outside the process, including the kernel's out-of-memory killer. A crash raises other signals. */
const OTHERS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGKILL'];
const MOST_AT_ONCE = 5;

/** True when the process answers; false or an exception when it does not. */
export type Probe = (child: Child) => Promise<boolean>;

export interface Surroundings {
  logsDir: string;
  timing: Timing;
  guard: { add(entry: Guarded): void; remove(group: number): void };
  probe?: Probe;
}

export type ChildState = 'starting' | 'ready' | 'backoff' | 'stopped';

/** Emits `change` whenever its state changes. */
export class Child extends EventEmitter<{ change: [] }> {
  readonly spec: ProcessSpec;
  readonly hash: string;
  readonly #around: Surroundings;
  #process: ChildProcess | undefined;
  #state: ChildState = 'starting';
  #startedAt = 0;
  #readyAt = Number.POSITIVE_INFINITY;
  #isSteady = false;
  /** Consecutive starts without a pause. */
  #atOnce = 0;
  #ends = 0;
  #failures = 0;
  #answered = false;
  #stopping = false;
  #timers: NodeJS.Timeout[] = [];
  restarts = 0;
  lastEnd: string | undefined;
  /** The last pause before a start, in milliseconds. */
  pauseMs = 0;
  metricsPort = 0;
  /** Port for `spec.ownPort`. */
  ownPort = 0;
  identity: string | undefined;

  constructor(spec: ProcessSpec, around: Surroundings) {
    super();
    this.spec = spec;
    this.hash = specHash(spec);
    this.#around = around;
  }

  get pid(): number | undefined {
    return this.#process?.pid;
  }

  get state(): ChildState {
    return this.#state;
  }

  async start(): Promise<void> {
    this.metricsPort = await freePort();
    if (this.spec.ownPort) this.ownPort = await freePort();
    if (this.#stopping) return;
    const log = openLog(join(this.#around.logsDir, `${this.spec.name}.log`));
    try {
      this.#launch(log);
    } finally {
      closeLog(log);
    }
  }

  /** Sends the stop signal, waits, and kills. Resolves when the process has ended; never restarts it. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#clear();
    const running = this.#process;
    if (running?.pid) {
      const ended = once(running, 'exit');
      this.#signal(this.spec.stopSignal);
      const grace = new AbortController();
      const forced = sleep(this.spec.graceMs, undefined, { signal: grace.signal }).then(() => this.kill());
      await Promise.race([ended, forced.catch(() => undefined)]);
      grace.abort();
      await Promise.race([ended, sleep(LEAVING_MS, undefined, { ref: false })]); // a process that hangs in the kernel is abandoned
    }
    this.#become('stopped');
  }

  /** Kills the process; it restarts unless it is being stopped. */
  kill(): void {
    this.#signal(lastSignal(this.spec));
  }

  #launch(log: number): void {
    const { command, args, cwd, uid, gid } = this.spec;
    // One that never overlaps its successor has the same name again, so that the successor takes its leases at once.
    const pod = this.spec.overlaps ? `${this.spec.name}-${randomBytes(3).toString('hex')}` : this.spec.name;
    const ports = {
      FOYER_METRICS_PORT: String(this.metricsPort),
      ...(this.spec.ownPort && { FOYER_PORT: String(this.ownPort) }),
    };
    const env = { ...this.spec.env, ...this.spec.hints, FOYER_POD: pod, ...ports };
    const user = { ...(uid !== undefined && { uid }), ...(gid !== undefined && { gid }) };
    const child = spawn(command, args, { cwd, env, ...user, detached: true, stdio: ['ignore', log, log] });
    this.#process = child;
    this.#startedAt = Date.now();
    this.#answered = false;
    this.#failures = 0;
    this.#readyAt = Number.POSITIVE_INFINITY;
    this.#become('starting');
    child.once('error', (error) => this.#ended(error.message));
    child.once('exit', (code, signal) => {
      this.#endSteady(signal);
      this.#ended(signal ?? `exit ${code}`);
    });
    if (!child.pid) return;
    this.identity = identityOf(child.pid);
    this.#around.guard.add({ group: child.pid, signal: this.spec.stopSignal, last: lastSignal(this.spec) });
    this.#watch();
    this.emit('change'); // the pid changed even if the state did not
  }

  #watch(): void {
    const { probe, timing } = this.#around;
    const settle = (): void => {
      if (this.#state === 'starting' && !this.#answered) this.#become('ready');
    };
    if (!probe) this.#timers.push(setTimeout(settle, timing.settleMs));
    else this.#again(probe, Math.min(100, timing.probeMs));
  }

  #again(probe: Probe, pauseMs: number): void {
    const launched = this.#process;
    const timer = setTimeout(() => {
      void probe(this)
        .catch(() => false)
        .then((answers) => {
          if (this.#process === launched && launched) this.#judge(probe, answers);
        });
    }, pauseMs);
    timer.unref();
    this.#timers = [timer];
  }

  #judge(probe: Probe, answers: boolean): void {
    const { timing } = this.#around;
    this.#failures = answers ? 0 : this.#failures + 1;
    this.#answered ||= answers;
    if (answers) this.#become('ready');
    if (this.#answered && this.#failures >= this.#mostFailures(timing)) {
      this.lastEnd = 'hung';
      this.kill();
      return;
    }
    this.#again(probe, this.#answered ? timing.probeMs : Math.min(100, timing.probeMs));
  }

  #mostFailures({ probeFailures, storeProbeFailures }: Timing): number {
    return ['postgres', 'redis'].includes(this.spec.role) ? storeProbeFailures : probeFailures;
  }

  /** Recognizes an end that is not the fault of the process: it ran for a while, and an external signal ended it. */
  #endSteady(signal: NodeJS.Signals | null): void {
    const { steadyMs } = this.#around.timing;
    const isOthers = signal !== null && OTHERS.includes(signal) && this.lastEnd !== 'hung';
    const isSteady = isOthers && Date.now() - this.#readyAt >= steadyMs;
    this.#atOnce = isSteady ? this.#atOnce + 1 : 0;
    this.#isSteady = isSteady && this.#atOnce <= MOST_AT_ONCE;
  }

  #ended(how: string): void {
    const { pid } = this.#process ?? {};
    this.#process = undefined;
    this.#clear();
    if (pid) {
      killGroup(pid, 'SIGKILL'); // processes that it started, such as ffmpeg
      this.#around.guard.remove(pid);
    }
    this.lastEnd = this.lastEnd === 'hung' ? 'hung' : how;
    if (this.#stopping) this.#become('stopped');
    else this.#pause();
  }

  #pause(): void {
    const { firstPauseMs, maxPauseMs, healthyMs } = this.#around.timing;
    if (this.#isSteady || Date.now() - this.#startedAt >= healthyMs) this.#ends = 0;
    this.pauseMs = this.#isSteady ? 0 : Math.min(firstPauseMs * 2 ** this.#ends, maxPauseMs);
    if (!this.#isSteady) this.#ends += 1;
    this.#isSteady = false;
    this.#become('backoff');
    this.#timers = [setTimeout(() => this.#restart(), this.pauseMs)];
  }

  #restart(): void {
    this.restarts += 1;
    this.lastEnd = undefined;
    this.start().catch((error: Error) => this.#ended(error.message));
  }

  #signal(signal: NodeJS.Signals): void {
    if (this.#process?.pid) killGroup(this.#process.pid, signal);
  }

  #clear(): void {
    for (const timer of this.#timers) clearTimeout(timer);
    this.#timers = [];
  }

  #become(state: ChildState): void {
    if (this.#state === state) return;
    this.#state = state;
    if (state === 'ready') this.#readyAt = Date.now();
    this.emit('change');
  }
}

/** The signal that ends a process which ignored its stop signal. */
export const lastSignal = (spec: ProcessSpec): NodeJS.Signals => (spec.role === 'postgres' ? 'SIGQUIT' : 'SIGKILL');

export function killGroup(group: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-group, signal);
  } catch {
    // the group has no process left
  }
}
