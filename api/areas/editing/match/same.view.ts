import type { VisibleItem } from '#areas/items/public.ts';
import type { Db } from '#platform/db.ts';

/** For each set of ids another item of the library and type that has one of them. */
export async function findSame(
  db: Db,
  { id, libraryId, type }: Pick<VisibleItem, 'id' | 'libraryId' | 'type'>,
  all: readonly Readonly<Record<string, string>>[],
): Promise<(string | undefined)[]> {
  const sets = all.map((ids) => Object.entries(ids).map(([provider, value]) => ({ [provider]: value })));
  const { rows } = await db.raw<{ rows: { id: string; external_ids: Record<string, string> }[] }>(
    `select i.id, i.external_ids from items i where i.library_id = ? and i.type = ? and i.id <> ? and i.trashed_at is null
       and i.external_ids @> any(?::jsonb[]) limit 500`,
    [libraryId, type, id, sets.flat().map((one) => JSON.stringify(one))],
  );
  return all.map(
    (ids) => rows.find((row) => Object.entries(ids).some(([name, value]) => row.external_ids[name] === value))?.id,
  );
}
