// Finds transcode workers that run and do not report.
import type { PoolDemand } from './media-server/transcode-pool.ts';

/** A running worker reports within seconds. */
export const SILENT_MS = 5 * 60_000;

/** Records since when each running worker is missing from the reports. */
export class SilentWorkers {
  readonly #since = new Map<string, number>();

  /** Workers of `running` without a report for five minutes. Time without any report of the server does not count. */
  look(running: readonly string[], demand: PoolDemand | undefined, now: Date): ReadonlySet<string> {
    const reported = demand?.workers.map(({ pod }) => pod) ?? [];
    const absent = demand ? running.filter((name) => !reported.includes(name)) : [];
    for (const name of this.#since.keys()) if (!absent.includes(name)) this.#since.delete(name);
    for (const name of absent) if (!this.#since.has(name)) this.#since.set(name, now.getTime());
    return new Set(absent.filter((name) => now.getTime() - (this.#since.get(name) ?? 0) >= SILENT_MS));
  }
}
