// The database that is created next to the live one, in a schema of its own.
import type pg from 'pg';
import { migrateInSchema } from '#platform/migrate.ts';
import { migrations } from '#platform/migrations/index.ts';
import { quoted } from './connection.ts';

/** Where a backup is loaded until it replaces `public`. */
export const SECOND_SCHEMA = 'foyer_restoring';

/** Creates an empty database of this schema version, and drops that of an earlier attempt. */
export async function makeSecondSchema(client: pg.Client, url: string, schemaVersion: string): Promise<void> {
  await dropSecondSchema(client);
  await client.query(`create schema ${SECOND_SCHEMA}`);
  const upTo = Object.keys(migrations).filter((name) => name <= schemaVersion);
  await migrateInSchema(url, SECOND_SCHEMA, new Set(upTo));
}

export async function dropSecondSchema(client: pg.Client): Promise<void> {
  await client.query(`set client_min_messages = warning; drop schema if exists ${SECOND_SCHEMA} cascade`);
}

/** Migrates the schema to the version of the live database. */
export async function migrateOn(client: pg.Client, url: string, schema: string): Promise<void> {
  const wanted = [...(await migrationsIn(client, 'public')), ...(await migrationsIn(client, schema))];
  await migrateInSchema(url, schema, new Set(wanted));
}

export async function migrationsIn(client: pg.Client, schema: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select name from ${quoted(schema)}.knex_migrations order by name`,
  );
  return rows.map(({ name }) => name);
}

interface ForeignKey {
  table: string;
  name: string;
  definition: string;
}

/**
 * Drops the foreign keys, so that tables may be loaded in any order and in parts. The returned function restores them,
 * which checks every row.
 */
export async function withoutForeignKeys(client: pg.Client): Promise<() => Promise<void>> {
  await client.query(`set search_path to ${SECOND_SCHEMA}, public`); // definitions then name objects outside the search path with their schema
  const { rows } = await client.query<ForeignKey>(
    `select c.conrelid::regclass::text as table, c.conname as name, pg_get_constraintdef(c.oid) as definition
       from pg_constraint c where c.contype = 'f' and c.connamespace = $1::regnamespace`,
    [SECOND_SCHEMA],
  );
  for (const { table, name } of rows) await client.query(`alter table ${table} drop constraint ${quoted(name)}`);
  return async () => {
    await client.query(`set search_path to ${SECOND_SCHEMA}, public`);
    for (const { table, name, definition } of rows)
      await client.query(`alter table ${table} add constraint ${quoted(name)} ${definition}`);
  };
}

export interface Column {
  table: string;
  name: string;
}

/** Columns that may be loaded: all except generated ones. */
export async function columnsInSecondSchema(client: pg.Client): Promise<Map<string, Set<string>>> {
  const { rows } = await client.query<Column>(
    `select c.relname::text as table, a.attname::text as name
       from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
      where c.relnamespace = $1::regnamespace and c.relkind = 'r'`,
    [SECOND_SCHEMA],
  );
  const byTable = Map.groupBy(rows, ({ table }) => table);
  return new Map([...byTable].map(([table, columns]) => [table, new Set(columns.map(({ name }) => name))]));
}
