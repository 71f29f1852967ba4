// The stored squares of an icon: one object for each picture, named by its hash.
import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import type { Deps } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { type Bucket, ObjectMissing } from '#platform/objects.ts';
import type { IconPart, MadeIcon } from '#platform/pictures.ts';

const BUCKET: Bucket = 'foyer-artwork';
const keyOf = (hash: string): string => `icons/${hash}`;

/** Stores the squares and returns their hash. Throws 503 while the object store is unavailable. */
export async function keepIcon({ objects, log }: Pick<Deps, 'objects' | 'log'>, { bytes }: MadeIcon): Promise<string> {
  const hash = createHash('sha256').update(bytes).digest('hex');
  try {
    await objects.put(BUCKET, keyOf(hash), bytes);
  } catch (error) {
    log.warn({ err: (error as Error).message }, 'icons: a picture cannot be kept');
    throw new ApiError('SERVICE_STARTING', 'The object store is unavailable', { waitingFor: 'objects' });
  }
  return hash;
}

/** The square of this format whose size is the next above; the largest one if none is as large. */
export function partFor(
  parts: readonly IconPart[],
  size: number,
  format: 'png' | 'webp',
): { start: number; part: IconPart } {
  const placed = parts.map((part, at) => ({
    part,
    start: parts.slice(0, at).reduce((sum, { length }) => sum + length, 0),
  }));
  const fitting = placed.filter(({ part }) => part.format === format);
  const found = fitting.find(({ part }) => part.size >= size) ?? fitting.at(-1);
  if (!found) throw notFound();
  return found;
}

/** Throws NOT_FOUND when the object is gone. */
export async function readPart(
  { objects }: Pick<Deps, 'objects'>,
  hash: string,
  { start, part }: { start: number; part: IconPart },
): Promise<Buffer> {
  try {
    return await buffer(await objects.get(BUCKET, keyOf(hash), { start, end: start + part.length - 1 }));
  } catch (error) {
    throw error instanceof ObjectMissing ? notFound() : error;
  }
}
