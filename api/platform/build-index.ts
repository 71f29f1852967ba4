import type { Knex } from 'knex';

interface Found {
  name: string;
  valid: boolean;
}

/**
 * Builds an index of the current schema while the table is written. An interrupted build leaves an invalid index, which
 * is dropped and built again. Needs a connection outside a transaction.
 */
export async function buildIndex(db: Knex, name: string, on: string): Promise<void> {
  const { rows } = await db.raw<{ rows: Found[] }>(
    `select format('%I.%I', n.nspname, c.relname) as name, i.indisvalid as valid
     from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_index i on i.indexrelid = c.oid
     where n.nspname = current_schema() and c.relname = ?`,
    [name],
  );
  const [found] = rows;
  if (found?.valid) return;
  await db.raw('reset lock_timeout'); // it waits for every writer and blocks none
  if (found) await db.raw(`drop index concurrently ${found.name}`);
  await db.raw(`create index concurrently ?? on ${on}`, [name]);
}
