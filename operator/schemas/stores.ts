// Storage of a MediaServer: database, Redis, object store, media, backups.
import { z } from 'zod';
import {
  bucket,
  cron,
  hostPath,
  imageName,
  label,
  managedStore,
  nfs,
  persistentVolumeClaim,
  ref,
  secretKeyRef,
} from './core.ts';
import { exactlyOne, quantity } from './structural.ts';

export const Postgres = exactlyOne(
  z.strictObject({
    secretRef: secretKeyRef('uri')
      .optional()
      .describe('An external database: postgres://user:password@host:port/name.'),
    cloudNativePG: z
      .strictObject({
        instances: z.int().min(1).max(9).default(3).describe('Instances of the Cluster.'),
        storage: quantity().describe('Size of each volume.'),
        image: imageName().optional().describe("Image; default: CloudNativePG's own."),
      })
      .optional()
      .describe('A Cluster of CloudNativePG made for this server.'),
    managed: z
      .strictObject(managedStore())
      .optional()
      .describe('One pod run by this operator; embedded with `operator local`.'),
  }),
);

const { storage: redisStorage, image: redisImage } = managedStore();
export const Redis = exactlyOne(
  z.strictObject({
    secretRef: secretKeyRef('uri')
      .optional()
      .describe('An external Redis or Valkey: redis://[user:password@]host:port.'),
    managed: z
      .strictObject({
        storage: redisStorage.describe('Size of the volume; without it data is lost at a restart.'),
        image: redisImage,
      })
      .optional()
      .describe('One pod run by this operator; embedded with `operator local`.'),
  }),
);

export const Objects = exactlyOne(
  z.strictObject({
    secretRef: ref('Secret')
      .optional()
      .describe('External S3: a Secret with endpoint, accessKey, secretKey and optionally region.'),
    managed: z
      .strictObject(managedStore())
      .optional()
      .describe('MinIO run by this operator; a folder with `operator local`.'),
    bucketPrefix: z
      .string()
      .max(30)
      .regex(/^[a-z0-9-]*$/)
      .optional()
      .describe('Prefix of each bucket name.'),
  }),
  ['secretRef', 'managed'],
);

export const Media = exactlyOne(
  z.strictObject({
    name: label().describe('Name that Library resources use.'),
    persistentVolumeClaim: persistentVolumeClaim().optional().describe('A claim.'),
    nfs: nfs().optional().describe('An NFS export.'),
    hostPath: hostPath().optional().describe('A path on the node.'),
    s3: bucket().optional().describe('A bucket, which the server reads as a storage of this name; nothing is mounted.'),
    readOnly: z.boolean().default(true).describe('Mount it read-only.'),
  }),
  ['persistentVolumeClaim', 'nfs', 'hostPath', 's3'],
);

const BackupTarget = z.strictObject({ s3: bucket().describe('A bucket for backups.') });
const keep = (count: number, what: string) => z.int().min(0).max(1000).default(count).describe(`${what} kept.`);

export const Backup = z.strictObject({
  schedule: cron().default('30 3 * * *').describe("Five-field cron, in the server's time zone."),
  keep: z
    .strictObject({
      last: keep(3, 'Newest backups'),
      daily: keep(7, 'Daily backups'),
      weekly: keep(4, 'Weekly backups'),
      monthly: keep(6, 'Monthly backups'),
    })
    .prefault({})
    .describe('How many are kept.'),
  destination: BackupTarget.describe('Where backups go.'),
  copyTo: BackupTarget.optional().describe('A second destination.'),
  encryptionSecretRef: secretKeyRef('passphrase').optional().describe('Passphrase that encrypts backups.'),
});
