import { createHash } from 'node:crypto';
import type { Call } from '#kernel/endpoint.ts';
import type { Scope } from '../found/candidates.view.ts';

const KEPT_SEC = 300;

/** The Redis key of a beginning for all with the same sight of the same libraries; the beginning is not legible in it. */
export function nameOf({ who, kinds, libraryIds, types }: Scope, beginning: string): string {
  const { ageLimit, hideUnrated, labels } = who.sees;
  const text = JSON.stringify([[...libraryIds].sort(), ageLimit, hideUnrated, labels, kinds, types ?? [], beginning]);
  return `search:beginning:${createHash('sha256').update(text).digest('base64url')}`;
}

/** Ids of the best documents; undefined when they are not kept, or Redis is not there. */
export async function kept({ deps }: Pick<Call, 'deps'>, name: string): Promise<string[] | undefined> {
  const text = await deps.redis.get(name).catch(() => null);
  return text ? text.split(',') : undefined;
}

/** Keeps them for five minutes. */
export async function keep({ deps }: Pick<Call, 'deps'>, name: string, ids: readonly string[]): Promise<void> {
  await deps.redis.set(name, ids.join(','), 'EX', KEPT_SEC).catch(() => undefined);
}
