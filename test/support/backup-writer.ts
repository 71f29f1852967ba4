// A backup in the documented format, of any database: also of one that an older version left.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { zstdCompressSync } from 'node:zlib';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { type Destination, NotStored } from '#platform/backup/destination.ts';
import { type BackupKey, sealing } from '#platform/backup/sealing.ts';
import { dumpedTables } from '#platform/backup/tables.ts';
import {
  BACKUP_FORMAT,
  type BackupEncryption,
  type BackupManifest,
  type BackupObject,
  type BackupPart,
  type BackupTable,
  manifestName,
  manifestText,
  objectName,
  partName,
} from '#platform/backup-manifest.ts';
import { newId } from '#platform/ids.ts';

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** A folder of files, read from an earlier test when it exists. */
export function folderOfFiles(folder: string): Destination {
  const at = (name: string): string => join(folder, name);
  return {
    async read(name) {
      try {
        return Readable.from(chunks(readFileSync(at(name))));
      } catch {
        throw new NotStored(name);
      }
    },
    size: async () => undefined,
    async write(name, body) {
      mkdirSync(dirname(at(name)), { recursive: true });
      writeFileSync(at(name), Buffer.isBuffer(body) ? body : await buffer(body));
    },
    async *list() {},
    remove: async () => undefined,
    free: async () => undefined,
  };
}

function* chunks(bytes: Buffer): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += 64 * 1024) yield bytes.subarray(from, from + 64 * 1024);
}

export interface Written {
  destination: Destination;
  /** As the destination has it. */
  folder: string;
  manifest: BackupManifest;
  /** Plain text of each table. */
  texts: Map<string, string>;
}

export interface WriteOptions {
  folder: string;
  databaseUrl: string;
  serverId: string;
  objects?: { bucket: string; key: string; bytes: Buffer }[];
  sealed?: { encryption: BackupEncryption; key: BackupKey };
  /** Bytes of a part at most; all of a table in one when absent. */
  partBytes?: number;
}

/** One snapshot of the database. */
export async function writeBackup(options: WriteOptions): Promise<Written> {
  const client = new pg.Client({ connectionString: options.databaseUrl });
  await client.connect();
  const id = newId();
  const destination = folderOfFiles(options.folder);
  const texts = new Map<string, string>();
  try {
    await client.query('begin isolation level repeatable read read only');
    const at = (
      await client.query<{ at: Date; schema: string }>(
        'select clock_timestamp() as at, (select max(name) from knex_migrations) as schema',
      )
    ).rows[0];
    const tables: BackupTable[] = [];
    for (const { name, columns } of await dumpedTables(client)) {
      const list = columns.map((column) => client.escapeIdentifier(column)).join(', ');
      const text = await buffer(client.query(copyTo(`copy public.${name} (${list}) to stdout`)));
      texts.set(name, text.toString());
      const parts: BackupPart[] = [];
      for (const piece of pieces(text, options.partBytes ?? text.length))
        parts.push(await writePart(options, destination, { id, table: name, number: parts.length, piece }));
      tables.push({ name, columns, rows: text.filter((byte) => byte === 10).length, parts });
    }
    const sequences = await client.query<{ name: string; value: string }>(
      `select sequencename::text as name, last_value::text as value from pg_sequences
        where schemaname = 'public' and last_value is not null and sequencename like 'labels%'`,
    );
    await client.query('commit');
    const now = new Date().toISOString();
    const manifest: BackupManifest = {
      format: BACKUP_FORMAT,
      id,
      serverId: options.serverId,
      serverName: 'Home',
      serverVersion: '0.1.0',
      schemaVersion: at?.schema ?? '',
      startedAt: now,
      snapshotAt: (at?.at ?? new Date()).toISOString(),
      finishedAt: now,
      objectsMode: 'kept',
      encryption: options.sealed?.encryption ?? null,
      tables,
      sequences: sequences.rows,
      objects: await writeObjects(options, destination),
    };
    await destination.write(manifestName(id), manifestText(manifest));
    return { destination, folder: options.folder, manifest, texts };
  } finally {
    await client.end();
  }
}

/** Pieces that end with a row. */
function* pieces(text: Buffer, most: number): Generator<Buffer> {
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf(10, Math.min(from + most, text.length - 1)) + 1;
    yield text.subarray(from, end);
    from = end;
  }
}

interface Piece {
  id: string;
  table: string;
  number: number;
  piece: Buffer;
}

async function writePart(
  options: WriteOptions,
  destination: Destination,
  { id, table, number, piece }: Piece,
): Promise<BackupPart> {
  const name = `tables/${table}.${number}.copy.zst${options.sealed ? '.enc' : ''}`;
  const stored = await sealedBytes(options, partName(id, { name }), zstdCompressSync(piece));
  await destination.write(partName(id, { name }), stored);
  return { name, sha256: sha256(stored), storedBytes: stored.length, plainBytes: piece.length };
}

async function writeObjects(options: WriteOptions, destination: Destination): Promise<BackupObject[]> {
  const written: BackupObject[] = [];
  for (const { bucket, key, bytes } of options.objects ?? []) {
    const object = { bucket, key, sha256: sha256(bytes), bytes: bytes.length };
    const name = objectName(object, options.sealed?.encryption ?? null);
    await destination.write(name, await sealedBytes(options, name, bytes));
    written.push(object);
  }
  return written;
}

async function sealedBytes({ sealed }: WriteOptions, place: string, bytes: Buffer): Promise<Buffer> {
  return sealed ? buffer(Readable.from([bytes]).pipe(sealing(sealed.key, place))) : bytes;
}
