import { requireAllowed } from '#identity/restrictions.ts';
import { defineEndpoint, json, none } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import { page } from '#kernel/page.ts';
import { IdParams, iso, Timestamp } from '#kernel/schemas.ts';
import { getProgram, guidePage, programDetail, programsPage, refuseRestricted } from './guide.ts';
import {
  GuideQuery,
  GuideRow,
  LiveProgram,
  ProgramDetail,
  ProgramsQuery,
  ReminderBody,
  ReminderSet,
} from './programs.schemas.ts';
import { deleteReminder, MOST_REMINDERS, putReminder } from './reminders.store.ts';

const views = { permission: 'library:view' } as const;

export const getLiveGuide = defineEndpoint({
  operationId: 'getLiveGuide',
  method: 'get',
  path: '/live/guide',
  summary: 'Read the programme guide',
  description:
    'A page of channels, each with the programmes that overlap the window, in order and without filled gaps. `from` and `to` of the answer are cut to half hours. The ETag changes with the content. A programme above the age limit has only its times and the title Restricted.',
  access: views,
  query: GuideQuery,
  answer: page(GuideRow, { from: Timestamp, to: Timestamp }),
  errors: ['FORBIDDEN'],

  async handle({ query }, call) {
    requireAllowed(call.who, 'liveTv');
    return guidePage(call, query);
  },
});

export const listLivePrograms = defineEndpoint({
  operationId: 'listLivePrograms',
  method: 'get',
  path: '/live/programs',
  summary: 'Search programmes',
  description:
    'Programmes that are not over at `from`. Another order than startAt needs a window of at most 7 days (400 `window_too_long`). One that several channels show is listed on the first of them. Programmes above the age limit are left out.',
  access: views,
  query: ProgramsQuery,
  answer: page(LiveProgram),
  errors: ['FORBIDDEN'],

  async handle({ query }, call) {
    requireAllowed(call.who, 'liveTv');
    return programsPage(call, query);
  },
});

export const getLiveProgram = defineEndpoint({
  operationId: 'getLiveProgram',
  method: 'get',
  path: '/live/programs/:id',
  summary: 'Read a programme',
  description:
    '`otherAirings` has up to 20 later programmes with the same film or episode on any visible channel. A programme that ended over 2 days ago is 404.',
  access: views,
  params: IdParams,
  answer: json(200, ProgramDetail),
  errors: ['FORBIDDEN'],

  async handle({ params }, call) {
    requireAllowed(call.who, 'liveTv');
    return programDetail(call, params.id);
  },
});

export const setProgramReminder = defineEndpoint({
  operationId: 'setProgramReminder',
  method: 'put',
  path: '/live/programs/:id/reminder',
  summary: 'Set a reminder',
  description:
    'A notification of kind `live-reminder` at that time. It follows a programme that moves, and is removed with one that goes. 409 reasons are `already-started` and `reminder-limit` beyond 200 waiting ones of a profile.',
  access: views,
  params: IdParams,
  body: ReminderBody,
  answer: json(200, ReminderSet),
  errors: ['FORBIDDEN', 'CONFLICT'],
  emits: ['notification.created'],

  async handle({ params, body }, call) {
    requireAllowed(call.who, 'liveTv');
    const found = await getProgram(call, params.id);
    refuseRestricted(call, found);
    const { start_at: start } = found.row;
    if (start <= call.now) throw conflict('already-started', 'The programme has started');
    const { profileId } = call.who;
    if (!(await putReminder(call.db, { profileId, programId: params.id, leadMs: body.leadMs })))
      throw conflict('reminder-limit', `At most ${MOST_REMINDERS} reminders`);
    return { programId: params.id, remindAt: iso(new Date(start.getTime() - body.leadMs)) };
  },
});

export const removeProgramReminder = defineEndpoint({
  operationId: 'removeProgramReminder',
  method: 'delete',
  path: '/live/programs/:id/reminder',
  summary: 'Remove a reminder',
  description: 'Idempotent.',
  access: views,
  params: IdParams,
  answer: none(),
  errors: ['FORBIDDEN'],

  async handle({ params }, call) {
    requireAllowed(call.who, 'liveTv');
    const { row } = await getProgram(call, params.id);
    await deleteReminder(call.db, call.who.profileId, row.id);
  },
});
