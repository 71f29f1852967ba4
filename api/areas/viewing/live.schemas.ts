import { z } from 'zod';
import { Id, ImageRef, Timestamp } from '#kernel/schemas.ts';

export const LiveProgram = z
  .object({
    id: Id,
    channelId: Id,
    title: z.string().meta({ example: 'Evening News' }),
    startAt: Timestamp,
    endAt: Timestamp,
  })
  .meta({ id: 'LiveSessionProgram' });
export type LiveProgram = z.output<typeof LiveProgram>;

export const LiveSessionChannel = z
  .object({
    id: Id,
    libraryId: Id,
    number: z.string().meta({ example: '2.1' }),
    name: z.string().meta({ example: 'Channel Two' }),
    callSign: z.string().optional().meta({ example: 'TWO' }),
    kind: z.enum(['tv', 'radio']),
    group: z.string().optional().meta({ example: 'News' }),
    logo: ImageRef.optional(),
    enabled: z.boolean(),
    favorite: z.boolean(),
    hd: z.boolean(),
    drm: z.boolean(),
    ageRating: z.string().optional().meta({ example: 'PG' }),
    language: z.string().optional().meta({ example: 'en' }),
    lockedFields: z.array(z.string().meta({ example: 'name' })),
    recording: z.boolean(),
    addedAt: Timestamp,
  })
  .meta({ id: 'LiveSessionChannel' });
export type LiveSessionChannel = z.output<typeof LiveSessionChannel>;

/** What the scrub bar of live television needs. */
export const LiveSession = z
  .object({
    sessionId: Id,
    channel: LiveSessionChannel,
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

/** What a session of live television plays. */
export interface LivePlay {
  channelId: string;
  streamId: string;
  /** `source` or a ladder id. */
  rendition: string;
  /** Where playback starts, Unix ms; absent at the live edge. */
  startMs?: number;
}
