import type { Principal } from '#identity/principal.ts';
import { ApiError, conflict } from '#kernel/errors.ts';
import type { LibraryChange } from './libraries.schemas.ts';
import type { LibraryRow } from './libraries.store.ts';

/** Only the operator's own key says what a resource owns. */
export function refuseForeignManager(who: Principal, body: { managedBy?: unknown; managedFields?: unknown }): void {
  if (who.operator || (body.managedBy === undefined && body.managedFields === undefined)) return;
  throw new ApiError('FORBIDDEN', 'Only the operator names a resource as owner', { by: 'operator' });
}

/** Names of what a change touches, as `managedFields` spells them. */
function touched(change: LibraryChange): string[] {
  const { settings, poster, confirmRemoval: _confirm, managedBy: _by, managedFields: _fields, ...rest } = change;
  const own = Object.entries({ ...rest, ...(poster && { posterImageId: true }) }).filter(
    ([, value]) => value !== undefined,
  );
  return [...own.map(([name]) => name), ...Object.keys(settings ?? {}).map((name) => `settings.${name}`)];
}

/** Throws 409 `managed-by-resource` when a person changes what the resource's spec names; nothing is applied then. */
export function refuseManaged(who: Principal, row: LibraryRow, fields: readonly string[]): void {
  if (who.operator || !row.managed_by) return;
  const owned = fields.filter((field) => row.managed_fields.includes(field));
  if (owned.length === 0) return;
  throw conflict('managed-by-resource', 'A Kubernetes resource owns this', {
    fields: owned,
    managedBy: row.managed_by,
  });
}

export function refuseManagedChange(who: Principal, row: LibraryRow, change: LibraryChange): void {
  refuseManaged(who, row, touched(change));
}
