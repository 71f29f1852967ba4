// What tuner pods write to Redis every few seconds.
import { z } from 'zod';
import { type Redis, withoutFail } from '#platform/redis.ts';

export const tunerKey = (id: string): string => `foyer:live:tuner:${id}`;
/** A pod that is silent for this long is not reached. */
export const SILENT_MS = 15_000;

const percent = z.int().min(0).max(100).optional();
const Report = z.object({
  at: z.union([z.iso.datetime(), z.number()]).transform((at) => new Date(at).getTime()),
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

/** The last report of each pod that spoke within 15 seconds, by the tuner. */
export async function podReports(redis: Redis, ids: readonly string[], now: Date): Promise<Map<string, PodReport>> {
  if (ids.length === 0) return new Map();
  const texts = await withoutFail(() => redis.mget(ids.map(tunerKey)), []);
  const found = ids.map((id, i) => [id, read(texts[i])] as const);
  return new Map(found.flatMap(([id, one]) => (one && now.getTime() - one.at < SILENT_MS ? [[id, one]] : [])));
}

function read(text: string | null | undefined): PodReport | undefined {
  if (!text) return undefined;
  try {
    return Report.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}
