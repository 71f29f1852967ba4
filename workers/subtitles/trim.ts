import { trimSearches } from '#areas/subtitles/public.ts';
import { STRETCH_KEPT_MS, STRETCHES } from '#platform/subtitles/stretches.ts';
import type { Work } from '../work.ts';
import { BUCKET } from './take-out.ts';

const BATCH = 1000;

/** Job subtitles.trim: deletes findings that are too old to be fetched, and stretches of picture tracks that are too old to be sent. */
export async function trimSubtitles(_: object, { db, objects, signal }: Work): Promise<void> {
  await trimSearches(db);
  const before = Date.now() - STRETCH_KEPT_MS;
  let old: string[] = [];
  for await (const { key, modifiedAt } of objects.list(BUCKET, STRETCHES)) {
    signal.throwIfAborted();
    const age = modifiedAt.getTime();
    if (age > 0 && age < before) old.push(key); // objects without a time stay
    if (old.length < BATCH) continue;
    await objects.remove(BUCKET, old);
    old = [];
  }
  if (old.length > 0) await objects.remove(BUCKET, old);
}
