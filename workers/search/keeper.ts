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

const OPEN = ['waiting', 'delayed', 'active'] as const;

/** One round. One job at a time reads transcripts, and one a library writes its documents; a failed one is not tried again at once. */
export async function enqueueDue({ db, settings }: Pick<WorkerDeps, 'db' | 'settings'>): Promise<void> {
  if (settings.get('search.transcripts') && (await isAnyDue(db))) {
    const open = await db('jobs').where({ kind: 'search.transcripts' }).whereIn('state', OPEN).first('id');
    const options = { key: 'search.transcripts', priority: 60 };
    if (!open) await enqueue(db, 'search.transcripts', { payload: {}, options });
  }
  for (const payload of await staleIndexes(db, usualLanguage(settings))) {
    const open = await db('jobs')
      .where({ kind: 'search.rebuild' })
      .whereRaw(`payload->>'libraryId' is not distinct from ?`, [payload.libraryId ?? null])
      .where((some) =>
        some.whereIn('state', OPEN).orWhereRaw(`state = 'failed' and finished_at > now() - interval '1 hour'`),
      )
      .first('id');
    const options = { key: `search.rebuild:${payload.libraryId ?? ''}`, priority: 60 };
    if (!open) await enqueue(db, 'search.rebuild', { payload, options });
  }
}
