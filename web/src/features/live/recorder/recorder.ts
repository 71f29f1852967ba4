// The queries of the recorder, and its changes.
import type { CreateRecordingBody, Recording, UpdateRecordingBody } from 'foyer-client';
import { api } from '#core/api/client.ts';
import { problemOf } from '#core/api/errors.ts';
import { invalidate, query } from '#core/cache/query.ts';
import { printFilter } from '#core/filter/parse.ts';
import { pagesOf } from '#features/people/queries.ts';
import { onEvent } from '#features/session/live.ts';
import * as m from '#messages/recorder.ts';
import { type Toast, toast } from '#ui/toasts.svelte.ts';
import { goto } from '$app/navigation';
import { madeText } from './words.ts';

export const sections = ['coming', 'now', 'finished', 'conflicts'] as const;
export type Section = (typeof sections)[number];

const PAGE = 100;
const DAY = 86_400_000;
/** A running recording shows its size so often. */
const RUNNING_MS = 10_000;
const GATHER_MS = 500;
export const HIGHEST = 100;

const STATES: Readonly<Record<Section, readonly Recording['state'][]>> = {
  coming: ['scheduled'],
  now: ['recording'],
  finished: ['completed', 'partial', 'failed', 'cancelled'],
  conflicts: ['conflict'],
};

export const sectionOf = (state: Recording['state']): Section =>
  sections.find((section) => STATES[section].includes(state)) ?? 'finished';

/** The answers of the recorder change without this page: they are read again whenever a page shows them. */
const OLD = { staleTime: 0 } as const;

export const statusQuery = () => ({ ...query('getLiveStatus'), ...OLD });

/** The recordings of a section, page by page: those to come by their start, finished ones from the last. */
export function recordingPages(section: Section, q: string) {
  const filter = printFilter([{ field: 'state', op: 'in', values: STATES[section] }]);
  const sort = section === 'finished' ? '-startAt' : 'startAt';
  return {
    ...pagesOf('listRecordings', { query: { limit: PAGE, filter, sort, ...(q && { q }) } }),
    ...OLD,
    ...(section === 'now' && { refetchInterval: RUNNING_MS }),
  };
}

/** The plan of the next days; it is made again within seconds of a change. */
export function scheduleQuery(from: number, days: number, conflictsOnly: boolean) {
  const to = new Date(from + days * DAY).toISOString();
  const window = { from: new Date(from).toISOString(), to, conflictsOnly };
  return { ...query('getRecordingSchedule', { query: window }), ...OLD, refetchInterval: RUNNING_MS };
}

export const rulePages = () => ({ ...pagesOf('listRecordingRules', { query: { limit: PAGE } }), ...OLD });
/** As many rules as an account can have: those that its recordings name. */
export const rulesQuery = () => ({ ...query('listRecordingRules', { query: { limit: PAGE } }), ...OLD });
export const ruleQuery = (id: string) => ({ ...query('getRecordingRule', { params: { id } }), ...OLD });
export const recordingQuery = (id: string) => ({ ...query('getRecording', { params: { id } }), ...OLD });

const NAMES = [
  'listRecordings',
  'getRecording',
  'getRecordingSchedule',
  'listRecordingRules',
  'getRecordingRule',
  'getLiveStatus',
  'getLiveGuide',
  'getLiveProgram',
  'listLiveChannels',
] as const;

/** Reads everything again that shows recordings. */
export const readAgain = (): Promise<unknown> => Promise.all(NAMES.map((name) => invalidate(name)));

/** Runs a change, whose answer stays as it is when reading again fails. */
async function changed<T>(work: () => Promise<T>): Promise<T> {
  const answer = await work();
  await readAgain();
  return answer;
}

const toSchedule = (): NonNullable<Toast['action']> => ({
  label: m.toSchedule(),
  run: () => void goto('/live/schedule'),
});

/** Plans a recording, and says at once what becomes of it. */
export async function record(body: CreateRecordingBody): Promise<Recording> {
  const made = await changed(() => api.createRecording({ body }));
  toast.show({ text: madeText(made), ...(made.state === 'conflict' && { action: toSchedule() }) });
  return made;
}

export const change = (id: string, body: UpdateRecordingBody): Promise<Recording> =>
  changed(() => api.updateRecording({ params: { id }, body }));

/** Ends a running recording; what there is stays. */
export const stop = (id: string): Promise<Recording> => change(id, { endAt: new Date().toISOString() });

export const remove = (id: string, deleteFile = false): Promise<unknown> =>
  changed(() => api.deleteRecording({ params: { id }, query: { deleteFile } }));

/** Puts a recording before those that it collides with. */
export async function prefer({ id, priority, conflict }: Recording): Promise<Recording> {
  const rivals = await Promise.all((conflict?.with ?? []).map(found));
  const most = Math.max(priority, ...rivals.map((rival) => rival?.priority ?? 0));
  return change(id, { priority: Math.min(HIGHEST, most + 1) });
}

/** A recording, unless the account does not see it. */
async function found(id: string): Promise<Recording | undefined> {
  try {
    return await api.getRecording({ params: { id } });
  } catch (error) {
    if (problemOf(error).status === 404) return undefined;
    throw error;
  }
}

const KINDS = ['recording-finished', 'recording-failed', 'recording-conflict', 'live-yielding'];
const ITEMS = ['item.added', 'item.updated', 'item.deleted'];

/** Reads again with the events of the recorder, and shows a conflict as it arises; the result ends it. */
export function followRecorder(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stopEvents = onEvent(({ event, payload }) => {
    const kind = event === 'notification.created' ? payload.kind : '';
    if (!ITEMS.includes(event) && !KINDS.includes(kind)) return;
    if (kind === 'recording-conflict') toast.show({ text: m.conflictNotice(), action: toSchedule() });
    timer ??= setTimeout(() => {
      timer = undefined;
      void readAgain();
    }, GATHER_MS);
  });
  return () => {
    clearTimeout(timer);
    stopEvents();
  };
}
