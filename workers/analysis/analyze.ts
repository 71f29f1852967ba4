import type { AnalysisName } from '#areas/libraries/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { Work } from '../work.ts';

const KINDS = {
  previewThumbnails: 'analysis.previews',
  introDetection: 'analysis.intros',
  creditsDetection: 'analysis.credits',
  voiceActivity: 'analysis.voice',
} as const satisfies Partial<Record<AnalysisName, string>>;

/** Queues a job for each named analysis, as children of this one. */
export async function analyzeFiles({ libraryId, names }: JobPayload<'library.analyze'>, work: Work): Promise<object> {
  const kinds = Object.entries(KINDS).flatMap(([name, kind]) => (names.includes(name) ? [kind] : []));
  await work.db.transaction(async (db) => {
    for (const kind of kinds)
      await work.enqueue(db, kind, {
        payload: { libraryId },
        options: {
          ...{ queue: 'added', key: `${kind}:${libraryId}`, parentId: work.jobId, libraryId, cause: 'person' },
          target: { kind: 'library', id: libraryId },
        },
      });
  });
  return { jobs: kinds.length };
}
