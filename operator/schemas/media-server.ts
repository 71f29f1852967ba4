import { z } from 'zod';
import { Conditions } from './conditions.ts';
import { accelerator, cidrs, imageName, label, objectName, ref, resources, secretKeyRef, url } from './core.ts';
import { Plugins } from './plugins.ts';
import { Settings } from './settings.ts';
import { Backup, Media, Objects, Postgres, Redis } from './stores.ts';
import { atMostOne, exactlyOne, type Kind, listMap, namedWithin, setOf, withRules } from './structural.ts';
import { Subtitles, SubtitlesStatus } from './subtitles.ts';

/** Longest name for which the names of all children are valid. */
export const NAME_MAX = 40;
const REGISTRY = /^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?(\/[a-z0-9._-]+)*$/;
/** The last part has no colon; an earlier colon separates a port. */
const UNTAGGED = /^[^\s@]*\/[^\s@:/]+$|^[^\s@:/]+$/;

const replicas = (count: number) => z.int().min(0).max(100).default(count);

const Api = z.strictObject({
  replicas: replicas(2).describe(
    'API pods (processes with `operator local`); the scale subresource. Unused while autoscaling is set.',
  ),
  autoscaling: withRules(
    z.strictObject({
      min: z.int().min(1).max(100).default(2).describe('Minimum pods.'),
      max: z.int().min(1).max(100).default(6).describe('Maximum pods.'),
      targetCPU: z
        .int()
        .min(10)
        .max(100)
        .default(70)
        .describe('Target average utilization of the requested CPU, in percent.'),
    }),
    { rule: 'self.min <= self.max', message: 'min must not be above max', holds: (value) => value.min <= value.max },
  )
    .optional()
    .describe('A HorizontalPodAutoscaler instead of a fixed number.'),
  resources: resources(),
  topologySpread: z
    .array(
      z.strictObject({
        maxSkew: z.int().min(1).default(1).describe('Maximum difference between two topology domains.'),
        topologyKey: z.string().min(1).max(317).describe('Node label that defines the topology domains.'),
        whenUnsatisfiable: z
          .enum(['DoNotSchedule', 'ScheduleAnyway'])
          .default('ScheduleAnyway')
          .describe('What to do when it cannot be satisfied.'),
      }),
    )
    .max(8)
    .optional()
    .describe('Spread of the pods; default: over kubernetes.io/hostname where possible.'),
  podDisruptionBudget: z
    .boolean()
    .optional()
    .describe('Limit disruptions by drains. Default: enabled when replicas can run on several nodes.'),
});

const Ingress = z.strictObject({
  host: z
    .string()
    .min(1)
    .max(253)
    .describe('Host name of the server; its public address unless a setting declares another.'),
  className: objectName().optional().describe("Ingress class; default: the cluster's."),
  annotations: z.record(z.string().max(317), z.string().max(4096)).optional().describe('Annotations of the Ingress.'),
  tls: exactlyOne(
    z.strictObject({
      secretName: objectName().optional().describe('A Secret of type kubernetes.io/tls.'),
      issuerRef: z
        .strictObject({
          name: objectName().describe('Name of the issuer.'),
          kind: z
            .string()
            .max(63)
            .regex(/^[A-Z][A-Za-z0-9]*$/)
            .default('Issuer')
            .describe('Issuer, ClusterIssuer, or the kind of another group.'),
          group: z.string().max(253).default('cert-manager.io').describe('Group of the issuer.'),
        })
        .optional()
        .describe('A cert-manager issuer.'),
    }),
  )
    .optional()
    .describe('TLS; exactly one of secretName, issuerRef.'),
});

const Gateway = z.strictObject({
  parentRefs: z
    .array(
      z.strictObject({
        name: objectName().describe('Name of the Gateway.'),
        namespace: label().optional().describe('Its namespace; default: this one.'),
        sectionName: z.string().max(253).optional().describe('One of its listeners.'),
        port: z.int().min(1).max(65_535).optional().describe('One of its ports.'),
      }),
    )
    .min(1)
    .max(16)
    .describe('Gateways that the HTTPRoute attaches to.'),
  hostnames: setOf(z.string().min(1).max(253), 16)
    .optional()
    .describe('Host names of the HTTPRoute; the first is the public address.'),
});

const Transcode = z.strictObject({
  accelerator: accelerator().optional().describe('A GPU for encoding; absent is the CPU.'),
  sessionsPerJob: z.int().min(1).max(32).default(3).describe('Sessions that one worker serves.'),
  warm: z.int().min(0).max(64).default(1).describe('Idle workers that are kept ready.'),
  max: z.int().min(0).max(64).default(4).describe('Maximum workers; beyond it playback returns STREAM_LIMIT_REACHED.'),
  fallbackToCPU: z.boolean().default(true).describe('Use the CPU when no accelerator is available for 10 s.'),
  idleSeconds: z
    .int()
    .min(10)
    .max(86_400)
    .default(300)
    .describe('Seconds without a session after which a worker beyond `warm` ends.'),
  resources: resources(),
  priorityClassName: objectName().optional().describe('Priority class of the pods.'),
});

const Plus = z.strictObject({
  verifierKeys: exactlyOne(
    z.strictObject({
      jwks: z.string().max(65_536).optional().describe('A JWK set of public keys, as JSON.'),
      configMapRef: ref('ConfigMap').optional().describe('A ConfigMap with the key jwks.json.'),
    }),
  )
    .optional()
    .describe('Public keys that enable licensing; without them all features are available.'),
  licenceSecretRef: secretKeyRef('licence').optional().describe('The licence.'),
});

const Network = z.strictObject({
  trustedProxies: cidrs().describe('Networks of proxies whose X-Forwarded headers count.'),
  allow: z
    .strictObject({
      webhooks: cidrs().describe('Networks that webhooks may call.'),
      imports: cidrs().describe('Networks that imports may call.'),
      plugins: cidrs().describe('Networks that plugins may call.'),
      live: cidrs().describe('Networks that tuners and guides may be in.'),
    })
    .prefault({})
    .describe("Networks of the cluster's own or otherwise refused that an area may call; nothing else opens them."),
});

const Pool = (count: number) =>
  z.strictObject({
    replicas: replicas(count).describe('Pods (processes with `operator local`).'),
    resources: resources(),
  });

export const MediaServerSpec = withRules(
  z.strictObject({
    version: z
      .string()
      .min(1)
      .max(64)
      .regex(/^[A-Za-z0-9][A-Za-z0-9._-]*$/)
      .optional()
      .describe("Image tag of every component; default: the operator's own version."),
    registry: z
      .string()
      .min(1)
      .max(253)
      .regex(REGISTRY, 'must be a host such as mirror.example:5000, and maybe a path')
      .optional()
      .describe('Registry of all components, for a mirror, such as mirror.example:5000/foyer.'),
    image: imageName()
      .regex(UNTAGGED, 'must have no tag and no digest: spec.version has the tag')
      .optional()
      .describe('Image of all components, without tag.'),
    imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).optional().describe('As in core/v1.'),
    imagePullSecrets: listMap('name', ref('Secret'), 16).optional().describe('As in core/v1.'),
    api: Api.prefault({}).describe('The API.'),
    workers: Pool(1).prefault({}).describe('Background jobs: scans, metadata, analyses, mail, webhooks.'),
    parser: Pool(1)
      .prefault({})
      .describe('The sandboxed pool that parses uploaded pictures; sandboxed child processes with `operator local`.'),
    ingress: Ingress.optional().describe('An Ingress.'),
    gateway: Gateway.optional().describe('An HTTPRoute of the Gateway API.'),
    postgres: Postgres.describe('The database; exactly one of secretRef, cloudNativePG, managed.'),
    redis: Redis.describe('Redis or Valkey; a loss of its data is harmless. Exactly one of secretRef, managed.'),
    objects: Objects.describe('The object store; exactly one of secretRef, managed.'),
    media: listMap('name', Media, 50)
      .default([])
      .describe('Storage of media; mounted into every API, worker and transcode pod.'),
    transcode: Transcode.prefault({}).describe('The pool of transcode workers.'),
    subtitles: Subtitles.optional().describe('The workers that make subtitles from speech; absent: none.'),
    metadata: z
      .strictObject({
        keysSecretRef: ref('Secret')
          .optional()
          .describe(
            'A Secret whose keys are names of catalogue keys, such as tmdb.apiKey; those are read-only through the API.',
          ),
      })
      .optional()
      .describe('Catalogues.'),
    settings: Settings.optional().describe('Server settings; declared ones are read-only through the API.'),
    declared: z
      .array(
        z.strictObject({
          configMapRef: ref('ConfigMap').describe(
            'themes.json, custom-fields.json, library-types.json, home.json, icons-<set>.zip.',
          ),
        }),
      )
      .max(20)
      .default([])
      .describe(
        'Bodies for the API, applied by the operator; this version serves themes.json, custom-fields.json and library-types.json (see DeclaredReady).',
      ),
    network: Network.prefault({}).describe('Networks.'),
    email: z
      .strictObject({ secretRef: ref('Secret').describe('host, port, security, username, password, from.') })
      .optional()
      .describe('Mail server; mail is sent once the setting email.enabled is on.'),
    oidc: z
      .strictObject({
        issuer: url().describe('Issuer; its discovery document is read.'),
        clientId: z.string().min(1).max(200).describe('Client id.'),
        clientSecretRef: secretKeyRef('clientSecret').describe('Client secret.'),
      })
      .optional()
      .describe('Sign-in through an OpenID provider.'),
    branding: z
      .strictObject({
        configMapRef: ref('ConfigMap').describe('showName, accent, signInMessage, footer, links, logo-*.'),
      })
      .optional()
      .describe('Names and logos.'),
    plugins: Plugins.prefault({}).describe('Plugins; stored, and not supported by this version (see PluginsReady).'),
    ownerSecretRef: ref('Secret')
      .optional()
      .describe('username and password of the first owner; absent: the setup wizard with the claim code.'),
    backup: Backup.optional().describe(
      'Backups; if absent, the settings of the app apply. With beforeUpgrade an upgrade waits for a backup.',
    ),
    plus: Plus.optional().describe('Licensing; without it all features are available.'),
    networkPolicy: z
      .strictObject({ enabled: z.boolean().default(true).describe('Whether they are created.') })
      .prefault({})
      .describe('NetworkPolicies.'),
    monitoring: z
      .strictObject({
        serviceMonitor: z.boolean().default(false).describe('A ServiceMonitor.'),
        prometheusRule: z.boolean().default(false).describe('A PrometheusRule.'),
        dashboard: z.boolean().default(false).describe('A ConfigMap with a Grafana dashboard.'),
      })
      .prefault({})
      .describe('Monitoring objects, created where their CRDs exist.'),
    suspend: z
      .boolean()
      .default(false)
      .describe('Stop reconciling. On a cluster the annotation foyer.media/reconcile: paused does so too.'),
  }),
  atMostOne('ingress', 'gateway'),
);
export type MediaServerSpec = z.output<typeof MediaServerSpec>;

/** Whether the condition PluginsReady applies. */
export const declaresPlugins = ({ allowed, install, trustedKeys }: MediaServerSpec['plugins']): boolean =>
  [allowed, install, trustedKeys].some((list) => list.length > 0);

const count = () => z.int().min(0).optional();
const time = () => z.iso.datetime().optional();
const words = () => z.string().max(1024).optional();

export const MediaServerStatus = z.object({
  observedGeneration: count().describe('The metadata.generation of this status.'),
  phase: words().describe('Summary for the printer column; programs read conditions.'),
  version: words().describe('Version that runs.'),
  upgradingTo: words().describe('Version that is being rolled out, from the backup before it until every pod has it.'),
  serverId: words().describe('Id of the server, from its key ring. A server with an id never gets another key ring.'),
  replacedSecrets: words().describe(
    'Entries of the annotation foyer.media/replace-secrets that were handled, until they are removed.',
  ),
  url: words().describe('Address of the server.'),
  apiReady: words().describe('Ready and desired API pods, such as 2/2.'),
  replicas: count().describe('API pods; the scale subresource.'),
  selector: words().describe('Selector of the API pods; the scale subresource.'),
  conditions: Conditions,
  transcode: z
    .object({
      jobs: count().describe('Workers.'),
      warm: count().describe('Idle workers that are kept ready.'),
      sessions: count().describe('Sessions that run.'),
      waiting: count().describe('Waiting sessions.'),
      accelerator: words().describe('Interface in use.'),
    })
    .optional()
    .describe('The transcode pool.'),
  subtitles: SubtitlesStatus,
  libraries: count().describe('Library resources of this server.'),
  tuners: count().describe('TunerDevice resources of this server.'),
  claim: z
    .object({
      secretName: words().describe('The Secret with the claim code.'),
      expiresAt: time().describe('When it expires.'),
    })
    .optional()
    .describe('The claim code; present until an owner exists.'),
  recovery: z
    .object({
      secretName: words().describe('The Secret with the reset token.'),
      expiresAt: time().describe('When it expires.'),
    })
    .optional()
    .describe('Result of the annotation foyer.media/owner-recovery.'),
  backup: z
    .object({
      lastCompletedAt: time().describe('When the last successful backup ended.'),
      state: words().describe('State of the last backup.'),
      message: words().optional().describe('Its error.'),
    })
    .optional()
    .describe('Backups, as spec.backup or the app sets them.'),
  plus: z
    .object({
      mode: words().describe('open, licensed, or why it is not licensed: none, lapsed or invalid.'),
      endsAt: time().describe('When the licence expires.'),
    })
    .optional()
    .describe('Licensing.'),
});
export type MediaServerStatus = z.output<typeof MediaServerStatus>;

export const mediaServer: Kind = {
  kind: 'MediaServer',
  plural: 'mediaservers',
  short: 'ms',
  description: 'A media-library server: its API, workers, stores, media and transcode pool.',
  rules: [namedWithin(NAME_MAX)],
  spec: MediaServerSpec,
  status: MediaServerStatus,
  columns: [
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Status', type: 'string', jsonPath: '.status.phase' },
    { name: 'Version', type: 'string', jsonPath: '.status.version' },
    { name: 'API', type: 'string', jsonPath: '.status.apiReady' },
    { name: 'Sessions', type: 'integer', jsonPath: '.status.transcode.sessions' },
    { name: 'URL', type: 'string', jsonPath: '.status.url' },
  ],
  scale: {
    specReplicasPath: '.spec.api.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
};
