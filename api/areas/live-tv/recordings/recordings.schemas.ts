import { z } from 'zod';
import { LiveProgram, RecordingState } from '#areas/viewing/public.ts';
import { filterQuery } from '#kernel/filter.ts';
import { pageQuery, sortQuery } from '#kernel/page.ts';
import { Bytes, Id, ImageRef, Milliseconds, Moment, queryBool, Timestamp } from '#kernel/schemas.ts';
import { recordingFields, recordingSorts } from './recording-fields.ts';

const StateReason = z.enum([
  'tuners-busy',
  'tuner-unreachable',
  'no-signal',
  'drm',
  'disk-full',
  'programme-gone',
  'stopped',
  'gaps',
  'server-down',
]);

export const RecordingConflict = z
  .object({
    with: z.array(Id).describe('The recordings that have the slots'),
    slotsNeeded: z.int(),
    slotsFree: z.int(),
    from: Timestamp,
    to: Timestamp,
    alternatives: z.array(LiveProgram).describe('Other airings of the same programme that would get a slot'),
  })
  .meta({ id: 'RecordingConflict' });
export type RecordingConflict = z.output<typeof RecordingConflict>;

export const Recording = z
  .object({
    id: Id,
    itemId: Id.optional().describe('The item that plays, once the file is in its library'),
    channelId: Id.optional().describe('Absent once the channel is gone'),
    channelName: z.string().meta({ example: 'One HD' }),
    programId: Id.optional(),
    ruleId: Id.optional(),
    title: z.string().meta({ example: 'The Evening News' }),
    episodeTitle: z.string().meta({ example: 'Pilot' }).optional(),
    seasonNumber: z.int().optional(),
    episodeNumber: z.int().optional(),
    image: ImageRef.optional(),
    startAt: Timestamp.describe('Of the programme'),
    endAt: Timestamp,
    startPadMs: Milliseconds,
    endPadMs: Milliseconds,
    state: RecordingState,
    stateReason: StateReason.optional(),
    priority: z.int(),
    ownerUserId: Id.optional().describe('Absent once the account is gone'),
    mine: z.boolean(),
    libraryId: Id.describe('Where the file goes'),
    folderId: Id.optional(),
    keepDays: z.int().optional().describe('Absent is for ever'),
    tunerId: Id.optional(),
    recordedMs: Milliseconds,
    sizeBytes: Bytes.optional(),
    gaps: z.array(z.object({ from: Timestamp, to: Timestamp })),
    conflict: RecordingConflict.optional(),
    createdAt: Timestamp,
    updatedAt: Timestamp,
  })
  .meta({ id: 'Recording' });
export type Recording = z.output<typeof Recording>;

export const RecordingsQuery = z.object({
  ...pageQuery,
  mine: queryBool.optional().describe("The account's own alone"),
  q: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .regex(/^[^\0]+$/)
    .optional()
    .describe('Part of a title or of the title of an episode'),
  sort: sortQuery(recordingSorts),
  filter: filterQuery(recordingFields, 'Conditions on recordings'),
});
export type RecordingsQuery = z.output<typeof RecordingsQuery>;

/** Fields that a person sets, with the limits of recordings and of rules. */
export const recordingOptions = {
  startPadMs: z.int().min(0).max(3_600_000),
  endPadMs: z.int().min(0).max(10_800_000),
  priority: z.int().min(0).max(100),
  libraryId: Id,
  folderId: Id,
  keepDays: z.int().min(1).max(3650),
};

const { priority, ...optional } = recordingOptions;

export const RecordingDraft = z
  .strictObject({
    programId: Id.optional(),
    channelId: Id.optional().describe('With startAt and endAt, in place of programId'),
    startAt: Moment.optional(),
    endAt: Moment.optional().describe('At most 24 hours after startAt'),
    title: z
      .string()
      .trim()
      .min(1)
      .max(300)
      .regex(/^[^\0]+$/)
      .meta({ example: 'The Evening News' })
      .optional()
      .describe('With channelId; default is the programme on air, else the name of the channel'),
    ...z.object(optional).partial().shape,
    priority: priority.default(50),
    fromBuffer: z.boolean().default(true).describe('A programme on air: takes what the buffer holds of it in front'),
  })
  .refine(
    ({ programId, channelId, startAt, endAt, title }) => isOne({ programId, rest: [channelId, startAt, endAt], title }),
    {
      error: 'programId, or channelId with startAt and endAt',
      params: { code: 'one_of' },
      path: ['programId'],
    },
  )
  .meta({ example: { programId: '0199c3f0-0000-7000-8000-000000000001' } });
export type RecordingDraft = z.output<typeof RecordingDraft>;

interface Given {
  programId: string | undefined;
  rest: readonly (string | undefined)[];
  title: string | undefined;
}

/** Either the programme alone, or all of the times. */
function isOne({ programId, rest, title }: Given): boolean {
  if (programId === undefined) return rest.every((one) => one !== undefined);
  return title === undefined && rest.every((one) => one === undefined);
}

export const RecordingChange = z
  .strictObject({
    ...z.object(recordingOptions).partial().shape,
    endAt: Moment.optional().describe('While recording, one that is not after now stops it'),
    keepDays: recordingOptions.keepDays.nullable().optional().describe('Null is for ever'),
    programId: Id.optional().describe('Another airing'),
  })
  .meta({ example: { priority: 80 } });
export type RecordingChange = z.output<typeof RecordingChange>;

export const RecordingDeletion = z.object({
  deleteFile: queryBool.default(false).describe('A finished one: its file goes to the trash of its library'),
});
