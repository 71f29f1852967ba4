import { createHash } from 'node:crypto';
import { may } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';

const SECONDS = 60;

/** Caches a value in Redis for a minute under `about`. Without Redis it is computed each time. */
export async function cached<T>(call: Call, about: readonly unknown[], make: () => Promise<T>): Promise<T> {
  const key = `items:${createHash('sha256').update(JSON.stringify(about)).digest('base64url')}`;
  const { redis } = call.deps;
  const kept = await redis.get(key).catch(() => null);
  if (kept !== null) return JSON.parse(kept) as T;
  const value = await make();
  await redis.set(key, JSON.stringify(value), 'EX', SECONDS).catch(() => undefined);
  return value;
}

/** Equal for callers who see the same items of a library that all of them may see, and the same labels. */
export function visibilityClass({ who }: Pick<Call, 'who'>): unknown[] {
  const { ageLimit = null, hideUnrated, labels = null } = who.sees;
  return [ageLimit, hideUnrated, labels, may(who, 'user:manage')];
}
