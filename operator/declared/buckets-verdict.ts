// The storages of spec.media[].s3 as a part of the condition MediaReady. Pure.
import type { Verdict } from '../schemas/conditions.ts';
import type { MediaServerSpec } from '../schemas/media-server.ts';
import type { ObservedBuckets } from './buckets.ts';

/** States without a fault; an admin switches a storage off on purpose. */
const SERVED = ['available', 'degraded', 'disabled'];

/** Undefined when the server has the storage of every entry and reads all of them. */
export function bucketsVerdict(
  { media }: Pick<MediaServerSpec, 'media'>,
  observed: ObservedBuckets | undefined,
): Omit<Verdict, 'type'> | undefined {
  const names = media.filter(({ s3 }) => s3).map(({ name }) => name);
  const { troubles = [], storages = [] } = observed ?? {};
  if (troubles.length > 0) return { status: 'False', reason: 'ApiRefused', message: troubles.join('; ') };
  const waiting = names.filter((name) => !storages.some((one) => one.name === name));
  if (waiting.length > 0) {
    const message = `media ${waiting.join(', ')}: made once the server answers`;
    return { status: 'Unknown', reason: 'ServerNotReady', message };
  }
  const unread = storages.filter(({ name, state }) => names.includes(name) && !SERVED.includes(state));
  if (unread.length === 0) return undefined;
  const words = unread.map(({ name, state, reason }) => `${name} (${[state, reason].filter(Boolean).join(', ')})`);
  const message = `the server cannot read the bucket of media ${words.join(', ')}: check its address, keys and bucket`;
  return { status: 'False', reason: 'Unavailable', message };
}
