// What tuner pods write to Redis every few seconds.
import { z } from 'zod';
import { liveTunerKey } from '#platform/live/tuners.ts';
import { type Redis, withoutFail } from '#platform/redis.ts';

const percent = z.int().min(0).max(100).optional();
const Report = z.object({
  ready: z.boolean(),
  slots: z
    .array(
      z.object({
        index: z.int().min(0),
        state: z.enum(['free', 'tuned', 'foreign']),
        signalPercent: percent,
        qualityPercent: percent,
        bitrate: z.int().min(0).optional(),
      }),
    )
    .max(100)
    .default([]),
  pod: z.object({ name: z.string(), node: z.string(), ready: z.boolean(), restarts: z.int() }).optional(),
});
export type PodReport = z.output<typeof Report>;

/** The last report of each pod that is not silent, by the tuner. */
export async function podReports(redis: Redis, ids: readonly string[]): Promise<Map<string, PodReport>> {
  if (ids.length === 0) return new Map();
  const texts = await withoutFail(() => redis.mget(ids.map(liveTunerKey)), []);
  const found = ids.map((id, i) => [id, read(texts[i])] as const);
  return new Map(found.flatMap(([id, one]) => (one ? [[id, one]] : [])));
}

function read(text: string | null | undefined): PodReport | undefined {
  if (!text) return undefined;
  try {
    return Report.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
