// Channels and programmes of live television. They are here, below Live TV, because a playback session shows them.
import { z } from 'zod';
import { Id, ImageRef, Milliseconds, Timestamp } from '#kernel/schemas.ts';

export const programKinds = ['movie', 'series', 'sports', 'news', 'kids', 'music', 'other'] as const;
export const ProgramKind = z.enum(programKinds).meta({ id: 'ProgramKind' });
export type ProgramKind = z.output<typeof ProgramKind>;

export const RecordingState = z
  .enum(['scheduled', 'conflict', 'recording', 'completed', 'partial', 'failed', 'cancelled'])
  .meta({ id: 'RecordingState' });

const ProgramRecording = z
  .object({ id: Id, state: RecordingState, ruleId: Id.optional() })
  .meta({ id: 'ProgramRecording' });

const Text = z.string().meta({ example: 'The Evening News' });

const members = {
  id: Id,
  channelId: Id,
  title: Text.describe('Restricted, for a programme above the age limit'),
  episodeTitle: z.string().meta({ example: 'Pilot' }).optional(),
  startAt: Timestamp,
  endAt: Timestamp,
  kind: ProgramKind,
  categories: z.array(z.string()).meta({ example: ['News'] }),
  seasonNumber: z.int().optional(),
  episodeNumber: z.int().optional(),
  episodeKey: z
    .string()
    .meta({ example: 'title:the evening news/1.2' })
    .optional()
    .describe('The same for airings of one episode or film'),
  seriesKey: z
    .string()
    .meta({ example: 'title:the evening news' })
    .optional()
    .describe('The same for episodes of one series'),
  isNew: z.boolean(),
  isLive: z.boolean(),
  isRepeat: z.boolean(),
  isPremiere: z.boolean(),
  year: z.int().optional(),
  originalAirDate: z.iso.date().optional(),
  ageRating: z.string().meta({ example: '12' }).optional(),
  starRating: z.number().min(0).max(10).optional().describe('Of ten'),
  hd: z.boolean().optional(),
  recording: ProgramRecording.optional().describe('The latest recording of this airing that was not cancelled'),
  reminder: z.object({ id: Id, leadMs: Milliseconds }).optional().describe('Of the profile'),
  libraryItemId: Id.optional().describe('The same film or episode in a library that the caller sees'),
};

export const LiveProgram = z
  .object({
    ...members,
    description: z.string().meta({ example: 'Reports of the day.' }).optional(),
    credits: z.array(
      z.object({ name: z.string().meta({ example: 'Ada Park' }), role: z.string().meta({ example: 'presenter' }) }),
    ),
  })
  .meta({ id: 'LiveProgram' });
export type LiveProgram = z.output<typeof LiveProgram>;

export const GuideProgram = z.object(members).meta({ id: 'GuideProgram' });
export type GuideProgram = z.output<typeof GuideProgram>;

export const LiveTest = z
  .object({
    at: Timestamp,
    ok: z.boolean(),
    firstByteMs: z.int().optional(),
    videoCodec: z.string().meta({ example: 'h264' }).optional(),
    audioCodecs: z.array(z.string()).meta({ example: ['aac'] }),
    width: z.int().optional(),
    height: z.int().optional(),
    interlaced: z.boolean().optional(),
    bitrate: z.int().optional(),
    signalPercent: z.int().optional(),
    qualityPercent: z.int().optional(),
    error: z.object({ reason: z.string().meta({ example: 'no-signal' }), message: z.string() }).optional(),
  })
  .meta({ id: 'LiveTest' });
export type LiveTest = z.output<typeof LiveTest>;

export const LiveSource = z
  .object({
    id: Id,
    tunerId: Id,
    tunerName: z.string().meta({ example: 'Roof' }),
    remoteNumber: z.string().meta({ example: '2.1' }),
    remoteName: z.string().meta({ example: 'One HD' }),
    remoteGroup: z.string().meta({ example: 'News' }).optional(),
    tvgId: z.string().meta({ example: 'one.example' }).optional(),
    quality: z.enum(['sd', 'hd', 'uhd', 'audio']).optional(),
    priority: z.int().describe('Its place in the order; 0 is tried first'),
    enabled: z.boolean(),
    missing: z.boolean().describe('Gone from the last scan'),
    lastTest: LiveTest.optional(),
  })
  .meta({ id: 'LiveSource' });
export type LiveSource = z.output<typeof LiveSource>;

export const LiveChannel = z
  .object({
    id: Id.describe("The channel item's id"),
    libraryId: Id,
    number: z.string().meta({ example: '2.1' }),
    name: z.string().meta({ example: 'One HD' }),
    callSign: z.string().meta({ example: 'WONE' }).optional(),
    kind: z.enum(['tv', 'radio']),
    group: z.string().meta({ example: 'News' }).optional(),
    logo: ImageRef.optional(),
    enabled: z.boolean(),
    favorite: z.boolean().describe("The profile's own"),
    hd: z.boolean(),
    drm: z.boolean(),
    ageRating: z.string().meta({ example: '12' }).optional(),
    language: z.string().meta({ example: 'en' }).optional(),
    guide: z
      .object({
        guideSourceId: Id,
        guideChannelId: z.string().meta({ example: 'one.example' }),
        matchedBy: z.enum(['id', 'name', 'number', 'hand']),
      })
      .optional(),
    now: LiveProgram.optional(),
    next: LiveProgram.optional(),
    sources: z.array(LiveSource).optional().describe('With include sources'),
    lockedFields: z.array(z.string()).meta({ example: ['name'] }),
    recording: z.boolean(),
    addedAt: Timestamp,
  })
  .meta({ id: 'LiveChannel' });
export type LiveChannel = z.output<typeof LiveChannel>;
