import type { Db } from '#platform/db.ts';

/** How exact the time of the last use is: one write a day is enough for a limit of 30. */
const EXACT = '1 day';

/** Those of the names that are made. Notes their use. */
export async function madeVariants(db: Db, sha256: string, names: readonly string[]): Promise<string[]> {
  const rows = await db('image_variants')
    .where({ sha256 })
    .whereIn('name', names)
    .select('name', db.raw<{ stale: boolean }>(`used_at < now() - interval '${EXACT}' as stale`));
  const stale = rows.filter((row) => (row as unknown as { stale: boolean }).stale).map(({ name }) => name);
  if (stale.length > 0)
    await db('image_variants')
      .where({ sha256 })
      .whereIn('name', stale)
      .update({ used_at: db.raw('now()') });
  return rows.map(({ name }) => name);
}

export async function noteVariant(db: Db, row: { sha256: string; name: string; sizeBytes: number }): Promise<void> {
  const { sha256, name, sizeBytes } = row;
  await db('image_variants')
    .insert({ sha256, name, size_bytes: sizeBytes })
    .onConflict(['sha256', 'name'])
    .merge({ size_bytes: sizeBytes, used_at: db.raw('now()') });
}

/** Has the made sizes of an original deleted with the next trim, unless another image has the same bytes. */
export async function dropVariants(db: Db, sha256: string): Promise<void> {
  await db('image_variants')
    .where({ sha256 })
    .whereRaw('(select count(*) from images m where m.sha256 = image_variants.sha256) < 2')
    .delete();
}
