import { z } from 'zod';
import { filterQuery } from '#kernel/filter.ts';
import { pageQuery, sortQuery } from '#kernel/page.ts';
import { commaList, Id, Milliseconds, Moment, Timestamp } from '#kernel/schemas.ts';
import { LiveChannel } from './channel-views.ts';
import { programFields, programSorts } from './program-fields.ts';
import { rowFields, rowSorts } from './row-fields.ts';

export const programKinds = ['movie', 'series', 'sports', 'news', 'kids', 'music', 'other'] as const;
export const ProgramKind = z.enum(programKinds).meta({ id: 'ProgramKind' });
export type ProgramKind = z.output<typeof ProgramKind>;

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

export const GuideRow = z.object({ channel: LiveChannel, programs: z.array(GuideProgram) }).meta({ id: 'GuideRow' });
export type GuideRow = z.output<typeof GuideRow>;

export const GuideQuery = z.object({
  ...pageQuery,
  from: Moment.optional().describe('From 2 days before to 21 days after now; default is now'),
  to: Moment.optional().describe('At most 24 hours after `from`; default is 4 hours after it'),
  channelIds: commaList(Id, 200).optional(),
  sort: sortQuery(rowSorts),
  filter: filterQuery(rowFields, 'Conditions on channels'),
});
export type GuideQuery = z.output<typeof GuideQuery>;

export const ProgramsQuery = z.object({
  ...pageQuery,
  q: z
    .string()
    .trim()
    .min(1)
    .max(100)
    .refine((text) => !text.includes('\0') && text.isWellFormed(), {
      error: 'no NUL, and whole characters',
      params: { code: 'control_character' },
    })
    .optional()
    .describe('Part of a title or of the title of an episode; of one or two characters, its beginning'),
  from: Moment.optional().describe('Programmes that end later; default is now'),
  to: Moment.optional().describe('Programmes that start earlier'),
  channelId: Id.optional(),
  seriesKey: z
    .string()
    .min(1)
    .max(200)
    .regex(/^[^\0]+$/)
    .optional(),
  sort: sortQuery(programSorts),
  filter: filterQuery(programFields, 'Conditions on programmes'),
});
export type ProgramsQuery = z.output<typeof ProgramsQuery>;

export const ProgramDetail = z.object({
  program: LiveProgram,
  channel: LiveChannel,
  otherAirings: z.array(LiveProgram).max(20),
});
export type ProgramDetail = z.output<typeof ProgramDetail>;

export const ReminderBody = z
  .strictObject({ leadMs: z.int().min(0).max(3_600_000).default(300_000).describe('Before the start') })
  .meta({ example: { leadMs: 300_000 } });

export const ReminderSet = z.object({ programId: Id, remindAt: Timestamp });
