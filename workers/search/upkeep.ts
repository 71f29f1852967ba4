import { beginIndex, endIndex, noteLibrary, optimise, writeNext } from '#areas/search/public.ts';
import type { JobPayload } from '#platform/jobs.ts';
import type { Work } from '../work.ts';
import { usualLanguage } from './keeper.ts';

const BATCH = 1000;

interface Checkpoint {
  /** Which of the kinds is being written. */
  at: number;
  after?: string | undefined;
  done: number;
}

/** Writes the documents of a library, or those of people, again in place: until then the earlier ones answer. */
export async function rebuildSearch(
  { libraryId }: JobPayload<'search.rebuild'>,
  work: Work,
): Promise<{ documents: number }> {
  const { db, settings } = work;
  const language = await beginIndex(db, libraryId, usualLanguage(settings));
  const kinds = libraryId === undefined ? (['person'] as const) : (['studio', 'item'] as const);
  let place = (work.checkpoint as Checkpoint | null) ?? { at: 0, done: 0 };
  for (let kind = kinds[place.at]; kind; kind = kinds[place.at]) {
    work.signal.throwIfAborted();
    const after = await writeNext(db, kind, { libraryId, after: place.after, batch: BATCH });
    place = after ? { at: place.at, after, done: place.done + BATCH } : { at: place.at + 1, done: place.done };
    await work.keep(db, place, { done: place.done, unit: 'items' });
  }
  if (libraryId !== undefined) await noteLibrary(db, libraryId);
  await endIndex(db, libraryId, language);
  return { documents: place.done };
}

/** Each night: weights by the present counts, and indexes without a list of pending entries. */
export async function optimiseSearch(_: object, { db }: Work): Promise<void> {
  await optimise(db);
}
