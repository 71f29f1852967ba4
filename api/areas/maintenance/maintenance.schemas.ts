import { z } from 'zod';
import { Job } from '#areas/jobs/public.ts';
import { CronText } from '#kernel/cron.ts';
import { Id, Moment, Timestamp } from '#kernel/schemas.ts';
import { taskGroups, taskIds, taskNeeds, triggers } from '#platform/maintenance/tasks.ts';
import { StoredWindow, weekdays } from '#platform/maintenance/window.ts';

const Trigger = z.enum(triggers).meta({ id: 'TaskTrigger', description: 'window is once in each window' });

export const MaintenanceWindow = z
  .object({
    enabled: z.boolean().describe('Off: tasks of the window do not start by themselves'),
    days: z.array(z.enum(weekdays)).meta({ example: ['mon', 'tue'] }),
    from: z.string().meta({ example: '02:00' }),
    to: z.string().describe('May be past midnight').meta({ example: '06:00' }),
    timeZone: z.string().meta({ example: 'Europe/Berlin' }),
    yieldToStreaming: z.boolean(),
    maxConcurrent: z.int(),
    finishRunning: z.boolean().describe('What runs at closing goes on to its next checkpoint'),
  })
  .meta({ id: 'MaintenanceWindow' });

const TaskRun = z
  .object({
    jobId: Id.optional(),
    state: z.enum(['completed', 'failed', 'cancelled', 'skipped', 'running']),
    startedAt: Timestamp,
    finishedAt: Timestamp.optional(),
    durationMs: z.int().optional(),
    error: z.object({ code: z.string(), reason: z.string() }).optional(),
  })
  .meta({ id: 'MaintenanceRun' });
export type TaskRun = z.output<typeof TaskRun>;

export const MaintenanceTask = z
  .object({
    id: z.string().describe('The kind of its jobs').meta({ example: 'objects.sweep' }),
    name: z.string().meta({ example: 'Unused files' }),
    description: z.string().meta({ example: 'Deletes stored files that nothing names, after 7 days' }),
    group: z.enum(taskGroups),
    enabled: z.boolean(),
    canDisable: z.boolean(),
    trigger: Trigger,
    cron: z.string().optional().meta({ example: '10 4 * * *' }),
    everyMs: z.int().optional(),
    defaultTrigger: Trigger,
    nextRunAt: Timestamp.optional(),
    lastRun: TaskRun.optional(),
    averageMs: z.int().optional(),
    pending: z.int().min(0).optional().describe('Things that wait for it, at most 5 minutes old'),
    estimateMs: z.int().min(0).optional().describe('How long a run takes with what waits now'),
    needs: z.array(z.enum(taskNeeds)),
  })
  .meta({ id: 'MaintenanceTask' });
export type MaintenanceTask = z.output<typeof MaintenanceTask>;

export const Maintenance = z
  .object({
    window: MaintenanceWindow,
    open: z.boolean(),
    opensAt: Timestamp.optional().describe('Of the window that is open, else of the next one'),
    closesAt: Timestamp.optional(),
    state: z.enum(['idle', 'working', 'held', 'restoring', 'migrating']),
    heldFor: z.enum(['streaming', 'person', 'backup']).optional(),
    tasks: z.array(MaintenanceTask),
    running: z.array(Job),
    revision: z.int(),
  })
  .meta({ id: 'Maintenance' });
export type Maintenance = z.output<typeof Maintenance>;

const TaskChange = z.strictObject({
  enabled: z.boolean().optional(),
  trigger: Trigger.nullable().optional().describe('null restores the default'),
  cron: CronText.optional(),
  everyMs: z.int().min(600_000).max(31_536_000_000).optional(),
  nextRunAt: Moment.nullable()
    .optional()
    .describe('Now or earlier starts it at once; null is the time of its schedule'),
});
export type TaskChange = z.output<typeof TaskChange>;

export const MaintenanceChange = z.strictObject({
  window: StoredWindow.optional(),
  tasks: z.partialRecord(z.enum(taskIds), TaskChange).optional().meta({ example: {} }),
  hold: z.boolean().optional().describe('Starts nothing until it is false again, for at most 24 hours'),
});
export type MaintenanceChange = z.output<typeof MaintenanceChange>;
