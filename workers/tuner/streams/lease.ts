import type { Redis } from '#platform/redis.ts';

export const LEASE_MS = 10_000;
/** How long a request for the lease counts; it is repeated each second. */
const REQUESTED_MS = 3000;
const keyOf = (tunerId: string): string => `foyer:live:lease:${tunerId}`;

/** Taken when it is free or when another process of the same pod has it; the answer is the epoch of the holder, or 0. */
const TAKE = `
  local held = redis.call('get', KEYS[1])
  if held and string.match(held, '^(.*) %d+$') ~= ARGV[1] then return 0 end
  local epoch = redis.call('incr', KEYS[2])
  redis.call('set', KEYS[1], ARGV[1] .. ' ' .. epoch, 'PX', ARGV[2])
  return epoch`;

const RENEW = `
  if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('pexpire', KEYS[1], ARGV[2]) end
  return 0`;

/** The one owner of a tuner. Without Redis the process goes on, because the operator runs one pod a tuner. */
export class TunerLease {
  readonly #redis: Redis;
  readonly #tunerId: string;
  readonly #pod: string;
  #epoch: number | undefined;

  constructor(redis: Redis, { tunerId, pod }: { tunerId: string; pod: string }) {
    this.#redis = redis;
    this.#tunerId = tunerId;
    this.#pod = pod;
  }

  /** Takes or renews the lease. False while another pod has it. */
  async hold(): Promise<boolean> {
    const key = keyOf(this.#tunerId);
    try {
      if (this.#epoch !== undefined) {
        const renewed = await this.#redis.eval(RENEW, 1, key, `${this.#pod} ${this.#epoch}`, LEASE_MS);
        if (Number(renewed) === 1) return true;
      }
      const epoch = Number(await this.#redis.eval(TAKE, 2, key, `${key}:epoch`, this.#pod, LEASE_MS));
      this.#epoch = epoch || undefined;
      if (epoch === 0) await this.#redis.set(`${key}:requested`, this.#pod, 'PX', REQUESTED_MS);
      return epoch > 0;
    } catch {
      return true;
    }
  }

  /** Whether another pod waits for the lease. */
  async isRequested(): Promise<boolean> {
    return (await this.#redis.exists(`${keyOf(this.#tunerId)}:requested`).catch(() => 0)) === 1;
  }

  /** Gives the lease to the next process at once. */
  async release(): Promise<void> {
    if (this.#epoch === undefined) return;
    const script = `if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) end return 0`;
    await this.#redis.eval(script, 1, keyOf(this.#tunerId), `${this.#pod} ${this.#epoch}`).catch(() => 0);
  }
}
