// The API: Deployment, Service, PodDisruptionBudget and HorizontalPodAutoscaler.
import type { Manifest, Probe, TopologySpreadConstraint } from '../../runtime/manifest.ts';
import type { Server } from '../server.ts';
import type { Context } from './context.ts';
import { API_PORT, METRICS_PORT, parserEnvironment } from './environment.ts';
import { mediaClaims } from './media.ts';
import { defined, metaOf, nameOf, selectorOf } from './meta.ts';
import { brandingParts, foyerPod, metricsPort, sized } from './pod.ts';

/** Time between the failing readiness check and the closing of the listener, in which endpoints are updated. */
const DRAIN_MS = 5000;
/** The drain, 20 s for running requests, and a margin. */
const GRACE_SECONDS = 40;

const part = { suffix: 'api', component: 'api' } as const;

const probe = (path: string, times: Probe): Probe => ({
  httpGet: { path: `/api/v1/server/${path}`, port: 'http' },
  timeoutSeconds: 5,
  ...times,
});

const probes = {
  startupProbe: probe('live', { periodSeconds: 2, failureThreshold: 60 }),
  livenessProbe: probe('live', { periodSeconds: 10, failureThreshold: 3 }),
  readinessProbe: probe('ready', { periodSeconds: 3, failureThreshold: 2 }),
};

function spread(server: Server): TopologySpreadConstraint[] {
  const given = server.spec.api.topologySpread ?? [
    { maxSkew: 1, topologyKey: 'kubernetes.io/hostname', whenUnsatisfiable: 'ScheduleAnyway' },
  ];
  return given.map((entry) => ({ ...entry, labelSelector: { matchLabels: selectorOf(server, 'api') } }));
}

export function apiDeployment(context: Context): Manifest<'Deployment'> {
  const { server } = context;
  const { api } = server.spec;
  const { env, ...branding } = brandingParts(server.spec);
  const template = foyerPod(context, {
    component: 'api',
    args: ['api/main.ts'],
    env: { FOYER_DRAIN_MS: String(DRAIN_MS), ...parserEnvironment(server), ...env },
    resources: api.resources ?? sized('100m', '256Mi', { cpu: '2', memory: '1Gi' }),
    ports: [{ name: 'http', containerPort: API_PORT, protocol: 'TCP' }, metricsPort],
    probes,
    ...branding,
    pod: { topologySpreadConstraints: spread(server) },
    grace: GRACE_SECONDS,
  });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: metaOf(server, part),
    spec: defined({
      replicas: api.autoscaling ? undefined : api.replicas, // set by the autoscaler
      revisionHistoryLimit: 3,
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      selector: { matchLabels: selectorOf(server, 'api') },
      template,
    }),
  };
}

/** The metrics port serves the operator and Prometheus; no Ingress exposes it. */
export const apiService = (server: Server): Manifest<'Service'> => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: metaOf(server, part),
  spec: {
    type: 'ClusterIP',
    selector: selectorOf(server, 'api'),
    ports: [
      { name: 'http', port: API_PORT, targetPort: 'http', protocol: 'TCP' },
      { name: 'metrics', port: METRICS_PORT, targetPort: 'metrics', protocol: 'TCP' },
    ],
  },
});

/** Omitted for a single pod, and for pods that can only move together: it would block every drain. */
export function apiDisruptionBudget({
  server,
  oneNode,
}: Pick<Context, 'server' | 'oneNode'>): Manifest<'PodDisruptionBudget'>[] {
  const { autoscaling, replicas, podDisruptionBudget } = server.spec.api;
  const several = (autoscaling?.min ?? replicas) > 1;
  const together = mediaClaims(server.spec).some((claim) => oneNode.has(claim));
  if (!(podDisruptionBudget ?? (several && !together))) return [];
  const budget: Manifest<'PodDisruptionBudget'> = {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metaOf(server, part),
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(server, 'api') } },
  };
  return [budget];
}

export function apiAutoscaler(server: Server): Manifest<'HorizontalPodAutoscaler'>[] {
  const { autoscaling } = server.spec.api;
  if (!autoscaling) return [];
  const cpu = { name: 'cpu', target: { type: 'Utilization', averageUtilization: autoscaling.targetCPU } };
  const autoscaler: Manifest<'HorizontalPodAutoscaler'> = {
    apiVersion: 'autoscaling/v2',
    kind: 'HorizontalPodAutoscaler',
    metadata: metaOf(server, part),
    spec: {
      scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: nameOf(server, 'api') },
      minReplicas: autoscaling.min,
      maxReplicas: autoscaling.max,
      metrics: [{ type: 'Resource', resource: cpu }],
    },
  };
  return [autoscaler];
}
