import type { Principal } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { conflict } from '#kernel/errors.ts';
import type { ThemeRow } from '../themes.store.ts';

/** Throws 409 when `If-Match` or the body names another revision; without either the last write wins. */
export function refuseStale({ headers }: Call, { revision }: ThemeRow, named?: number): void {
  const wanted = headers['if-match'];
  const isSame = wanted === undefined || wanted === '*' || /^"(\d+)-/.exec(wanted)?.[1] === String(revision);
  if (isSame && (named ?? revision) === revision) return;
  throw conflict('revision', 'It was changed meanwhile', { revision });
}

/** A declared theme is managed as a whole: users get 409 `managed-by-resource`. */
export function refuseManaged(who: Principal, { managed_by: managedBy }: ThemeRow, fields: readonly string[]): void {
  if (who.operator || !managedBy) return;
  throw conflict('managed-by-resource', 'A Kubernetes resource owns this', { fields, managedBy });
}
