import { setTimeout as sleep } from 'node:timers/promises';
import { isAnyDue, staleIndexes } from '#areas/search/public.ts';
import { enqueue } from '#platform/queue.ts';
import type { Settings } from '#platform/settings.ts';
import type { WorkerDeps } from '../work.ts';

const EVERY_MS = 10_000;

/** The language of libraries that name none. */
export const usualLanguage = (settings: Settings): string =>
  settings.get('metadata.language') ?? settings.get('server.language');

/** Enqueues jobs for changed subtitles and for documents of another language or version; ends with the signal. */
export async function keepSearched(deps: WorkerDeps, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await enqueueDue(deps).catch((error: Error) =>
      deps.log.warn({ err: error.message }, 'search was not looked after'),
    );
    await sleep(EVERY_MS, undefined, { signal }).catch(() => undefined);
  }
}

/** One round. */
export async function enqueueDue({ db, settings }: Pick<WorkerDeps, 'db' | 'settings'>): Promise<void> {
  if (settings.get('search.transcripts') && (await isAnyDue(db))) {
    await enqueue(db, 'search.transcripts', { payload: {}, options: { key: 'search.transcripts', priority: 60 } });
  }
  for (const payload of await staleIndexes(db, usualLanguage(settings))) {
    const key = `search.rebuild:${payload.libraryId ?? ''}`;
    const open = await db('jobs')
      .where({ kind: 'search.rebuild', key })
      .whereIn('state', ['waiting', 'delayed', 'active'])
      .first('id');
    if (!open) await enqueue(db, 'search.rebuild', { payload, options: { key, priority: 60 } });
  }
}
