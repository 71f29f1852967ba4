import { z } from 'zod';
import { Id } from '#kernel/schemas.ts';

const HOUR_MS = 3_600_000;
const Offset = z.int().min(-HOUR_MS).max(HOUR_MS);

export const SubtitleParams = z.object({ id: Id, streamId: Id });

export const SyncChange = z.strictObject({
  offsetMs: Offset.describe('Added to every cue, after the rate').meta({ example: 1200 }),
  rate: z.number().min(0.9).max(1.1).default(1).describe('1 is as made'),
  pieces: z
    .array(z.object({ fromMs: z.int().min(0).max(2_147_483_647), offsetMs: Offset }))
    .max(64)
    .default([])
    .describe('Cue times from which another offset holds, rising in fromMs'),
});
export type SyncChange = z.output<typeof SyncChange>;
