import { z } from 'zod';
import { Id, Timestamp } from '#kernel/schemas.ts';
import { LiveChannel, LiveProgram } from './live-records.schemas.ts';

/** What the scrub bar of live television needs. */
export const LiveSession = z
  .object({
    sessionId: Id,
    channel: LiveChannel,
    program: LiveProgram.optional(),
    method: z.enum(['direct_stream', 'transcode']),
    reasons: z.array(z.string().meta({ example: 'live-source' })).describe('As in PlaybackDecision'),
    rendition: z.string().describe('source or a ladder id').meta({ example: 'source' }),
    bufferFrom: Timestamp,
    liveEdge: Timestamp,
    viewers: z.int(),
    programs: z.array(LiveProgram.pick({ id: true, title: true, startAt: true, endAt: true })),
    outages: z.array(
      z.object({ from: Timestamp, to: Timestamp, reason: z.string().meta({ example: 'tuner-restarted' }) }),
    ),
    recordingId: Id.optional(),
    yieldsAt: Timestamp.optional(),
    tuner: z.object({ tunerId: Id, slot: z.int() }).optional().describe('With session:manage only'),
  })
  .meta({ id: 'LiveSession' });
export type LiveSession = z.output<typeof LiveSession>;

/** What a session of live television plays, or one of a recording whose file is not there yet. */
export interface LivePlay {
  channelId: string;
  streamId: string;
  /** `source` or a ladder id. */
  rendition: string;
  /** Where playback starts, Unix ms; absent at the live edge. Of a recording, ms from its beginning. */
  startMs?: number;
  /** It plays the parts of this recording, from its beginning. */
  recordingId?: string;
}
