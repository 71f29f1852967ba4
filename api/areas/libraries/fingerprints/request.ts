import type { Call } from '#kernel/endpoint.ts';
import { invalid } from '#kernel/errors.ts';
import type { LibraryRow } from '../libraries.store.ts';
import type { FingerprintRequest } from './fingerprints.schemas.ts';
import { queueFingerprints } from './fingerprints.store.ts';
import { kindsFor } from './kinds.ts';

/** Queues the files that lack a fingerprint, and the job that makes them. */
export async function requestFingerprints(
  { db, deps, enqueue, now }: Call,
  library: LibraryRow,
  { kinds, redo }: FingerprintRequest,
): Promise<void> {
  const offered = kindsFor(library.type);
  const wrong = (kinds ?? []).findIndex((kind) => !offered.includes(kind));
  if (wrong >= 0)
    throw invalid(['body', 'kinds', wrong], 'kind_does_not_apply', 'files of this type have no such fingerprint');
  for (const kind of new Set(kinds ?? offered)) await queueFingerprints(db, library.id, { kind, redo });
  const waits = deps.settings.get('analysis.fingerprints') === 'window';
  await enqueue(
    'library.fingerprint',
    { libraryId: library.id },
    {
      ...(waits && { runAt: nextWindow(now) }),
      ...{ key: `library.fingerprint:${library.id}`, libraryId: library.id },
      target: { kind: 'library', id: library.id, title: library.name },
    },
  );
}

/** When the job of all libraries runs next: 01:20 UTC. */
function nextWindow(now: Date): Date {
  const at = new Date(now);
  at.setUTCHours(1, 20, 0, 0);
  return at > now ? at : new Date(at.getTime() + 86_400_000);
}
