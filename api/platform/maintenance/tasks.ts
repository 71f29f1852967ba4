// The scheduled tasks: kinds of jobs that run by themselves, with their usual times.
import type { JobName } from '../jobs.ts';

export const triggers = ['window', 'cron', 'interval'] as const;
export type Trigger = (typeof triggers)[number];
export const taskGroups = ['library', 'analysis', 'cleanup', 'database', 'backup', 'outside'] as const;
export const taskNeeds = ['idle', 'storage', 'network', 'gpu'] as const;

export interface TaskSpec {
  name: string;
  description: string;
  group: (typeof taskGroups)[number];
  /** It keeps a limit or a promise, so it can only be moved. */
  required?: true;
  /** Five fields in the server's time zone; absent is once in each window. */
  cron?: string;
  needs?: readonly (typeof taskNeeds)[number][];
}

const analysis = (name: string, description: string): TaskSpec => ({
  ...{ name, description, group: 'analysis', needs: ['idle', 'storage'] },
});
const cleanup = (name: string, description: string, cron: string): TaskSpec => ({
  ...{ name, description, cron, group: 'cleanup' },
});

export const tasks = {
  'analysis.previews': analysis('Preview thumbnails', 'Pictures for the seek bar of videos that have none'),
  'analysis.intros': analysis('Intros', 'Finds the opening of episodes'),
  'analysis.credits': analysis('Credits', 'Finds the closing credits of films and episodes'),
  'analysis.voice': analysis('Voices', 'Finds where people speak'),
  'library.fingerprint': analysis('Fingerprints', 'Reads files to find duplicates'),
  'items.similar': { ...analysis('Similar items', 'Compares items with each other'), needs: ['idle'] },
  'metadata.refresh': {
    ...{ name: 'Metadata', description: 'Refreshes items with old facts from the catalogues', group: 'outside' },
    ...{ cron: '20 5 * * *', needs: ['network'] },
  },
  'people.refresh': {
    ...{ name: 'People', description: 'Refreshes people with old facts from the catalogues', group: 'outside' },
    ...{ cron: '40 1 * * *', needs: ['network'] },
  },
  'artwork.fetch': {
    ...{ name: 'Pictures', description: 'Fetches pictures that are still missing', group: 'outside' },
    ...{ cron: '50 4 * * *', needs: ['network'] },
  },
  'spine.check': {
    ...{ name: 'Identity packs', description: 'Looks for newer packs', group: 'outside' },
    ...{ cron: '35 4 * * *', needs: ['network'] },
  },
  'discover.refresh': {
    ...{
      name: 'Discover',
      description: 'Makes the lists of titles in cinemas, on disc and to stream',
      group: 'outside',
    },
    ...{ cron: '10 5 * * *', needs: ['network'] },
  },
  'plus.check': {
    ...{
      name: 'Licence',
      description: 'Reads the licence again',
      group: 'outside',
      required: true,
      cron: '25 * * * *',
    },
  },
  'email.digest': {
    ...{ name: 'Weekly mail', description: 'Sends the weekly mails that are due', group: 'outside', required: true },
    ...{ cron: '0 * * * *' },
  },
  'library.purge': {
    ...cleanup('Trash', 'Deletes items past their days in the trash', '30 3 * * *'),
    group: 'library',
  },
  'people.tidy': {
    ...cleanup('People without items', 'Deletes people and studios that no item names', '40 2 * * *'),
    group: 'library',
  },
  'subtitles.folder': {
    ...{
      name: 'Subtitle folder',
      description: 'Indexes the folder of subtitles',
      group: 'library',
      cron: '25 * * * *',
    },
    needs: ['storage'],
  },
  'subtitles.trim': cleanup('Subtitles', 'Deletes old findings', '40 * * * *'),
  'artwork.trim': cleanup('Picture sizes', 'Deletes made sizes over their limits', '30 4 * * *'),
  'objects.sweep': cleanup('Unused files', 'Deletes stored files that nothing names, after 7 days', '10 4 * * *'),
  'playback.trim': { ...cleanup('Playback sessions', 'Deletes ended sessions and jobs', '45 3 * * *'), required: true },
  'stats.trim': {
    ...cleanup('History', 'Deletes entries past their days, and addresses', '55 3 * * *'),
    required: true,
  },
  'sessions.expire': { ...cleanup('Sign-ins', 'Deletes sign-ins that ended', '5 4 * * *'), required: true },
  'keys.expire': { ...cleanup('API keys', 'Deletes keys that ended', '50 3 * * *'), required: true },
  'events.trim': { ...cleanup('Events', 'Keeps the last 1,000 events', '*/10 * * * *'), required: true },
  'logs.trim': { ...cleanup('Logs', 'Deletes old entries', '35 3 * * *'), required: true },
  'live.trim': { ...cleanup('Programme guide', 'Deletes programmes of past days', '10 * * * *'), required: true },
  'search.optimise': {
    ...{
      name: 'Search index',
      description: 'Merges new entries into the search index',
      group: 'database',
      cron: '50 2 * * *',
    },
  },
  'upload.sweep': { ...cleanup('Uploads', 'Ends uploads that no device continues', '40 * * * *'), required: true },
  'webhook.trim': { ...cleanup('Webhooks', 'Deletes old deliveries', '*/10 * * * *'), required: true },
  'notification.sweep': { ...cleanup('Notifications', 'Deletes old ones', '20 3 * * *'), required: true },
  'stats.rollup': {
    ...{ name: 'Figures', description: 'Counts what the server holds', group: 'database', cron: '*/15 * * * *' },
  },
  'database.analyse': {
    ...{
      name: 'Database',
      description: 'Measures the tables, so that queries stay fast',
      group: 'database',
      needs: ['idle'],
    },
  },
} as const satisfies Partial<Record<JobName, TaskSpec>>;

export type TaskId = keyof typeof tasks;
export const taskIds = Object.keys(tasks) as [TaskId, ...TaskId[]];
export const specOf = (id: TaskId): TaskSpec => tasks[id];
export const isTask = (id: string): id is TaskId => Object.hasOwn(tasks, id);
export const defaultTrigger = (id: TaskId): Trigger => (specOf(id).cron === undefined ? 'window' : 'cron');
