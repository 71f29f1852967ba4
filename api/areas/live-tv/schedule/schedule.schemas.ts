import { z } from 'zod';
import { Id, Moment, queryBool, Timestamp } from '#kernel/schemas.ts';
import { Recording } from '../recordings/recordings.schemas.ts';

export const MOST_ENTRIES = 2000;

export const ScheduleEntry = z
  .object({
    recording: Recording,
    tunerId: Id.optional(),
    slot: z.int().min(0).optional().describe('Of the tuner, from 0'),
    sharedWith: z.array(Id).describe('Recordings on the same stream'),
  })
  .meta({ id: 'ScheduleEntry' });
export type ScheduleEntry = z.output<typeof ScheduleEntry>;

export const RecordingSchedule = z
  .object({
    items: z.array(ScheduleEntry).max(MOST_ENTRIES),
    slots: z.array(
      z.object({
        tunerId: Id,
        name: z.string().meta({ example: 'Roof' }).optional().describe('With library:manage'),
        slotCount: z.int(),
      }),
    ),
    computedAt: Timestamp.optional().describe('Absent before the first plan'),
  })
  .meta({ id: 'RecordingSchedule' });
export type RecordingSchedule = z.output<typeof RecordingSchedule>;

export const ScheduleQuery = z.object({
  from: Moment.optional().describe('Default is now'),
  to: Moment.optional().describe('At most 21 days ahead; default is 7 days after `from`'),
  conflictsOnly: queryBool.default(false),
});
export type ScheduleQuery = z.output<typeof ScheduleQuery>;
