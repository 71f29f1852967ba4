import { createHash } from 'node:crypto';
import { z } from 'zod';

/** Format of this server's backups; any other is refused as `other-format`. */
export const BACKUP_FORMAT = 'foyer-backup/1';
/** Largest uncompressed part; reading a larger one ends there. */
export const PART_MOST_BYTES = 4 * 2 ** 30;
/** Highest compression ratio that is accepted; the first {@link PART_FREE_BYTES} of a part are exempt. */
export const PART_RATIO = 100;
export const PART_FREE_BYTES = 64 * 2 ** 20;
/** A manifest is read into memory; most of it lists objects. */
export const MANIFEST_MOST_BYTES = 48 * 2 ** 20;

const Sha256 = z.string().regex(/^[0-9a-f]{64}$/);
const Name = z.string().regex(/^[a-z_][a-z0-9_]{0,62}$/);
const Bytes = z.int().min(0);
const Moment = z.iso.datetime();

export const BackupPart = z.object({
  /** Path below `backups/<id>/`; no other name is ever read. */
  name: z.string().regex(/^tables\/[a-z_][a-z0-9_]{0,62}\.[0-9]{1,6}\.copy\.zst(\.enc)?$/),
  /** Of the stored bytes. */
  sha256: Sha256,
  storedBytes: Bytes.max(PART_MOST_BYTES),
  plainBytes: Bytes.max(PART_MOST_BYTES),
});
export type BackupPart = z.output<typeof BackupPart>;

export const BackupTable = z.object({
  name: Name,
  columns: z.array(Name).min(1).max(1600),
  rows: Bytes,
  parts: z.array(BackupPart).max(100_000),
});
export type BackupTable = z.output<typeof BackupTable>;

export const BackupObject = z.object({
  bucket: z.string().regex(/^foyer-[a-z-]{1,40}$/),
  key: z
    .string()
    .min(1)
    .max(900)
    .refine((key) => key.split('/').every((part) => !['', '.', '..'].includes(part)) && !/[\0\\]/.test(key)),
  /** Of the uncompressed, unencrypted bytes. */
  sha256: Sha256,
  bytes: Bytes,
  contentType: z.string().max(200).optional(),
  metadata: z.record(z.string().max(100), z.string().max(2000)).optional(),
});
export type BackupObject = z.output<typeof BackupObject>;

/** How the key was derived from the passphrase. The bounds limit the cost of a hostile manifest. */
export const BackupEncryption = z.object({
  kdf: z.literal('argon2id'),
  salt: z.base64().max(100),
  memoryKiB: z.int().min(8).max(131_072),
  passes: z.int().min(1).max(10),
  lanes: z.int().min(1).max(4),
  fingerprint: z.string().regex(/^[0-9a-f]{8}$/),
});
export type BackupEncryption = z.output<typeof BackupEncryption>;

/** `backups/<id>/manifest.json`, written last: a backup without it does not exist. */
export const BackupManifest = z.object({
  format: z.literal(BACKUP_FORMAT),
  id: z.uuid(),
  serverId: z.uuid(),
  serverName: z.string().max(200),
  serverVersion: z.string().regex(/^[0-9A-Za-z.+-]{1,60}$/),
  /** Name of the newest applied migration. */
  schemaVersion: z.string().regex(/^[0-9]{14}_[a-z0-9_]{1,100}$/),
  startedAt: Moment,
  snapshotAt: Moment,
  finishedAt: Moment,
  objectsMode: z.enum(['kept', 'all']),
  encryption: BackupEncryption.nullable(),
  tables: z.array(BackupTable).max(2000),
  sequences: z.array(z.object({ name: Name, value: z.string().regex(/^-?[0-9]{1,20}$/) })).max(2000),
  objects: z.array(BackupObject),
});
export type BackupManifest = z.output<typeof BackupManifest>;

const digestOf = (manifest: object): string => createHash('sha256').update(JSON.stringify(manifest)).digest('hex');

/** The stored text: its last member is the SHA-256 of the JSON of the others, so that changes are detected. */
export const manifestText = (manifest: BackupManifest): Buffer =>
  Buffer.from(JSON.stringify({ ...manifest, digest: digestOf(manifest) }));

/** Whether the checksum of `manifestText` matches. */
export function isWhole(json: object): boolean {
  const { digest, ...manifest } = json as { digest?: unknown };
  return digest === digestOf(manifest);
}

export const manifestName = (id: string): string => `backups/${id}/manifest.json`;
export const partName = (id: string, part: Pick<BackupPart, 'name'>): string => `backups/${id}/${part.name}`;

/** Backups under one passphrase share their sealed objects; backups without one share the plain objects. */
export function objectName({ sha256 }: Pick<BackupObject, 'sha256'>, encryption: BackupEncryption | null): string {
  const end = encryption ? `.${encryption.fingerprint}.enc` : '';
  return `objects/${sha256.slice(0, 2)}/${sha256}${end}`;
}
