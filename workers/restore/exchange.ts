import type pg from 'pg';
import { quoted } from './connection.ts';

/** Only our own objects: those of extensions and other roles stay where they are. A partitioned table depends on its own columns, and a partition on its table. */
const OWN = (catalogue: 'pg_class' | 'pg_proc' | 'pg_type' | 'pg_collation'): string =>
  `not exists (select from pg_depend d where d.classid = '${catalogue}'::regclass and d.objid = o.oid and d.refobjid <> o.oid and d.deptype in ('e', 'i', 'a'))`;

/** Tables move with their indexes, sequences and triggers. */
const MOVED = `
  select format('alter %s %I.%I set schema', case o.relkind when 'S' then 'sequence' when 'v' then 'view'
           when 'm' then 'materialized view' else 'table' end, $1::text, o.relname) as statement
    from pg_class o where o.relnamespace = $1::text::regnamespace and o.relkind in ('r', 'p', 'v', 'm', 'S')
     and pg_has_role(o.relowner, 'usage') and (o.relispartition or ${OWN('pg_class')})
  union all
  select format('alter routine %s set schema', o.oid::regprocedure) from pg_proc o
   where o.pronamespace = $1::text::regnamespace and pg_has_role(o.proowner, 'usage') and ${OWN('pg_proc')}
  union all
  select format('alter type %I.%I set schema', $1::text, o.typname) from pg_type o
   where o.typnamespace = $1::text::regnamespace and o.typtype in ('e', 'd') and pg_has_role(o.typowner, 'usage') and ${OWN('pg_type')}
  union all
  select format('alter collation %I.%I set schema', $1::text, o.collname) from pg_collation o
   where o.collnamespace = $1::text::regnamespace and pg_has_role(o.collowner, 'usage') and ${OWN('pg_collation')}`;

/**
 * Moves the content of `public` to the new schema `aside`, and that of `from` to `public`, in the caller's transaction,
 * so that there is never neither or both. Extensions stay in `public`; references to them are not only by name.
 */
export async function exchange(client: pg.Client, from: string, aside: string): Promise<void> {
  await client.query(`create schema ${quoted(aside)}`);
  await move(client, 'public', aside);
  await move(client, from, 'public');
  await client.query(`drop schema ${quoted(from)}`); // fails if anything was left behind
}

async function move(client: pg.Client, from: string, to: string): Promise<void> {
  await client.query(`set local search_path to pg_catalog`); // so that every name is written with its schema
  const { rows } = await client.query<{ statement: string }>(MOVED, [from]);
  for (const { statement } of rows) await client.query(`${statement} ${quoted(to)}`);
}
