// Which entries of a lineup are sources that are known already.
import { createHash } from 'node:crypto';
import type { Entry } from './entries.ts';

export interface KnownSource {
  id: string;
  remote_key: string;
}

export interface Matched<S> {
  entry: Entry;
  key: string;
  source: S | undefined;
}

const short = (text: string): string => createHash('sha256').update(text).digest('base64url').slice(0, 22);

/** Of a device its number; of a playlist its tvg-id and its address, which are not readable in it. */
export function keyOf(kind: 'hdhomerun' | 'm3u', { number, guideId, url }: Entry): string {
  if (kind === 'hdhomerun') return `#${(number ?? '').replaceAll('\0', '').toWellFormed()}`;
  return `${guideId ? short(guideId) : ''}.${short(url)}`;
}

const guideOf = (key: string): string => key.split('.')[0] ?? '';
const addressOf = (key: string): string => key.split('.')[1] ?? '';

/**
 * Each entry once, with its source. Those that are the same come first, then those with the same tvg-id, then those with
 * the same address: a provider changes one or the other.
 */
export function matched<S extends KnownSource>(
  kind: 'hdhomerun' | 'm3u',
  entries: readonly Entry[],
  known: readonly S[],
): { all: Matched<S>[]; repeated: number } {
  const byKey = new Map(entries.map((entry) => [keyOf(kind, entry), entry] as const).toReversed());
  const all = [...byKey].toReversed().map(([key, entry]): Matched<S> => ({ entry, key, source: undefined }));
  const free = new Map(known.map((source) => [source.remote_key, source]));
  for (const one of all) {
    one.source = free.get(one.key);
    free.delete(one.key);
  }
  if (kind === 'm3u') for (const part of [guideOf, addressOf]) join(all, free, part);
  return { all, repeated: entries.length - all.length };
}

/** Joins entries and sources with the same part of their key, where one entry and one source have it. */
function join<S extends KnownSource>(
  all: readonly Matched<S>[],
  free: Map<string, S>,
  part: (key: string) => string,
): void {
  const entries = Map.groupBy(
    all.filter(({ source }) => source === undefined),
    ({ key }) => part(key),
  );
  const sources = Map.groupBy(free.values(), ({ remote_key: key }) => part(key));
  for (const [name, [one, ...others]] of entries) {
    const [source, ...more] = sources.get(name) ?? [];
    if (name === '' || !one || !source || others.length > 0 || more.length > 0) continue;
    one.source = source;
    free.delete(source.remote_key);
  }
}
