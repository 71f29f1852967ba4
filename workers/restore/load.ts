import type pg from 'pg';
import type { Destination } from '#platform/backup/destination.ts';
import { BackupFault } from '#platform/backup/faults.ts';
import { openPart } from '#platform/backup/part.ts';
import type { BackupKey } from '#platform/backup/sealing.ts';
import { keptOut } from '#platform/backup/tables.ts';
import type { BackupManifest, BackupTable } from '#platform/backup-manifest.ts';
import { quoted } from './connection.ts';
import { copyIn } from './copy-in.ts';
import { columnsInSecondSchema, SECOND_SCHEMA, withoutForeignKeys } from './second-schema.ts';

export interface Source {
  destination: Destination;
  manifest: BackupManifest;
  key: BackupKey | undefined;
}

/** Share of the whole, 0-1; throws to end the work. */
export type Report = (share: number) => Promise<void>;

/** Reads every part to its end. Throws BackupFault at the first damaged one. */
export async function fetchParts({ destination, manifest, key }: Source, report: Report): Promise<void> {
  const parts = manifest.tables.flatMap((table) => table.parts);
  const all = parts.reduce((sum, part) => sum + part.storedBytes, 0);
  let done = 0;
  for (const part of parts) {
    const bytes = await openPart(destination, { manifest, part }, key);
    for await (const _chunk of bytes); // the stream checks the content
    done += part.storedBytes;
    await report(done / Math.max(1, all));
  }
}

/**
 * Loads all tables into the second schema, which has the backup's version; constraints are checked at the end, and the
 * row counts match the manifest. Throws BackupFault.
 */
export async function loadTables(client: pg.Client, source: Source, report: Report): Promise<void> {
  const { manifest } = source;
  await refuseUnknown(client, manifest.tables);
  const restoreKeys = await withoutForeignKeys(client);
  const all = manifest.tables.reduce((sum, { rows }) => sum + rows, 0);
  let done = 0;
  for (const table of manifest.tables) {
    await loadTable(client, source, table);
    done += table.rows;
    await report(done / Math.max(1, all));
  }
  await restoreKeys().catch(refuseData);
  await setSequences(client, manifest.sequences);
  await client.query('analyze');
}

/**
 * The archive decides what it fills, so only tables and columns of that version are allowed, and none that backups
 * exclude.
 */
async function refuseUnknown(client: pg.Client, tables: readonly BackupTable[]): Promise<void> {
  const known = await columnsInSecondSchema(client);
  const seen = new Set<string>();
  for (const { name, columns } of tables) {
    const own = known.get(name);
    const fits = own && columns.every((column) => own.has(column)) && new Set(columns).size === columns.length;
    if (!fits || Object.hasOwn(keptOut, name) || seen.has(name))
      throw new BackupFault('damaged', `${name} is no table of that version, or not as it was`);
    seen.add(name);
  }
}

async function loadTable(client: pg.Client, source: Source, table: BackupTable): Promise<void> {
  const { destination, manifest, key } = source;
  const name = `${SECOND_SCHEMA}.${quoted(table.name)}`;
  await client.query(`delete from ${name}`); // rows that migrations inserted
  await client.query(`alter table ${name} disable trigger user`);
  const text = `copy ${name} (${table.columns.map(quoted).join(', ')}) from stdin`;
  let rows = 0;
  for (const part of table.parts) {
    const bytes = await openPart(destination, { manifest, part }, key);
    rows += await copyIn(client, text, bytes).catch(refuseData);
  }
  if (rows !== table.rows) throw new BackupFault('damaged', `${table.name} has ${rows} rows of ${table.rows}`);
  await client.query(`alter table ${name} enable trigger user`);
}

/** Postgres' error classes that mean faulty data: 22 data, 23 constraints, 42 names; 54 limits. */
function refuseData(error: unknown): never {
  const { code, message } = error as { code?: unknown; message: string };
  const isData = typeof code === 'string' && /^(22|23|42|54)[0-9A-Z]{3}$/.test(code);
  throw isData ? new BackupFault('damaged', message) : error;
}

async function setSequences(client: pg.Client, sequences: BackupManifest['sequences']): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select relname::text as name from pg_class where relkind = 'S' and relnamespace = $1::regnamespace`,
    [SECOND_SCHEMA],
  );
  const known = new Set(rows.map(({ name }) => name));
  for (const { name, value } of sequences) {
    if (!known.has(name)) throw new BackupFault('damaged', `${name} is no sequence of that version`);
    await client
      .query('select setval($1, greatest(1, $2::bigint))', [`${SECOND_SCHEMA}.${quoted(name)}`, value])
      .catch(refuseData);
  }
}
