// The bytes of variants: from memory, from the store, or made once.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, notFound } from '#kernel/errors.ts';
import { originalPlace } from '#kernel/images.ts';
import { wholeOf } from '#platform/bytes.ts';
import { type Bucket, ObjectMissing } from '#platform/objects.ts';
import { ParserUnavailable, PictureRefused } from '#platform/pictures.ts';
import { FairSlots } from './fair.ts';
import { PictureMemory } from './memory.ts';
import type { Variant } from './variant.ts';
import { madeVariants, noteVariant } from './variants.store.ts';

const CACHE: Bucket = 'foyer-artwork-cache';
const AT_ONCE = 8;
const LOCK_MS = 5000;
const LOOK_MS = 50;

const memory = new PictureMemory();
const slots = new FairSlots(AT_ONCE);
const underway = new Map<string, Promise<Buffer>>();

interface Wanted {
  sha256: string;
  owner_kind: string;
  variant: Variant;
}

const keyOf = ({ sha256, variant }: Wanted): string => `${sha256}/${variant.name}`;

/** Throws 503 while the store or the parser is unavailable and the variant is not in memory. */
export async function variantBytes(call: Call, wanted: Wanted, isMade: boolean): Promise<Buffer> {
  const key = keyOf(wanted);
  const known = memory.get(key) ?? (isMade ? await stored(call, key) : undefined);
  const bytes = known ?? (await sharedMaking(call, wanted, key));
  memory.put(key, bytes);
  return bytes;
}

/** Whether the bytes of a variant can be sent without the store. */
export const isInMemory = (wanted: Wanted): boolean => memory.get(keyOf(wanted)) !== undefined;

async function stored({ deps }: Call, key: string): Promise<Buffer | undefined> {
  try {
    return await wholeOf(await deps.objects.get(CACHE, key));
  } catch (error) {
    if (error instanceof ObjectMissing) return undefined;
    throw error;
  }
}

/** Requests of this process for the same variant share one making. */
function sharedMaking(call: Call, wanted: Wanted, key: string): Promise<Buffer> {
  const known = underway.get(key);
  if (known) return known;
  const making = slots.run(call.who.accountId, () => lockedMaking(call, wanted, key));
  underway.set(key, making);
  void making.catch(() => undefined).finally(() => underway.delete(key));
  return making;
}

/** Other processes wait for the one that holds the lock, and make it themselves when its time is over. */
async function lockedMaking(call: Call, wanted: Wanted, key: string): Promise<Buffer> {
  const { redis } = call.deps;
  const lock = `artwork:making:${key}`;
  const take = (): Promise<string | null> => redis.set(lock, '1', 'PX', LOCK_MS, 'NX').catch(() => 'OK'); // without Redis each makes its own
  const found = (await take()) ? undefined : await madeByOther(call, wanted, { key, take });
  if (found) return found;
  const release = (): unknown => redis.del(lock).catch(() => 0);
  try {
    const bytes = await made(call, wanted);
    void keep(call, wanted, { key, bytes }).finally(release); // the answer does not wait for the store
    return bytes;
  } catch (error) {
    release();
    throw error;
  }
}

/** Stores made bytes and their row, in this order: a row names an object that is there. */
async function keep({ deps, log }: Call, { sha256, variant }: Wanted, { key, bytes }: { key: string; bytes: Buffer }) {
  try {
    await deps.objects.put(CACHE, key, bytes);
    await noteVariant(deps.db, { sha256, name: variant.name, sizeBytes: bytes.length });
  } catch (error) {
    log.warn({ err: (error as Error).message }, 'a made picture cannot be kept');
  }
}

interface Line {
  key: string;
  take: () => Promise<string | null>;
}

/** The bytes that another process makes; undefined when it did not, and this one is next. */
async function madeByOther(call: Call, { sha256, variant }: Wanted, { key, take }: Line): Promise<Buffer | undefined> {
  for (const end = Date.now() + LOCK_MS; Date.now() < end; await sleep(LOOK_MS)) {
    const isMade = (await madeVariants(call.deps.db, sha256, [variant.name])).length > 0;
    const found = isMade ? await stored(call, key) : undefined;
    if (found) return found;
    if (await take()) return undefined;
  }
  return undefined;
}

async function made(call: Call, wanted: Wanted): Promise<Buffer> {
  const original = await originalOf(call, wanted);
  return call.deps.pictures.remake(original, wanted.variant.make).catch((error: unknown) => {
    throw faultOf(call, error);
  });
}

/** Throws 404 for an original that is lost. */
export async function originalOf({ deps, log }: Call, image: { owner_kind: string; sha256: string }): Promise<Buffer> {
  const { bucket, key } = originalPlace(image);
  try {
    return await wholeOf(await deps.objects.get(bucket, key));
  } catch (error) {
    if (!(error instanceof ObjectMissing)) throw error;
    log.warn({ sha256: image.sha256 }, 'the original of an image is missing');
    throw notFound();
  }
}

function faultOf(call: Call, error: unknown): unknown {
  if (error instanceof ParserUnavailable)
    return new ApiError('SERVICE_STARTING', 'Pictures cannot be opened just now', { waitingFor: 'parser' });
  if (!(error instanceof PictureRefused)) return error;
  call.log.warn({ reason: error.reason }, 'an accepted image cannot be opened again');
  return notFound();
}

/** A tile of a title, which is made from memory only. */
export async function tileBytes(call: Call, key: string, make: () => Promise<Buffer>): Promise<Buffer> {
  const known = memory.get(key);
  if (known) return known;
  const bytes = await slots.run(call.who.accountId, make).catch((error: unknown) => {
    throw faultOf(call, error);
  });
  memory.put(key, bytes);
  return bytes;
}
