import type { Db } from './db.ts';

/** Rows of a statement whose parameters are one JSON array. */
export async function rowsOf<Row>(db: Db, sql: string, bindings: readonly unknown[] = []): Promise<Row[]> {
  const { rows } = await db.raw<{ rows: Row[] }>(sql, bindings as (string | number | null)[]);
  return rows;
}
