import { z } from 'zod';
import { SubtitleSync } from '#areas/items/public.ts';
import { Id } from '#kernel/schemas.ts';
import { SubtitleAllowance } from '../allowance/allowance.schemas.ts';

/** How an automatic correction ended, as its job stores it. */
export const SyncEnd = z.union([
  z.object({
    outcome: z.enum(['applied', 'already-right', 'no-match']),
    before: z.object({ offsetMs: z.int(), rate: z.number() }),
    confidence: z.number(),
    heardMs: z.int(),
    audioStreamId: Id,
    tookMs: z.int(),
  }),
  /** Nothing was compared. */
  z.object({ refused: z.enum(['storage', 'too-few-cues', 'no-soundtrack', 'no-cues', 'decode', 'gone']) }),
]);
export type SyncEnd = z.output<typeof SyncEnd>;

export const SyncResult = z
  .object({
    outcome: z.enum(['applied', 'already-right', 'no-match', 'running']),
    sync: SubtitleSync,
    before: z.object({ offsetMs: z.int(), rate: z.number() }).describe('The correction that held before'),
    confidence: z.number().min(0).max(1).optional().describe('Below 0.5 nothing changes').meta({ example: 0.9 }),
    heardMs: z.int().describe('How much of the soundtrack was compared').meta({ example: 1_080_000 }),
    audioStreamId: Id,
    tookMs: z.int().meta({ example: 9000 }),
    allowance: SubtitleAllowance.optional(),
  })
  .meta({ id: 'SyncResult' });
export type SyncResult = z.output<typeof SyncResult>;
