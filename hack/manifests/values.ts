// The options of an installation: the values of the Helm chart. Their defaults are the values of the kustomize base.
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { STORE_IMAGES } from '#operator/media-server/desired/images.ts';
import { cidr } from '#operator/schemas/core.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  version: string;
};
export const productVersion = version;

const image = (what: string, name: string) => z.string().min(1).default(name).describe(what);
const free = (what: string) => z.record(z.string(), z.unknown()).default({}).describe(what);
const texts = (what: string) => z.record(z.string(), z.string()).default({}).describe(what);
const list = (what: string) => z.array(z.record(z.string(), z.unknown())).default([]).describe(what);

export const Values = z.strictObject({
  clusterWide: z.boolean().default(false).describe('Watch all namespaces, not only that of the release.'),
  replicas: z.int().min(0).max(5).default(1).describe('Operator pods; one leads, the others are on standby.'),
  registry: z
    .string()
    .max(253)
    .default('')
    .describe(
      'Registry of `image`, such as registry.example/team. That image is not published yet: README explains how to build it.',
    ),
  image: image(
    'Image of the operator and, by default, of every component of a MediaServer; without its registry.',
    `foyer:${version}`,
  ),
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).default('IfNotPresent').describe('As in core/v1.'),
  imagePullSecrets: list('As in core/v1, for the operator.'),
  stores: z
    .strictObject({
      postgres: image('Managed Postgres.', STORE_IMAGES.postgres),
      redis: image('Managed Redis or Valkey.', STORE_IMAGES.redis),
      minio: image('Managed object store.', STORE_IMAGES.minio),
    })
    .prefault({})
    .describe('Images of managed stores, with their registries; any that are compatible with the official ones.'),
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).default('info').describe('What the operator logs.'),
  clusterNetworks: z
    .array(cidr())
    .default([])
    .describe(
      'Ranges of the pods and services of this cluster (kubectl cluster-info dump | grep -E "cluster-cidr|service-cluster-ip-range"), which servers do not call on behalf of users. If empty, they are blocked like all private ranges, which the setting webhooks.allowedNetworks opens.',
    ),
  resources: free('Requests and limits of the operator.').default({
    requests: { cpu: '50m', memory: '192Mi' },
    limits: { memory: '512Mi' },
  }),
  nodeSelector: texts('Labels that a node must have.'),
  tolerations: list('Tolerations of the operator.'),
  priorityClassName: z.string().default('').describe('Priority class of the operator.'),
  podAnnotations: texts('Annotations of the operator pods.'),
  crds: z
    .strictObject({
      install: z
        .boolean()
        .default(true)
        .describe('Install the three definitions with the release; they stay after its removal.'),
    })
    .prefault({})
    .describe('Custom resource definitions.'),
  namespace: z
    .strictObject({
      create: z
        .boolean()
        .default(false)
        .describe(
          'Create the namespace of the release with Pod Security `restricted`; otherwise use --create-namespace.',
        ),
    })
    .prefault({})
    .describe('Namespace.'),
});
export type Values = z.output<typeof Values>;
export const defaults: Values = Values.parse({});
