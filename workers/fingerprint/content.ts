import { createHash } from 'node:crypto';
import { pipeline } from 'node:stream/promises';
import { type Print, savePrint, twinsOf } from '#areas/libraries/public.ts';
import { openMedia } from '#areas/storage/public.ts';
import { type FileSource, findSource } from '#areas/streaming/public.ts';
import { streamMedia } from '#platform/media-bytes.ts';
import type { Work } from '../work.ts';

/**
 * A hash of the whole file, but only where another one has its size and its sampled hash; that one is read too, unless it
 * was before.
 */
export async function contentOf(work: Work, source: FileSource, file: string): Promise<Print> {
  const twins = await twinsOf(work.db, source.id);
  if (twins.length === 0) return {};
  for (const { id } of twins.filter(({ hashed }) => !hashed)) {
    const twin = await findSource(work.db, id);
    const place = twin && (await openMedia(work, twin));
    if (place?.kind !== 'there') continue;
    const content = await sha256Of(place.absolute, work.signal);
    await savePrint(work.db, { fileId: id, kind: 'content', tries: 0 }, { content });
  }
  return { content: await sha256Of(file, work.signal) };
}

async function sha256Of(file: string, signal: AbortSignal): Promise<Buffer> {
  const hash = createHash('sha256');
  await pipeline(streamMedia(file), hash, { signal });
  return hash.digest();
}
