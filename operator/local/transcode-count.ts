// The desired number of transcode workers on this machine, from the demand that the API reports. Pure.
import type { PoolDemand } from '../media-server/transcode-pool.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';

export interface ObservedTranscode {
  /** Undefined while no API process reports it. */
  demand: PoolDemand | undefined;
  /** Workers that run now. */
  running: number;
  /** Workers of these that have not reported for minutes: they serve no session. */
  silent: number;
}

/**
 * As in a cluster: `warm` workers stay idle, more are started while sessions wait for a slot, up to `max`, and workers end
 * after `idleSeconds` without a session. The highest number ends first, so a busy worker keeps those with lower numbers.
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

/** The 2 of `transcode-2-1f09ab`. */
const numberOf = (pod: string): number => Number(pod.split('-')[1]) || 0;
