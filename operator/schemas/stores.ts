// Where a MediaServer keeps things: database, Redis, object store, media, backups.
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
      .describe('A database of your own: postgres://user:password@host:port/name.'),
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
      .describe('A Redis or Valkey of your own: redis://[user:password@]host:port.'),
    managed: z
      .strictObject({
        storage: redisStorage.describe('Size of the volume; absent keeps nothing over a restart.'),
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
      .describe('S3 of your own: a Secret with endpoint, accessKey, secretKey and maybe region.'),
    managed: z
      .strictObject(managedStore())
      .optional()
      .describe('MinIO run by this operator; a folder with `operator local`.'),
    bucketPrefix: z
      .string()
      .max(30)
      .regex(/^[a-z0-9-]*$/)
      .optional()
      .describe('Stands before the name of each bucket.'),
  }),
  ['secretRef', 'managed'],
);

export const Media = exactlyOne(
  z.strictObject({
    name: label().describe('Name that Library resources use.'),
    persistentVolumeClaim: persistentVolumeClaim().optional().describe('A claim.'),
    nfs: nfs().optional().describe('An NFS export.'),
    hostPath: hostPath().optional().describe('A path on the node.'),
    s3: bucket().optional().describe('A bucket; kept, and not served by this version, as MediaReady says.'),
    readOnly: z.boolean().default(true).describe('Nothing is ever written there.'),
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
  copyTo: BackupTarget.optional().describe('A second place.'),
  encryptionSecretRef: secretKeyRef('passphrase').optional().describe('Passphrase that seals backups.'),
});
