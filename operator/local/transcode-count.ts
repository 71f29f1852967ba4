// How many transcode workers ought to run on this machine, by what the API tells of demand. Pure.
import type { PoolDemand } from '../media-server/transcode-pool.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';

export interface ObservedTranscode {
  /** Undefined while no API process tells. */
  demand: PoolDemand | undefined;
  /** Workers that run now. */
  running: number;
  /** Those of them that did not report for minutes: they take no session. */
  silent: number;
}

/**
 * As in a cluster: `warm` workers wait, others are started while sessions wait for a slot, up to `max`, and end once they have served
 * nobody for `idleSeconds`. The highest number ends first, so one in use keeps those below it.
 */
export function transcodeCount(
  spec: MediaServerSpec['transcode'],
  { demand, running, silent }: ObservedTranscode,
): number {
  const clamp = (wanted: number): number => Math.min(Math.max(wanted, spec.warm), spec.max);
  if (!demand) return clamp(running);
  const busy = demand.workers.filter(({ used, idleSeconds }) => used > 0 || idleSeconds < spec.idleSeconds);
  const highest = Math.max(0, ...busy.map(({ pod }) => numberOf(pod)));
  const starting = Math.max(0, running - demand.workers.length - silent) * spec.sessionsPerJob;
  const free = demand.workers.reduce((sum, { slots, used }) => sum + slots - used, starting);
  const more = Math.ceil(Math.max(0, demand.waiting - free) / spec.sessionsPerJob);
  return clamp(Math.max(highest, more > 0 ? running + more : 0, starting > 0 ? running : 0));
}

/** Of `transcode-2-1f09ab`. */
const numberOf = (pod: string): number => Number(pod.split('-')[1]) || 0;
