import { requireAllowed } from '#identity/restrictions.ts';
import { defineEndpoint, json } from '#kernel/endpoint.ts';
import { RecordingSchedule, ScheduleQuery } from './schedule.schemas.ts';
import { scheduleOf } from './schedule.view.ts';

export const getRecordingSchedule = defineEndpoint({
  operationId: 'getRecordingSchedule',
  method: 'get',
  path: '/live/schedule',
  summary: 'Read the schedule of recordings',
  description:
    'Planned and running recordings of the window with their slots, at most 2,000. Recordings that the caller may not see are blocks without a title.',
  access: { permission: 'library:view' },
  query: ScheduleQuery,
  answer: json(200, RecordingSchedule),
  errors: ['FORBIDDEN'],

  async handle({ query }, call) {
    requireAllowed(call.who, 'liveTv');
    return scheduleOf(call, query);
  },
});
