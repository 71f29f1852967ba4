// The objects of an installation. They are built once for kustomize, and once with Helm expressions as values for the chart.
import type { Container, EnvVar, Manifest, PodSpec, ResourceRequirements } from '#operator/runtime/manifest.ts';
import { leaseRules, rules } from './rules.ts';

export interface Choices {
  namespace: string;
  /** Arguments that select the namespaces of the operator; none selects all. */
  scope: readonly string[];
  version: string;
  image: string;
  imagePullPolicy: string;
  postgres: string;
  redis: string;
  minio: string;
  logLevel: string;
  /** CIDRs, separated by commas. */
  clusterNetworks: string;
  replicas: number;
  resources: ResourceRequirements;
  /** Further fields of the pod spec. */
  pod: Partial<PodSpec>;
  /** Annotations of the pods. */
  annotations: Record<string, string>;
}

const NAME = 'foyer-operator';
/**
 * Flags of Node: a small young generation that still holds the garbage of one pass, and a heap that grows late, because the
 * process is mostly idle.
 */
export const FLAGS: readonly string[] = ['--optimize-for-size', '--max-semi-space-size=4'];
export const PROGRAM: readonly string[] = [...FLAGS, 'operator/bundle/main.js', 'cluster', '--leader-elect'];
/** Kubernetes substitutes the namespace. */
export const OWN_NAMESPACE = '--namespace=$(FOYER_POD_NAMESPACE)';
const selector = { 'app.kubernetes.io/name': NAME };

const labels = ({ version }: Choices) => ({
  ...selector,
  'app.kubernetes.io/part-of': 'foyer',
  'app.kubernetes.io/version': version,
});
const meta = (choices: Choices, name = NAME) => ({ name, namespace: choices.namespace, labels: labels(choices) });
const subject = ({ namespace }: Choices) => [{ kind: 'ServiceAccount', name: NAME, namespace }];
const roleRef = (kind: 'Role' | 'ClusterRole', name = NAME) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name });
const RBAC = 'rbac.authorization.k8s.io/v1' as const;

export const namespaceOf = (choices: Choices): Manifest<'Namespace'> => ({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: {
    name: choices.namespace,
    labels: { ...labels(choices), 'pod-security.kubernetes.io/enforce': 'restricted' },
  },
});

/** Access to the operator's own namespace, which holds the Lease. */
function lease(choices: Choices): Manifest<'Role' | 'RoleBinding'>[] {
  const name = `${NAME}-lease`;
  return [
    { apiVersion: RBAC, kind: 'Role', metadata: meta(choices, name), rules: leaseRules },
    {
      apiVersion: RBAC,
      kind: 'RoleBinding',
      metadata: meta(choices, name),
      roleRef: roleRef('Role', name),
      subjects: subject(choices),
    },
  ];
}

/** The permissions in the operator's own namespace only. */
export const namespacedAccess = (choices: Choices): Manifest<'Role' | 'RoleBinding'>[] => [
  { apiVersion: RBAC, kind: 'Role', metadata: meta(choices), rules },
  {
    apiVersion: RBAC,
    kind: 'RoleBinding',
    metadata: meta(choices),
    roleRef: roleRef('Role'),
    subjects: subject(choices),
  },
];

/** The same permissions in all namespaces. */
export function clusterAccess(choices: Choices): Manifest<'ClusterRole' | 'ClusterRoleBinding'>[] {
  const metadata = { name: NAME, labels: labels(choices) };
  const [reference, subjects] = [roleRef('ClusterRole'), subject(choices)];
  return [
    { apiVersion: RBAC, kind: 'ClusterRole', metadata, rules },
    { apiVersion: RBAC, kind: 'ClusterRoleBinding', metadata, roleRef: reference, subjects },
  ];
}

function environment(choices: Choices): EnvVar[] {
  const plain = {
    FOYER_IMAGE: choices.image,
    FOYER_POSTGRES_IMAGE: choices.postgres,
    FOYER_REDIS_IMAGE: choices.redis,
    FOYER_MINIO_IMAGE: choices.minio,
    FOYER_LOG_LEVEL: choices.logLevel,
    FOYER_CLUSTER_NETWORKS: choices.clusterNetworks,
  };
  const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });
  return [
    field('FOYER_POD_NAMESPACE', 'metadata.namespace'),
    ...Object.entries(plain).map(([name, value]) => ({ name, value })),
  ];
}

function container(choices: Choices): Container {
  return {
    name: 'operator',
    image: choices.image,
    imagePullPolicy: choices.imagePullPolicy,
    args: [...PROGRAM, ...choices.scope],
    env: environment(choices),
    ports: [
      { name: 'metrics', containerPort: 8080 },
      { name: 'health', containerPort: 8081 },
    ],
    readinessProbe: { httpGet: { path: '/readyz', port: 'health' }, periodSeconds: 5 },
    livenessProbe: { httpGet: { path: '/healthz', port: 'health' }, initialDelaySeconds: 10, periodSeconds: 10 },
    resources: choices.resources,
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
    volumeMounts: [{ name: 'tmp', mountPath: '/tmp' }],
  };
}

function deployment(choices: Choices): Manifest<'Deployment'> {
  const metadata = { labels: labels(choices), annotations: choices.annotations };
  const securityContext = {
    runAsNonRoot: true,
    runAsUser: 1000,
    runAsGroup: 1000,
    seccompProfile: { type: 'RuntimeDefault' },
  };
  const spec: PodSpec = {
    serviceAccountName: NAME,
    terminationGracePeriodSeconds: 15,
    securityContext,
    ...choices.pod,
    containers: [container(choices)],
    volumes: [{ name: 'tmp', emptyDir: { sizeLimit: '64Mi' } }],
  };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: meta(choices),
    spec: { replicas: choices.replicas, selector: { matchLabels: selector }, template: { metadata, spec } },
  };
}

/** All objects except the namespace, the definitions and the permissions. */
export function operatorObjects(choices: Choices): Manifest[] {
  const ports = [{ name: 'metrics', port: 8080, targetPort: 'metrics' }];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: meta(choices) },
    ...lease(choices),
    { apiVersion: 'v1', kind: 'Service', metadata: meta(choices), spec: { selector, ports } },
    deployment(choices),
  ];
}
