import { z } from 'zod';
import { Conditions } from './conditions.ts';
import {
  accelerator,
  cidrs,
  imageName,
  label,
  language,
  modelVolume,
  objectName,
  ref,
  resources,
  secretKeyRef,
  url,
} from './core.ts';
import { Plugins } from './plugins.ts';
import { Settings } from './settings.ts';
import { Backup, Media, Objects, Postgres, Redis } from './stores.ts';
import { atMostOne, exactlyOne, type Kind, listMap, namedWithin, setOf, withRules } from './structural.ts';

/** Longest name for which the names of all parts are valid. */
export const NAME_MAX = 40;
const REGISTRY = /^[A-Za-z0-9][A-Za-z0-9.-]*(:[0-9]+)?(\/[a-z0-9._-]+)*$/;
/** The last part without a colon: one before is a port's. */
const UNTAGGED = /^[^\s@]*\/[^\s@:/]+$|^[^\s@:/]+$/;

const replicas = (count: number) => z.int().min(0).max(100).default(count);

const Api = z.strictObject({
  replicas: replicas(2).describe(
    'API pods (processes with `operator local`); the scale subresource. Unused while autoscaling is set.',
  ),
  autoscaling: withRules(
    z.strictObject({
      min: z.int().min(1).max(100).default(2).describe('Fewest pods.'),
      max: z.int().min(1).max(100).default(6).describe('Most pods.'),
      targetCPU: z
        .int()
        .min(10)
        .max(100)
        .default(70)
        .describe('Average use of the requested CPU aimed at, in percent.'),
    }),
    { rule: 'self.min <= self.max', message: 'min must not be above max', holds: (value) => value.min <= value.max },
  )
    .optional()
    .describe('A HorizontalPodAutoscaler instead of a fixed number.'),
  resources: resources(),
  topologySpread: z
    .array(
      z.strictObject({
        maxSkew: z.int().min(1).default(1).describe('Most by which two places may differ.'),
        topologyKey: z.string().min(1).max(317).describe('Label of nodes that makes a place.'),
        whenUnsatisfiable: z
          .enum(['DoNotSchedule', 'ScheduleAnyway'])
          .default('ScheduleAnyway')
          .describe('What to do when it cannot be kept.'),
      }),
    )
    .max(8)
    .optional()
    .describe('Spread of the pods; default: over kubernetes.io/hostname where possible.'),
  podDisruptionBudget: z
    .boolean()
    .optional()
    .describe('Keep pods through drains. On by default when replicas may run on several nodes.'),
});

const Ingress = z.strictObject({
  host: z
    .string()
    .min(1)
    .max(253)
    .describe('Host name of the server; its public address where no setting says another.'),
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
        sectionName: z.string().max(253).optional().describe('One listener of it.'),
        port: z.int().min(1).max(65_535).optional().describe('One port of it.'),
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
  warm: z.int().min(0).max(64).default(1).describe('Workers that wait ready.'),
  max: z.int().min(0).max(64).default(4).describe('Most workers; over it playing answers STREAM_LIMIT_REACHED.'),
  fallbackToCPU: z.boolean().default(true).describe('Use the CPU when no accelerator is to be had for 10 s.'),
  idleSeconds: z
    .int()
    .min(10)
    .max(86_400)
    .default(300)
    .describe('A worker beyond `warm` ends after so long without a session.'),
  resources: resources(),
  priorityClassName: objectName().optional().describe('Priority class of the pods.'),
});

const Subtitles = withRules(
  z.strictObject({
    model: z.string().min(1).max(100).default('base').describe('Speech model by name.'),
    language: language().optional().describe('Language assumed; default: heard.'),
    replicas: z.int().min(0).max(32).optional().describe('Speech workers; default: 1.'),
    scaleToZero: z.boolean().optional().describe('No worker while nothing waits.'),
    accelerator: accelerator().optional().describe('A GPU for the model; absent is the CPU.'),
    modelVolume: modelVolume().optional().describe('Where models lie; exactly one kind of volume.'),
  }),
  atMostOne('replicas', 'scaleToZero'),
);

const Plus = z.strictObject({
  verifierKeys: exactlyOne(
    z.strictObject({
      jwks: z.string().max(65_536).optional().describe('A JWK set of public keys, as JSON.'),
      configMapRef: ref('ConfigMap').optional().describe('A ConfigMap with the key jwks.json.'),
    }),
  )
    .optional()
    .describe('Public keys that switch licensing on; absent leaves everything open.'),
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
      .describe('The jailed pool that opens pictures of others; jailed children with `operator local`.'),
    ingress: Ingress.optional().describe('An Ingress.'),
    gateway: Gateway.optional().describe('An HTTPRoute of the Gateway API.'),
    postgres: Postgres.describe('The database; exactly one of secretRef, cloudNativePG, managed.'),
    redis: Redis.describe(
      'Redis or Valkey; losing its data loses nothing that matters. Exactly one of secretRef, managed.',
    ),
    objects: Objects.describe('The object store; exactly one of secretRef, managed.'),
    media: listMap('name', Media, 50)
      .default([])
      .describe('Where media lies; mounted into every API, worker and transcode pod.'),
    transcode: Transcode.prefault({}).describe('The pool of transcode workers.'),
    subtitles: Subtitles.optional().describe(
      'The speech model that makes subtitles; this version loads none, as SubtitlesReady says.',
    ),
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
      .describe('Bodies of the API applied by the operator; themes.json is served, the others wait (DeclaredReady).'),
    network: Network.prefault({}).describe('Networks.'),
    email: z
      .strictObject({ secretRef: ref('Secret').describe('host, port, security, username, password, from.') })
      .optional()
      .describe('Mail server; mail goes out once the setting email.enabled is on.'),
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
    plugins: Plugins.prefault({}).describe('Plugins; kept, and not served by this version, as PluginsReady says.'),
    ownerSecretRef: ref('Secret')
      .optional()
      .describe('username and password of the first owner; absent: the setup wizard with the claim code.'),
    backup: Backup.optional().describe(
      'Backups; where absent, as the app sets them. An upgrade waits for one where beforeUpgrade is set.',
    ),
    plus: Plus.optional().describe('Licensing; absent: everything open.'),
    networkPolicy: z
      .strictObject({ enabled: z.boolean().default(true).describe('Whether they are made.') })
      .prefault({})
      .describe('NetworkPolicies.'),
    monitoring: z
      .strictObject({
        serviceMonitor: z.boolean().default(false).describe('A ServiceMonitor.'),
        prometheusRule: z.boolean().default(false).describe('A PrometheusRule.'),
        dashboard: z.boolean().default(false).describe('A ConfigMap with a Grafana dashboard.'),
      })
      .prefault({})
      .describe('Monitoring objects, made where their CRDs exist.'),
    suspend: z
      .boolean()
      .default(false)
      .describe('Stop reconciling. On a cluster the annotation foyer.media/reconcile: paused does so too.'),
  }),
  atMostOne('ingress', 'gateway'),
);
export type MediaServerSpec = z.output<typeof MediaServerSpec>;

/** Whether there is anything for PluginsReady to say. */
export const asksForPlugins = ({ allowed, install, trustedKeys }: MediaServerSpec['plugins']): boolean =>
  [allowed, install, trustedKeys].some((list) => list.length > 0);

const count = () => z.int().min(0).optional();
const time = () => z.iso.datetime().optional();
const words = () => z.string().max(1024).optional();

export const MediaServerStatus = z.object({
  observedGeneration: count().describe('The metadata.generation that this status is about.'),
  phase: words().describe('What it does, and why, in words. For the printer column only; programs read conditions.'),
  version: words().describe('Version that runs.'),
  upgradingTo: words().describe('Version that is being rolled out, from the backup before it until every pod has it.'),
  serverId: words().describe('Id of the server, of its key ring. A server that has one is not given another key ring.'),
  replacedSecrets: words().describe(
    'Words of the annotation foyer.media/replace-secrets that were answered, until it is removed.',
  ),
  url: words().describe('Address of the server.'),
  apiReady: words().describe('Ready and wanted API pods, such as 2/2.'),
  replicas: count().describe('API pods; the scale subresource.'),
  selector: words().describe('Selector of the API pods; the scale subresource.'),
  conditions: Conditions,
  transcode: z
    .object({
      jobs: count().describe('Workers.'),
      warm: count().describe('Workers that wait ready.'),
      sessions: count().describe('Sessions that run.'),
      waiting: count().describe('Sessions that wait.'),
      accelerator: words().describe('Interface in use.'),
    })
    .optional()
    .describe('The transcode pool.'),
  libraries: count().describe('Library resources of this server.'),
  tuners: count().describe('TunerDevice resources of this server.'),
  claim: z
    .object({
      secretName: words().describe('The Secret with the claim code.'),
      expiresAt: time().describe('When it ends.'),
    })
    .optional()
    .describe('Until an owner exists.'),
  recovery: z
    .object({
      secretName: words().describe('The Secret with the reset token.'),
      expiresAt: time().describe('When it ends.'),
    })
    .optional()
    .describe('Answer to the annotation foyer.media/owner-recovery.'),
  backup: z
    .object({
      lastCompletedAt: time().describe('When the last good backup ended.'),
      state: words().describe('State of the last backup.'),
      message: words().optional().describe('Its fault.'),
    })
    .optional()
    .describe('Backups, as spec.backup or the app sets them.'),
  plus: z
    .object({
      mode: words().describe('open, licensed, or why nothing is open: none, lapsed or invalid.'),
      endsAt: time().describe('When the licence ends.'),
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
