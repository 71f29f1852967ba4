import type { Redis } from '../redis.ts';

/** What a tuner process writes to Redis every 5 seconds. */
export interface TunerReport {
  /** Unix ms. */
  at: number;
  ready: boolean;
  slots: {
    index: number;
    state: 'free' | 'tuned' | 'foreign';
    signalPercent?: number;
    qualityPercent?: number;
    bitrate?: number;
  }[];
  pod: { name: string; node: string; ready: boolean; restarts: number };
}

export const liveTunerKey = (tunerId: string): string => `foyer:live:tuner:${tunerId}`;

/** A tuner process that has been silent for this long is not running. */
const SILENT_MS = 15_000;

/** Tuners by their processes. */
export interface PresentTuners {
  /** They take new streams. */
  ready: ReadonlySet<string>;
  /** Those, and the ones that leave: they still receive the streams that they have. */
  present: ReadonlySet<string>;
}

/** Those of these tuners whose process takes new streams; undefined when Redis is unavailable. */
export async function runningTuners(
  redis: Redis,
  tunerIds: readonly string[],
): Promise<ReadonlySet<string> | undefined> {
  return (await presentTuners(redis, tunerIds))?.ready;
}

/** Undefined when Redis is unavailable. */
export async function presentTuners(redis: Redis, tunerIds: readonly string[]): Promise<PresentTuners | undefined> {
  if (tunerIds.length === 0) return { ready: new Set(), present: new Set() };
  const texts = await redis.mget(tunerIds.map(liveTunerKey)).catch(() => undefined);
  if (!texts) return undefined;
  const reports = tunerIds.flatMap((id, at) => {
    const text = texts[at];
    return text ? [{ id, ...(JSON.parse(text) as TunerReport) }] : [];
  });
  const fresh = reports.filter(({ at }) => Date.now() - at < SILENT_MS);
  return {
    ready: new Set(fresh.filter(({ ready }) => ready).map(({ id }) => id)),
    present: new Set(fresh.map(({ id }) => id)),
  };
}
