import type { Db } from '../db.ts';
import type { Row } from '../typed-query.ts';

/** A saved value; a secret is sealed. */
export interface SavedRow extends Row<'settings'> {
  /** Name of the user who saved it. */
  display_name: string | null;
}

export async function savedRows(db: Db): Promise<Map<string, SavedRow>> {
  const rows = await db('settings as s')
    .leftJoin('accounts as a', 'a.id', 's.updated_by')
    .select<SavedRow[]>('s.*', 'a.display_name');
  return new Map(rows.map((row) => [row.key, row]));
}
