// The rows of a large library, written by SQL. The load is not measured, so it leaves out what takes long and changes no row.
import type { LooseDb } from '#support/loose.ts';

const BATCH = 20_000;
const AT_ONCE = 2;

/** Writes rows from 1 to `count` in batches, two at once, each in a transaction of its own. */
export async function inBatches(
  db: LooseDb,
  count: number,
  write: (tx: LooseDb, rows: { from: number; to: number }) => Promise<unknown>,
): Promise<void> {
  let next = 1;
  const run = async (): Promise<void> => {
    while (next <= count) {
      const rows = { from: next, to: Math.min(count, next + BATCH - 1) };
      next = rows.to + 1;
      await db.transaction(async (tx) => {
        await tx.raw('set local statement_timeout = 0');
        await write(tx, rows);
      });
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, run));
}

/** Items without the documents of search, which take most of the time, for benches that search for nothing. */
export async function withoutDocuments(db: LooseDb, work: () => Promise<unknown>): Promise<void> {
  await db.raw('alter table items disable trigger items_search_made');
  await work();
  await db.raw('alter table items enable trigger items_search_made');
}

/** Makes the indexes of a table again after the work; those that keep rows unique stay. */
export async function withoutIndexes(db: LooseDb, table: string, work: () => Promise<unknown>): Promise<void> {
  const { rows } = await db.raw<{ rows: { name: string; made: string }[] }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as made
     from pg_index where indrelid = ?::regclass and not indisunique`,
    [table],
  );
  for (const { name } of rows) await db.raw(`drop index ${name}`);
  await work();
  const make = async ({ made }: { made: string }): Promise<void> =>
    db.transaction(async (tx) => {
      await tx.raw(`set local statement_timeout = 0; set local maintenance_work_mem = '512MB'`);
      await tx.raw(made);
    });
  for (let at = 0; at < rows.length; at += AT_ONCE) await Promise.all(rows.slice(at, at + AT_ONCE).map(make));
}
