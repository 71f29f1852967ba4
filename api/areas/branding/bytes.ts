import { buffer } from 'node:stream/consumers';
import type { Deps } from '#kernel/endpoint.ts';
import type { Bucket } from '#platform/objects.ts';

export const BUCKET: Bucket = 'foyer-artwork';
/** A prefix of its own, so that deleting a logo never deletes artwork of an item. */
export const keyOf = (hash: string): string => `branding/${hash}`;

interface Held {
  made: string;
  bytes: Buffer | undefined;
}

/** From memory, otherwise from the object store; undefined while that is unavailable. */
export async function bytesOf(
  deps: Deps,
  { made }: { made: string },
  held: readonly Held[],
): Promise<Buffer | undefined> {
  const known = held.find((one) => one.made === made)?.bytes;
  if (known) return known;
  try {
    return await buffer(await deps.objects.get(BUCKET, keyOf(made)));
  } catch (error) {
    deps.log.warn({ err: (error as Error).message }, 'branding: a logo is not there; the built-in one serves');
    return undefined;
  }
}
