import type { Principal } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import type { ThemeRow } from '../themes.store.ts';

/** Another revision, in `If-Match` or in the body, is 409 and nothing changes; without either the last writer wins. */
export function refuseStale({ headers }: Call, { revision }: ThemeRow, named?: number): void {
  const wanted = headers['if-match'];
  const isSame = wanted === undefined || wanted === '*' || /^"(\d+)-/.exec(wanted)?.[1] === String(revision);
  if (isSame && (named ?? revision) === revision) return;
  throw conflict('revision', 'It was changed meanwhile', { revision });
}

/** A theme that a resource declares is its own as a whole: people get 409 `managed-by-resource`. */
export function refuseManaged(who: Principal, { managed_by: managedBy }: ThemeRow, fields: readonly string[]): void {
  if (who.operator || !managedBy) return;
  throw conflict('managed-by-resource', 'A Kubernetes resource owns this', { fields, managedBy });
}
