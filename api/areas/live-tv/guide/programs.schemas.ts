import { z } from 'zod';
import { GuideProgram, LiveChannel, LiveProgram, ProgramKind, programKinds } from '#areas/viewing/public.ts';
import { filterQuery } from '#kernel/filter.ts';
import { pageQuery, sortQuery } from '#kernel/page.ts';
import { commaList, Id, Moment, Timestamp } from '#kernel/schemas.ts';
import { programFields, programSorts } from './program-fields.ts';
import { rowFields, rowSorts } from './row-fields.ts';

export { GuideProgram, LiveProgram, ProgramKind, programKinds };

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
