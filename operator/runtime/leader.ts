// One of several operators works. By a Lease, as the components of Kubernetes do it: 15 s to expire, 10 s to renew, every 2 s. Who waits
// looks every second, so that a Lease that is let go of is taken within that, and one that expires within two more.
// A leader that could not renew stops writing by its own clock, 5 s before anybody may take the Lease.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deposed, hasStatus } from './faults.ts';
import type { Log } from './log.ts';
import type { Rest } from './rest.ts';

export interface Times {
  leaseMs: number;
  renewMs: number;
  retryMs: number;
  /** Of who waits for it. */
  waitMs: number;
}

const TIMES: Times = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2000, waitMs: 1000 };
const RELEASE_MS = 3000;
const RELEASES = 3;

interface LeaseSpec {
  holderIdentity?: string;
  leaseDurationSeconds?: number;
  acquireTime?: string;
  renewTime?: string;
  leaseTransitions?: number;
}

interface Lease {
  metadata: { name: string; namespace: string; resourceVersion?: string };
  spec?: LeaseSpec;
}

/** Two clocks: one that nobody sets back, and one that goes on while the machine sleeps. The later word counts. */
interface Moment {
  steady: number;
  wall: number;
}

const now = (): Moment => ({ steady: performance.now(), wall: Date.now() });
const since = ({ steady, wall }: Moment): number => Math.max(performance.now() - steady, Date.now() - wall);

export interface LeaderOptions {
  rest: Rest;
  log: Log;
  namespace: string;
  name: string;
  times?: Times;
}

export class Leader {
  readonly #rest: Rest;
  readonly #log: Log;
  readonly #base: string;
  readonly #metadata: { name: string; namespace: string };
  readonly #times: Times;
  readonly identity = `${hostname()}_${randomUUID()}`;
  #renewed: Moment | undefined;
  /** The Lease as it was first seen with this content, by our own clock: those of others may be wrong. */
  #observed: { text: string; at: number } | undefined;

  constructor({ rest, log, namespace, name, times }: LeaderOptions) {
    this.#rest = rest;
    this.#log = log;
    this.#times = times ?? TIMES;
    this.#metadata = { namespace, name };
    this.#base = `/apis/coordination.k8s.io/v1/namespaces/${encodeURIComponent(namespace)}/leases`;
  }

  get leads(): boolean {
    return this.#renewed !== undefined && since(this.#renewed) < this.#times.renewMs;
  }

  /** Throws when this process may not write now: before every write. */
  readonly fence = (): void => {
    if (!this.leads) throw new Deposed('this process does not hold the lease');
  };

  /** Returns when this process leads, or the signal came. */
  async acquire(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.leads) {
      await this.#attempt();
      if (!this.leads) await pause(this.#times.waitMs, signal);
    }
  }

  /** Returns when the leadership is lost, or the signal came: then it still leads, until `release`. */
  async hold(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.leads) {
      await pause(this.#times.retryMs, signal);
      if (!signal.aborted && this.leads) await this.#attempt();
    }
  }

  /** So that the next one need not wait. Nothing may be written after it. */
  async release(): Promise<void> {
    const held = this.leads;
    this.#renewed = undefined;
    for (let left = held ? RELEASES : 0; left > 0 && !(await this.#letGo()); left -= 1);
  }

  /** False when it is to be tried again: at a busy server one request may be lost, and the lease lasts much longer. */
  async #letGo(): Promise<boolean> {
    try {
      const lease = await this.#get();
      if (lease?.spec?.holderIdentity !== this.identity) return true;
      await this.#put(lease, { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, renewTime: microTime() });
      return true;
    } catch (error) {
      this.#log.warn({ message: (error as Error).message }, 'the lease could not be released');
      return false;
    }
  }

  /** One try to take or to keep it. A fault leaves things as they are: the deadline goes on. */
  async #attempt(): Promise<void> {
    const began = now();
    try {
      const lease = await this.#get();
      const held = lease ? await this.#renew(lease) : await this.#create();
      this.#renewed = held ? began : undefined;
    } catch (error) {
      if (hasStatus(error, 409))
        this.#observed = undefined; // somebody else was quicker
      else this.#log.warn({ message: (error as Error).message }, 'the lease could not be renewed');
    }
  }

  async #renew(lease: Lease): Promise<boolean> {
    const { spec = {} } = lease;
    const ours = spec.holderIdentity === this.identity;
    if (!ours && !this.#expired(spec)) return false;
    const taken = { acquireTime: microTime(), leaseTransitions: (spec.leaseTransitions ?? 0) + 1 };
    await this.#put(lease, { ...spec, ...this.#spec(), ...(!ours && taken) });
    return true;
  }

  /** Nobody holds it, or it did not change for as long as it lasts while we looked. */
  #expired(spec: LeaseSpec): boolean {
    if (!spec.holderIdentity) return true;
    const text = JSON.stringify(spec);
    if (this.#observed?.text !== text) this.#observed = { text, at: performance.now() };
    const lastsMs = Math.max(this.#times.leaseMs, (spec.leaseDurationSeconds ?? 0) * 1000);
    return performance.now() - this.#observed.at > lastsMs;
  }

  #spec(): LeaseSpec {
    const leaseDurationSeconds = Math.ceil(this.#times.leaseMs / 1000);
    return { holderIdentity: this.identity, leaseDurationSeconds, renewTime: microTime() };
  }

  async #create(): Promise<boolean> {
    const spec = { ...this.#spec(), acquireTime: microTime(), leaseTransitions: 0 };
    const body = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: this.#metadata, spec };
    await this.#rest.note({ method: 'POST', path: this.#base, body, ...this.#urgent() });
    return true;
  }

  /** With the version that was read: of two that try, one gets 409. */
  async #put(lease: Lease, spec: LeaseSpec): Promise<void> {
    const path = `${this.#base}/${this.#metadata.name}`;
    const body = { ...lease, apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', spec };
    await this.#rest.note({ method: 'PUT', path, body, ...this.#urgent() });
  }

  async #get(): Promise<Lease | undefined> {
    try {
      return await this.#rest.read<Lease>({
        method: 'GET',
        path: `${this.#base}/${this.#metadata.name}`,
        ...this.#urgent(),
      });
    } catch (error) {
      if (hasStatus(error, 404)) return undefined;
      throw error;
    }
  }

  #urgent() {
    const limit = Math.min(RELEASE_MS, this.#times.renewMs / 2);
    return { urgent: true, idleMs: limit, signal: AbortSignal.timeout(limit) };
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms * (1 + Math.random() / 5), undefined, { signal }).catch(() => undefined);
}

/** metav1.MicroTime */
const microTime = (): string => new Date().toISOString().replace('Z', '000Z');
