// What a restore would bring back: a backup at its destination, or a database that a restore put aside.
import { createHash } from 'node:crypto';
import type { Deps } from '#kernel/endpoint.ts';
import { limitAttempts } from '#kernel/rate-limit.ts';
import { copiedRows } from '#platform/backup/copied-rows.ts';
import type { Destination } from '#platform/backup/destination.ts';
import { BackupFault } from '#platform/backup/faults.ts';
import { openPart, readManifest } from '#platform/backup/part.ts';
import { putAsideAs } from '#platform/backup/put-aside.ts';
import { type BackupKey, openKey } from '#platform/backup/sealing.ts';
import type { BackupManifest } from '#platform/backup-manifest.ts';
import type { Db } from '#platform/db.ts';
import { findPlace } from '../settings/places.store.ts';
import { openPlace } from '../settings/places.ts';
import { passphraseOf, readBackupSettings } from '../settings/settings.store.ts';
import type { ShownRow } from './backups.store.ts';

export type Row = Record<string, string | null>;

export interface Stored {
  schemaVersion: string;
  version: string;
  at: Date;
  /** Number of rows; 0 for a table that is not in the backup. */
  count(table: string): Promise<number>;
  rows(table: string): AsyncIterable<Row>;
  /** Uncompressed size of the tables. */
  bytes: number;
}

export interface Opened {
  destination: Destination;
  manifest: BackupManifest;
  manifestSha256: string;
  key: BackupKey | undefined;
  /** The passphrase that the key was derived from. */
  passphrase: string | undefined;
}

const TRIES = 5;

/**
 * Opens a backup with the given or the stored passphrase. Throws BackupFault, DestinationUnavailable; 429 after five
 * wrong ones.
 */
export async function openBackup(deps: Deps, row: ShownRow, given: string | undefined): Promise<Opened> {
  const destination = await openPlace(deps, await findPlace(deps.db, row.place_id));
  const manifest = await readManifest(destination, row.id);
  const manifestSha256 = sha256Of(manifest);
  const { encryption } = manifest;
  if (!encryption) return { destination, manifest, manifestSha256, key: undefined, passphrase: undefined };
  const settings = await readBackupSettings(deps.db);
  const passphrase = given ?? passphraseOf(deps.keys, settings);
  if (passphrase === undefined)
    throw new BackupFault('wrong-passphrase', 'The backup is encrypted: its passphrase is required');
  if (given !== undefined)
    await limitAttempts({ redis: deps.redis, replicas: deps.config.replicas }, `backup-passphrase:${row.id}`, TRIES);
  return { destination, manifest, manifestSha256, key: await openKey(passphrase, encryption), passphrase };
}

export const sha256Of = (manifest: BackupManifest): string =>
  createHash('sha256').update(JSON.stringify(manifest)).digest('hex');

export function storedBackup({ destination, manifest, key }: Opened): Stored {
  const tableOf = (name: string) => manifest.tables.find((table) => table.name === name);
  return {
    schemaVersion: manifest.schemaVersion,
    version: manifest.serverVersion,
    at: new Date(manifest.snapshotAt),
    count: async (name) => tableOf(name)?.rows ?? 0,
    async *rows(name) {
      const table = tableOf(name);
      for (const part of table?.parts ?? [])
        yield* copiedRows(await openPart(destination, { manifest, part }, key), table?.columns ?? []);
    },
    bytes: manifest.tables.flatMap(({ parts }) => parts).reduce((sum, { plainBytes }) => sum + plainBytes, 0),
  };
}

export function storedAside(db: Db, row: ShownRow): Stored {
  const schema = putAsideAs(row.id);
  const isThere = async (table: string): Promise<boolean> => {
    const { rows } = await db.raw<{ rows: { there: boolean }[] }>('select to_regclass(?) is not null as there', [
      `${schema}.${table}`,
    ]);
    return rows[0]?.there ?? false;
  };
  return {
    schemaVersion: row.schema_version,
    version: row.server_version,
    at: row.snapshot_at ?? row.started_at,
    async count(table) {
      if (!(await isThere(table))) return 0;
      const found = await db.from(table).withSchema(schema).count<{ count: number }[]>('* as count');
      return Number(found[0]?.count ?? 0);
    },
    async *rows(table) {
      if (!(await isThere(table))) return;
      const rows: Record<string, unknown>[] = await db.from(table).withSchema(schema).select('*');
      for (const found of rows)
        yield Object.fromEntries(Object.entries(found).map(([name, value]) => [name, textOf(value)]));
    },
    bytes: 0, // the data is already in the database
  };
}

const textOf = (value: unknown): string | null =>
  value === null || typeof value === 'string' ? value : JSON.stringify(value);
