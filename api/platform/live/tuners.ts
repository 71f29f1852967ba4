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

/** Unix ms of the first report since Redis was empty or heard of no tuner. */
const SINCE = 'foyer:live:tuners-since';

/** A tuner process that has been silent for this long is not running. */
export const SILENT_MS = 15_000;
const SILENT_SEC = SILENT_MS / 1000;

/** Redis forgets a report when its tuner is silent: no clocks of two machines are compared. */
export async function reportTuner(redis: Redis, tunerId: string, report: TunerReport): Promise<void> {
  await redis
    .multi()
    .set(liveTunerKey(tunerId), JSON.stringify(report), 'EX', SILENT_SEC)
    .set(SINCE, report.at, 'EX', SILENT_SEC, 'NX')
    .expire(SINCE, SILENT_SEC)
    .exec()
    .catch(() => null);
}

/** Tuners by their processes. */
export interface PresentTuners {
  /** They take new streams. */
  ready: ReadonlySet<string>;
  /**
   * Those, and the ones that leave: they still receive the streams that they have. After Redis was emptied also those that have
   * had no time for a report.
   */
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
  const answer = await redis.mget([SINCE, ...tunerIds.map(liveTunerKey)]).catch(() => undefined);
  if (!answer) return undefined;
  const [since, ...texts] = answer;
  const reports = tunerIds.flatMap((id, at) => {
    const text = texts[at];
    return text ? [{ id, ...(JSON.parse(text) as TunerReport) }] : [];
  });
  const isKnown = since && Date.now() - Number(since) >= SILENT_MS;
  const unknown = isKnown ? [] : tunerIds.filter((_id, at) => !texts[at]);
  return {
    ready: new Set(reports.filter(({ ready }) => ready).map(({ id }) => id)),
    present: new Set([...reports.map(({ id }) => id), ...unknown]),
  };
}
