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

/** Those of these tuners whose process runs; undefined when Redis is unavailable. */
export async function runningTuners(redis: Redis, tunerIds: readonly string[]): Promise<Set<string> | undefined> {
  if (tunerIds.length === 0) return new Set();
  const texts = await redis.mget(tunerIds.map(liveTunerKey)).catch(() => undefined);
  if (!texts) return undefined;
  const isRunning = (text: string | null | undefined): boolean => {
    if (!text) return false;
    const report = JSON.parse(text) as TunerReport;
    return report.ready && Date.now() - report.at < SILENT_MS;
  };
  return new Set(tunerIds.filter((_, at) => isRunning(texts[at])));
}
