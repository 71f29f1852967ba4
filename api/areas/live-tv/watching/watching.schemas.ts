import { z } from 'zod';
import { ClientProfile, Quality } from '#areas/playback/public.ts';
import { Id } from '#kernel/schemas.ts';

const Language = z.string().max(35).meta({ example: 'en' });

export const WatchLive = z.strictObject({
  client: ClientProfile.optional().describe('When absent, the last profile of this X-Client-Id, kept for 90 days'),
  quality: Quality.optional(),
  maxBitrate: z.int().min(64_000).max(400_000_000).optional(),
  audioLanguage: Language.optional(),
  subtitleLanguage: Language.nullable().optional().describe('null is none'),
  startAt: z.enum(['live', 'programme', 'buffer']).default('live'),
  replaces: Id.optional().describe('A live session of the caller'),
  roomId: Id.optional(),
  castDeviceId: Id.optional(),
  dryRun: z.boolean().default(false),
});
export type WatchLive = z.output<typeof WatchLive>;

export const TicketQuery = z.object({ ticket: z.string().max(2000).optional().describe('Cast ticket') });

export const MasterQuery = TicketQuery.extend({
  rendition: z.string().max(40).optional().describe('Has no effect: it makes the address of another quality a new one'),
});

/** A sequence number. */
const Sequence = z
  .string()
  .regex(/^\d{1,12}$/)
  .transform(Number);

export const PlaylistQuery = TicketQuery.extend({
  window: z.enum(['short', 'full']).default('full'),
  _HLS_skip: z.enum(['YES', 'v2']).optional(),
  _HLS_msn: Sequence.optional().describe('The sequence number to wait for'),
});
export type PlaylistQuery = z.output<typeof PlaylistQuery>;

export const RenditionParams = z.object({ id: Id, rendition: z.string().max(40).meta({ example: 'source' }) });
export const SegmentParams = RenditionParams.extend({ segment: z.string().max(20).meta({ example: '1795000000.ts' }) });
