import { type Call, defineEndpoint, json } from '#kernel/endpoint.ts';
import { knowsEtag } from '#kernel/etag.ts';
import { changeMaintenance } from './change.ts';
import { Maintenance, MaintenanceChange } from './maintenance.schemas.ts';
import { readMaintenanceNow } from './maintenance.view.ts';

const access = { permission: 'settings:manage' } as const;

async function answer(call: Call): Promise<Maintenance> {
  const maintenance = await readMaintenanceNow(call);
  call.reply.header('ETag', `"${maintenance.revision}"`);
  call.reply.header('Cache-Control', 'private, no-cache');
  return maintenance;
}

export const getMaintenance = defineEndpoint({
  operationId: 'getMaintenance',
  method: 'get',
  path: '/maintenance',
  summary: 'Get the maintenance window and the scheduled tasks',
  description:
    'A task is a kind of job that runs by itself: once in each window, by a cron in the time zone of the window, or in an interval. The ETag is the revision, so 304 says that window and tasks are unchanged; runs do not count.',
  access,
  answer: json(200, Maintenance),

  async handle(_input, call) {
    const maintenance = await answer(call);
    if (knowsEtag(call.headers['if-none-match'], `"${maintenance.revision}"`)) call.reply.status(304);
    return maintenance;
  },
});

export const updateMaintenance = defineEndpoint({
  operationId: 'updateMaintenance',
  method: 'patch',
  path: '/maintenance',
  summary: 'Change the maintenance window and scheduled tasks',
  description:
    'All or nothing. A `nextRunAt` of now or earlier starts a task at once, whatever the window says; a later one moves the next run only, and null returns to the schedule. `hold` starts nothing for at most 24 hours. A 400 names an unknown zone, a window under 30 minutes or a cron that never fires; a 409 reports `task-required` or `revision` (If-Match).',
  access,
  body: MaintenanceChange,
  answer: json(200, Maintenance),
  errors: ['CONFLICT'],
  emits: ['settings.changed'],

  async handle({ body }, call) {
    await changeMaintenance(call, body);
    return answer(call);
  },
});
