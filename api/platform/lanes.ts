import type { Config } from './config.ts';
import type { Db } from './db.ts';
import { type Queue, queues } from './jobs.ts';
import type { Settings } from './settings.ts';

interface LaneDeps {
  settings: Settings;
  config: Config;
}

/** Queues that share slots in a process, so that none waits behind the jobs of another lane. */
export interface LaneSpec {
  queues: readonly Queue[];
  /** Slots of the queues without a `jobs.concurrency` of their own. */
  places: (deps: LaneDeps) => number;
}

/** Interactive work and deliveries never wait behind a scan, nor a scan behind an analysis. */
export const LANES: readonly LaneSpec[] = [
  { queues: ['interactive', 'live'], places: () => 4 },
  { queues: ['delivery'], places: () => 20 }, // mostly waiting for remote servers
  { queues: ['scan'], places: ({ settings }) => settings.get('scan.concurrent') },
  {
    queues: queues.filter((q) => !['interactive', 'delivery', 'live', 'scan'].includes(q)),
    places: ({ config }) => Math.max(1, config.workerConcurrency - 2),
  },
];

/** The most jobs of the queue that a worker process runs at once. */
export function placesOf(queue: Queue, deps: LaneDeps): number {
  const own = deps.settings.get(`jobs.concurrency.${queue}`);
  return own ?? LANES.find((lane) => lane.queues.includes(queue))?.places(deps) ?? 0;
}

/** Queues that pause while anyone streams. */
export const YIELDING: readonly Queue[] = ['added', 'analysis', 'artwork'];

export const STREAMING = `select exists (select from playback_sessions where state in ('playing', 'buffering')) as streaming`;

export async function isStreaming(db: Db): Promise<boolean> {
  const { rows } = await db.raw<{ rows: { streaming: boolean }[] }>(STREAMING);
  return rows[0]?.streaming ?? false;
}
