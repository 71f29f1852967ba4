import { invalid } from '#kernel/errors.ts';
import type { Db } from '#platform/db.ts';
import { iconExists } from './icons.store.ts';

export { heldIconHashes } from './icons.store.ts';

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Throws 400 unless the member of the body names an icon, or nothing. */
export async function requireIcon(db: Db, member: string, id: string | null | undefined): Promise<void> {
  if (id === null || id === undefined || (UUID.test(id) && (await iconExists(db, id)))) return;
  throw invalid(['body', member], 'unknown_icon', 'no icon has this id');
}
