import type { Principal } from '#identity/principal.ts';
import type { Call } from '#kernel/endpoint.ts';
import { ApiError, conflict } from '#kernel/errors.ts';
import { activeSetId, listSetRows, type SetRow } from './icons.store.ts';
import { chainOf } from './icons.view.ts';

export const etagOf = ({ id, revision }: { id: string; revision: number }): string => `"${revision}-${id.slice(-12)}"`;

/** Throws 409 when `If-Match` or the body names another revision; without either the last write wins. */
export function refuseStale({ headers }: Call, { revision }: { revision: number }, named?: number): void {
  const wanted = headers['if-match'];
  const isSame = wanted === undefined || wanted === '*' || /^"(\d+)[-"]/.exec(wanted)?.[1] === String(revision);
  if (isSame && (named ?? revision) === revision) return;
  throw conflict('revision', 'It was changed meanwhile', { revision });
}

/** A declared set belongs to its resource as a whole; which set is active does not. */
export function refuseManaged(who: Principal, { managed_by: managedBy }: SetRow, fields: readonly string[]): void {
  if (who.operator || !managedBy || fields.length === 0) return;
  throw conflict('managed-by-resource', 'A Kubernetes resource owns this', { fields, managedBy });
}

export function refuseForeignManager(who: Principal, managedBy: unknown): void {
  if (who.operator || managedBy === undefined) return;
  throw new ApiError('FORBIDDEN', 'Only the operator sets the owner of an icon set', { by: 'operator' });
}

/** Announces a change of a set that clients show: the active one, or one that fills slots of it. */
export async function announce(call: Call, setId: string): Promise<void> {
  const [rows, activeId] = await Promise.all([listSetRows(call.db), activeSetId(call.db)]);
  const fallbacks = new Map(rows.map((row) => [row.id, row.fallback_id]));
  if (chainOf(activeId, fallbacks).includes(setId)) await call.emit('settings.changed', { keys: ['icons.active'] });
}
