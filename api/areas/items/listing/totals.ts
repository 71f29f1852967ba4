import type { Call } from '#kernel/endpoint.ts';
import type { Total } from '#kernel/page.ts';
import { visibilityClass } from './cached.ts';
import type { LibraryRow } from './shelves.store.ts';

/**
 * Totals of whole libraries by who sees them, of the version that the library had in the same statement: the lists' ETags go
 * by it, too, so nothing counts differently while it stays.
 */
const known = new Map<string, { version: string; total: Total }>();
const MOST = 5000;

const versionOf = ({ change_seq, revision }: Pick<LibraryRow, 'change_seq' | 'revision'>): string =>
  `${change_seq}:${revision}`;

/** What is known of these types of a library for all who see the same of it. */
export interface KnownTotal {
  /** Undefined when the library has changed since. */
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
