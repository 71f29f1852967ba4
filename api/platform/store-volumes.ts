// Space on the volumes of stores that the operator runs: measured by a worker, reported by the API.
import { Gauge, type Registry, register } from 'prom-client';
import { z } from 'zod';
import type { Redis } from './redis.ts';

const MEASURED = 'foyer:store-volumes';
/** A worker measures each minute; older measurements are not reported. */
const HOLDS_MS = 300_000;

const Measured = z.object({ free: z.number(), total: z.number(), at: z.number() });
const Stored = z
  .string()
  .transform((text, context): unknown => {
    try {
      return JSON.parse(text);
    } catch {
      context.addIssue('not JSON');
      return z.NEVER;
    }
  })
  .pipe(Measured);

export interface VolumeSpace {
  /** Bytes. */
  free: number;
  total: number;
}

export async function keepMeasured(redis: Redis, volume: string, { free, total }: VolumeSpace): Promise<void> {
  await redis.hset(MEASURED, volume, JSON.stringify({ free, total, at: Date.now() }));
}

/** By the name of the volume. */
async function lastMeasured(redis: Redis): Promise<[string, VolumeSpace][]> {
  const texts = await redis.hgetall(MEASURED).catch(() => ({}));
  return Object.entries(texts).flatMap(([volume, text]) => {
    const { data: space } = Stored.safeParse(text); // another version may write another shape
    return space && Date.now() - space.at < HOLDS_MS ? [[volume, space] as [string, VolumeSpace]] : [];
  });
}

/** Undefined for a volume without a measurement of the last minutes. */
export async function volumeSpace(redis: Redis, volume: string | undefined): Promise<VolumeSpace | undefined> {
  return (await lastMeasured(redis)).find(([name]) => name === volume)?.[1];
}

/** Read at each scrape, for the operator's alerts about space. */
export function serveVolumeMetrics(redis: Redis, registry: Registry = register): void {
  const gauges = { free: 'Free bytes of the volume of a store.', total: 'Size of the volume of a store in bytes.' };
  for (const member of ['free', 'total'] as const)
    new Gauge({
      name: `foyer_store_volume_${member}_bytes`,
      help: gauges[member],
      labelNames: ['volume'],
      registers: [registry],
      async collect() {
        const measured = await lastMeasured(redis);
        this.reset();
        for (const [volume, space] of measured) this.set({ volume }, space[member]);
      },
    });
}
