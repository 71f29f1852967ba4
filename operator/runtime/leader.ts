// Elects one of several operators by a Lease, as the components of Kubernetes do: it expires after 15 s, and the leader
// renews it every 2 s for up to 10 s. Candidates check every second, so that a released Lease is acquired within one second,
// and an expired one within two. A leader that could not renew stops writing by its own clock, 5 s before another process may
// acquire the Lease.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { Deposed, hasStatus } from './faults.ts';
import type { Log } from './log.ts';
import type { Manifest } from './manifest.ts';
import type { Rest } from './rest.ts';

export interface Times {
  leaseMs: number;
  renewMs: number;
  retryMs: number;
  /** Interval of candidates. */
  waitMs: number;
}

const TIMES: Times = { leaseMs: 15_000, renewMs: 10_000, retryMs: 2000, waitMs: 1000 };
const RELEASE_MS = 3000;
const RELEASES = 3;

type Lease = Manifest<'Lease'>;
type LeaseSpec = NonNullable<Lease['spec']>;

/** Two clocks: a monotonic one, and one that continues while the machine sleeps. The later time counts. */
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
  /** The Lease and when it was first observed with this content, by our own clock: clocks of other machines may be wrong. */
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

  /** Called before every write; throws when this process may not write. */
  readonly fence = (): void => {
    if (!this.leads) throw new Deposed('this process does not hold the lease');
  };

  /** Resolves when this process leads or the signal is aborted. */
  async acquire(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && !this.leads) {
      await this.#attempt();
      if (!this.leads) await pause(this.#times.waitMs, signal);
    }
  }

  /** Resolves when the leadership is lost, or the signal is aborted: the process then still leads until `release`. */
  async hold(signal: AbortSignal): Promise<void> {
    while (!signal.aborted && this.leads) {
      await pause(this.#times.retryMs, signal);
      if (!signal.aborted && this.leads) await this.#attempt();
    }
  }

  /** Releases the Lease, so that the next leader need not wait. No write may follow. */
  async release(): Promise<void> {
    const held = this.leads;
    this.#renewed = undefined;
    for (let left = held ? RELEASES : 0; left > 0 && !(await this.#tryRelease()); left -= 1);
  }

  /** False when it must be retried: a busy server may drop a request, and the Lease lasts much longer. */
  async #tryRelease(): Promise<boolean> {
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

  /** One attempt to acquire or renew. After an error the deadline stays as it is. */
  async #attempt(): Promise<void> {
    const began = now();
    try {
      const lease = await this.#get();
      const held = lease ? await this.#renew(lease) : await this.#create();
      this.#renewed = held ? began : undefined;
    } catch (error) {
      if (hasStatus(error, 409))
        this.#observed = undefined; // another process was faster
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

  /** It has no holder, or it did not change for its duration while we observed it. */
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
    const body: Lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: this.#metadata, spec };
    await this.#rest.note({ method: 'POST', path: this.#base, body, ...this.#urgent() });
    return true;
  }

  /** With the resource version that was read: of two concurrent updates one gets a 409. */
  async #put(lease: Lease, spec: LeaseSpec): Promise<void> {
    const path = `${this.#base}/${this.#metadata.name}`;
    const body: Lease = { ...lease, apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', spec };
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
