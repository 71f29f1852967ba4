import type { Call } from '#kernel/endpoint.ts';
import type { LibraryRow } from '../libraries.store.ts';
import { settingsOf } from '../settings.ts';
import type { AnalysesQueued } from './analyses.schemas.ts';
import { countWaiting, queueAnalysis } from './analyses.store.ts';
import { markByChapters } from './chapter-markers.ts';
import { type AnalysisName, analyses, analysisNames } from './kinds.ts';

/** Analyses that apply to the library's type, and the switch of each that is off. */
export function switchesOf(
  library: Pick<LibraryRow, 'type' | 'settings'>,
  settings: Call['deps']['settings'],
): { name: AnalysisName; off?: 'server' | 'library' }[] {
  const own = settingsOf(library, { language: 'en', country: null });
  return analysisNames
    .filter((name) => analyses[name].libraryTypes.includes(library.type))
    .map((name) => {
      if (!settings.get(analyses[name].setting)) return { name, off: 'server' as const };
      return own[name] ? { name } : { name, off: 'library' as const };
    });
}

/** Queues what the library lacks, and the job that works through it. */
export async function analyzeNow({ db, deps, enqueue }: Call, library: LibraryRow): Promise<AnalysesQueued> {
  const switches = switchesOf(library, deps.settings);
  const names = switches.flatMap(({ name, off }) => (off ? [] : [name]));
  const queued: AnalysesQueued['queued'] = {};
  for (const name of names) queued[name] = await queueAnalysis(db, name, library.id);
  const creditsFromChapters = await markByChapters(db, library.id, names);
  if (names.length > 0)
    await enqueue(
      'library.analyze',
      { libraryId: library.id, names },
      {
        ...{ key: `library.analyze:${library.id}`, libraryId: library.id },
        target: { kind: 'library', id: library.id, title: library.name },
      },
    );
  const off = switches.flatMap(({ name, off: by }) => (by ? [{ name, by }] : []));
  return { queued, creditsFromChapters, off, waiting: await countWaiting(db) };
}
