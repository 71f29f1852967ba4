import { z } from 'zod';
import { commaList, Id, Timestamp } from '#kernel/schemas.ts';
import { type EventName, events } from '#platform/events.ts';

const names = Object.keys(events) as [EventName, ...EventName[]];

export const EventsQuery = z.object({
  types: commaList(z.enum(names), names.length).optional().describe('Exact names; absent is all'),
  lastEventId: z
    .string()
    .max(200)
    .optional()
    .describe('An event id or a position; the header Last-Event-ID takes precedence'),
});
export type EventsQuery = z.output<typeof EventsQuery>;

/** One event, as streams and webhooks send it. */
export const EventEnvelope = z
  .object({
    id: Id.describe('The same for every reader and in webhooks'),
    event: z.enum(names),
    at: Timestamp,
    payload: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'EventEnvelope' });

export type ResetReason = 'too-old' | 'unknown' | 'restored' | 'access';
