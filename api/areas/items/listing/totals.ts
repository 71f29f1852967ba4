import type { Call } from '#kernel/endpoint.ts';
import type { Total } from '#kernel/page.ts';
import { visibilityClass } from './cached.ts';
import type { LibraryRow } from './shelves.store.ts';

/**
 * Totals of whole libraries by visibility class, for the version of the library in the same statement. The ETags of
 * lists use this version too, so a total is valid while it stays.
 */
const known = new Map<string, { version: string; total: Total }>();
const MOST = 5000;

const versionOf = ({ change_seq, revision }: Pick<LibraryRow, 'change_seq' | 'revision'>): string =>
  `${change_seq}:${revision}`;

/** The total of these types of a library, for all callers with the same visibility. */
export interface KnownTotal {
  /** Undefined when the library has changed. */
  at: (library: LibraryRow) => Total | undefined;
  keep: (library: LibraryRow, total: Total | undefined) => void;
}

export function knownTotal(call: Pick<Call, 'who' | 'deps'>, libraryId: string, types: readonly string[]): KnownTotal {
  const key = JSON.stringify([call.deps.keys.serverId, libraryId, types, visibilityClass(call)]);
  return {
    at: (library) => {
      const kept = known.get(key);
      return kept?.version === versionOf(library) ? kept.total : undefined;
    },
    keep: (library, total) => {
      if (!total) return;
      if (known.size >= MOST && !known.has(key)) known.clear();
      known.set(key, { version: versionOf(library), total });
    },
  };
}
