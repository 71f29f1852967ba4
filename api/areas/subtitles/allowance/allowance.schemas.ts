import { z } from 'zod';
import { Timestamp } from '#kernel/schemas.ts';

/** The uses of an account's day. Administrators have none, since they spend nothing. */
export const SubtitleAllowance = z
  .object({
    limit: z.int().meta({ example: 10 }),
    used: z.int().meta({ example: 3 }),
    left: z.int().meta({ example: 7 }),
    resetsAt: Timestamp.describe("Midnight in the server's time zone"),
  })
  .meta({ id: 'SubtitleAllowance' });
export type SubtitleAllowance = z.output<typeof SubtitleAllowance>;
