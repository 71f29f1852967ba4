// Sub-objects in the format of core/v1, and fields that several kinds share.
import { z } from 'zod';

export { cron } from './cron.ts';

import { exactlyOne, immutable, QUANTITY, quantity, setOf, withRules } from './structural.ts';

const LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const UPWARD = /(^|\/)\.\.(\/|$)/;

export const label = () => z.string().min(1).max(63).regex(LABEL, 'must be lower-case letters, digits and dashes');
export const objectName = () =>
  z.string().min(1).max(253).regex(SUBDOMAIN, 'must be lower-case letters, digits, dashes and dots');
/** Valid IPv4 and IPv6 networks only: an invalid one would match nothing, without an error. */
const CIDR = new RegExp(`${z.regexes.cidrv4.source}|${z.regexes.cidrv6.source}`);
export const cidr = () => z.string().max(43).regex(CIDR, 'must be a network such as 10.244.0.0/16');
export const cidrs = () => setOf(cidr(), 50).default([]);
export const url = () =>
  z
    .string()
    .max(2048)
    .regex(/^https?:\/\/\S+$/);
export const language = () =>
  z
    .string()
    .max(35)
    .regex(/^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$/);
export const country = () => z.string().regex(/^[A-Z]{2}$/);
export const imageName = () => z.string().min(1).max(500);
export const labels = () => z.record(z.string().max(317), z.string().max(63));

/** A path without `..`. */
export const insidePath = () =>
  withRules(z.string().max(4096), {
    rule: "!self.matches('(^|/)[.][.](/|$)')", // splitting would exceed the cost limit of the API server
    message: 'must not contain ..',
    holds: (path) => !UPWARD.test(path),
  });

export const ref = (what: string) => z.strictObject({ name: objectName().describe(`Name of the ${what}.`) });

export const secretKeyRef = (key?: string) =>
  z.strictObject({
    name: objectName().describe('Name of the Secret.'),
    key: (key ? z.string().min(1).max(253).default(key) : z.string().min(1).max(253)).describe('Key in the Secret.'),
  });

export const serverRef = () =>
  immutable(z.strictObject({ name: objectName().describe('Name of the MediaServer.') })).describe(
    'The MediaServer of this namespace that this belongs to; cannot be changed.',
  );

const amounts = () =>
  z.record(
    z.string().max(63),
    z
      .union([z.int(), z.string().max(50).regex(QUANTITY, 'must be a quantity such as 10Gi')])
      .meta({ intOrString: true, pattern: QUANTITY.source }),
  );

export const resources = () =>
  z
    .strictObject({
      limits: amounts().optional().describe('Maximum resources of a container.'),
      requests: amounts().optional().describe('Guaranteed resources of a container.'),
    })
    .optional()
    .describe('Requests and limits, as in core/v1 ResourceRequirements without claims.');

export const tolerations = () =>
  z
    .array(
      z.strictObject({
        key: z.string().max(317).optional().describe('Key of the taint; absent matches all.'),
        operator: z.enum(['Exists', 'Equal']).optional().describe('How the value is compared.'),
        value: z.string().max(63).optional().describe('Value of the taint.'),
        effect: z.enum(['NoSchedule', 'PreferNoSchedule', 'NoExecute']).optional().describe('Effect of the taint.'),
        tolerationSeconds: z.int().min(0).optional().describe('How long a NoExecute taint is tolerated.'),
      }),
    )
    .max(50)
    .optional()
    .describe('Tolerations, as in core/v1.');

export const nodeSelector = () => labels().optional().describe('Labels a node must have, as in core/v1.');

export const persistentVolumeClaim = () =>
  z.strictObject({
    claimName: objectName().describe('Name of the PersistentVolumeClaim.'),
    subPath: insidePath().optional().describe('Folder inside the volume.'),
  });

export const nfs = () =>
  z.strictObject({
    server: z.string().min(1).max(253).describe('Host name or address of the NFS server.'),
    path: z.string().min(1).max(4096).describe('Exported path.'),
    readOnly: z.boolean().optional().describe('Mount it read-only.'),
  });

export const hostPath = () =>
  z.strictObject({
    path: z.string().min(1).max(4096).describe('Path on the node, or on this machine with `operator local`.'),
    type: z
      .enum(['', 'DirectoryOrCreate', 'Directory', 'FileOrCreate', 'File', 'Socket', 'CharDevice', 'BlockDevice'])
      .optional()
      .describe('Required type of the path, as in core/v1.'),
  });

const bucketFields = () => ({
  endpoint: url().describe('Address of the S3 server.'),
  region: z.string().max(63).optional().describe('Region; most servers take any.'),
  bucket: z.string().min(3).max(63).describe('Bucket.'),
  prefix: insidePath().optional().describe('Prefix of all keys.'),
  pathStyle: z.boolean().default(true).describe('Bucket in the path instead of the host name.'),
  secretRef: ref('Secret with accessKey and secretKey').describe('Secret with the keys accessKey and secretKey.'),
});
export const bucket = () => z.strictObject(bucketFields());

export const managedStore = () => ({
  storage: quantity().optional().describe('Size of the volume.'),
  storageClassName: objectName().optional().describe("Storage class; default: the cluster's."),
  image: imageName().optional().describe("Image; default: the operator's."),
});

export const accelerator = () =>
  z.strictObject({
    resourceName: z.string().min(1).max(317).describe('Extended resource, such as nvidia.com/gpu.'),
    count: z.int().min(1).max(16).default(1).describe('Number of devices per pod.'),
    kind: z.enum(['nvenc', 'qsv', 'vaapi']).describe('Interface that the encoder uses.'),
    runtimeClassName: objectName().optional().describe('Runtime class of the pods.'),
    supplementalGroups: setOf(z.int().min(1).max(2_147_483_647), 8)
      .optional()
      .describe("Groups of the pods that may use the device, such as the node's group render for qsv and vaapi."),
    nodeSelector: nodeSelector(),
    tolerations: tolerations(),
  });

export const modelVolume = () =>
  exactlyOne(
    z.strictObject({
      persistentVolumeClaim: persistentVolumeClaim().optional().describe('A claim.'),
      nfs: nfs().optional().describe('An NFS export.'),
      hostPath: hostPath().optional().describe('A path on the node.'),
    }),
  );
